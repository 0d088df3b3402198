import { type RefObject, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { displayContext, isStorageRefused } from "../device/display-context.ts";
import { watchSight } from "../session/consent-sight.ts";
import { hasEnded } from "../session/follow-status.ts";
import type { Session } from "../session/use-session.ts";
import { hasScript, report, startReporting, watchScript } from "./partner-page.ts";

/** Tells the partner's page around this one how it goes, and how high this page would like to be. */
export function usePartnerPage({ api, details, status }: Session, step: string | null): void {
  const origin = displayContext() === "frame" ? (details?.embed_origin ?? null) : null;
  useEffect(() => (origin === null ? undefined : startReporting(origin, api.sessionId)), [origin, api]);
  const inStatus = status?.status;
  useEffect(() => {
    if (origin !== null && inStatus !== undefined) report({ type: "state", status: inStatus, step });
  }, [origin, inStatus, step]);
  useEffect(() => {
    const root = document.getElementById("root");
    if (origin === null || root === null) return;
    const observer = new ResizeObserver(() =>
      report({ type: "height", height: Math.ceil(root.getBoundingClientRect().height) }),
    );
    observer.observe(root);
    return () => observer.disconnect();
  }, [origin]);
}

export function useHasScript(): boolean {
  return useSyncExternalStore(watchScript, hasScript);
}

/**
 * For the consent form: watches the area of its button while it is shown. Not the button itself, which turns
 * slightly transparent under the pointer and so counts as invisible when pressed.
 */
export function useConsentSight(): RefObject<HTMLFormElement | null> {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => watchSight(form.current?.querySelector("[type=submit]")?.parentElement ?? null));
  useEffect(() => () => watchSight(null), []);
  return form;
}

/**
 * This page was reloaded in a frame without storage, so it has lost its tokens. A person who agreed on
 * another device or in a tab has them there.
 */
export function useHasForgotten({ status, kept }: Session): boolean {
  const [agreedBefore, setAgreedBefore] = useState<boolean | null>(null);
  const agreed = status?.consent_given;
  useEffect(() => {
    if (agreed !== undefined) setAgreedBefore((known) => known ?? agreed);
  }, [agreed]);
  return (
    displayContext() === "frame" &&
    agreedBefore === true &&
    status !== null &&
    !hasEnded(status) &&
    kept.cancelToken === null &&
    isStorageRefused()
  );
}
