import { brandProperties } from "@assay/ui/brand";
import type { Hex } from "@assay/ui/colours";
import { Icon } from "@assay/ui/icon";
import { type ReactNode, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { type Language, languages, useWords } from "../i18n/language.ts";
import type { Details } from "../session/api.ts";
import { msUntil, type ServiceClock } from "../session/clock.ts";
import { OfflineNotice } from "./connection.tsx";
import { Logo, OwnSign } from "./logo.tsx";
import { AnnounceContext, useAnnounce } from "./screen.tsx";

/**
 * The frame of every screen: who asks, the language,
 * the steps, the time, and a live region for screen readers.
 */
export type StepNames = Readonly<Record<string, string>>;

export function Layout({
  ready,
  details,
  logo = null,
  tellsOffline = true,
  steps,
  step,
  stepNames = {},
  deadline,
  onLanguage,
  actions,
  children,
}: {
  /** Something is shown. Until then the footer is hidden, because it would jump when the page grows. */
  ready: boolean;
  details: Details | null;
  /** Another place of the logo than the service's own. */
  logo?: string | null;
  tellsOffline?: boolean;
  /** All steps, by name, and the one whose turn it is. */
  steps: readonly string[];
  step: string | null;
  /** The names of steps that only a part of the page knows. */
  stepNames?: StepNames;
  deadline: { clock: ServiceClock; expiresAt: string } | null;
  onLanguage: (language: Language) => void;
  actions?: ReactNode;
  children: ReactNode;
}) {
  const { t } = useWords();
  usePaint(details?.organization.brand_color ?? null);
  const [spoken, setSpoken] = useState("");
  const announce = useCallback((text: string) => {
    setSpoken("");
    // A repeated text is spoken again only if the region was empty in between.
    setTimeout(() => setSpoken(text), 50);
  }, []);
  return (
    <AnnounceContext value={announce}>
      <a
        href="#content"
        className="sr-only rounded bg-card px-4 py-2 focus:not-sr-only focus:absolute focus:start-4 focus:top-2 focus:z-10 focus:px-4 focus:py-2"
      >
        {t.skipToContent}
      </a>
      <div className="flex min-h-dvh flex-col">
        <header>
          <div className="border-b border-line bg-card">
            <div className="h-1 bg-fill" />
            <div className="mx-auto flex page-width items-center gap-3 px-4 py-2.5 sm:px-6">
              {details === null ? <OwnSign /> : <Logo key={logo} details={details} src={logo} />}
              <div className="min-w-0 flex-1 leading-tight">
                <p className="line-clamp-2 font-semibold">
                  {details === null ? "Assay" : <bdi>{details.organization.name}</bdi>}
                </p>
                {details !== null && <p className="text-small text-muted">{t.byAssay}</p>}
              </div>
              <LanguageChoice onLanguage={onLanguage} />
            </div>
          </div>
          <div className="mx-auto page-width px-4 sm:px-6">
            {details?.sandbox && (
              <p className="mt-3 rounded-control bg-soft px-3 py-2 text-small text-muted">
                <strong className="font-semibold text-ink">{t.sandboxBadge}.</strong> {t.sandboxNote}
              </p>
            )}
            {step !== null && <Steps steps={steps} current={step} names={stepNames} />}
          </div>
        </header>
        {/* The content above appears only now. A new element is no layout shift; a moved one would be. */}
        <main
          key={ready ? "page" : "loading"}
          id="content"
          tabIndex={-1}
          className="mx-auto w-full page-width flex-1 px-4 pt-5 pb-8 outline-none sm:px-6 sm:pt-8"
        >
          {tellsOffline && <OfflineNotice />}
          {children}
        </main>
        {ready && (
          <footer className="mx-auto w-full page-width px-4 text-small text-muted sm:px-6">
            <div className="space-y-2 border-t border-line py-4">
              <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-1">
                {deadline !== null && <TimeLeft {...deadline} />}
                {actions}
              </div>
              <p className="flex items-center gap-2">
                <Icon name="lock" className="size-4" />
                {t.footerRun}
              </p>
            </div>
          </footer>
        )}
      </div>
      <div role="status" aria-live="polite" className="sr-only">
        {spoken}
      </div>
    </AnnounceContext>
  );
}

/** Paints the page in the colour of who asks, before the browser does. */
function usePaint(brand: string | null): void {
  useLayoutEffect(() => {
    if (brand === null) return;
    // The policy of the page allows no style in its markup; this is none.
    const { style } = document.documentElement;
    const properties = brandProperties(brand as Hex);
    for (const [name, value] of properties) style.setProperty(name, value);
    return () => {
      for (const [name] of properties) style.removeProperty(name);
    };
  }, [brand]);
}

function LanguageChoice({ onLanguage }: { onLanguage: (language: Language) => void }) {
  const { t, language } = useWords();
  return (
    <label className="relative flex items-center text-small">
      <span className="sr-only">{t.language}</span>
      <select
        value={language}
        onChange={(event) => onLanguage(event.target.value as Language)}
        className="min-h-10 w-26 appearance-none rounded-control border border-field bg-card ps-3 pe-7 font-['Inter_Latin',system-ui,sans-serif] text-ink text-ellipsis"
      >
        {Object.entries(languages).map(([code, name]) => (
          <option key={code} value={code} lang={code}>
            {name}
          </option>
        ))}
      </select>
      <Icon name="chevron" className="pointer-events-none absolute end-2 size-4 text-muted" />
    </label>
  );
}

function Steps({
  steps,
  current: step,
  names: ofPart,
}: {
  steps: readonly string[];
  current: string;
  names: StepNames;
}) {
  const { t } = useWords();
  const names: Readonly<Record<string, string>> = {
    consent: t.stepAgree,
    chip: t.stepRead,
    face: t.stepFace,
    ...ofPart,
    done: t.stepDone,
  };
  const current = steps.indexOf(step);
  return (
    <ol aria-label={t.stepsLabel} className="mt-3 grid auto-cols-fr grid-flow-col gap-1.5">
      {steps.map((each, index) => (
        <li
          key={each}
          aria-current={index === current ? "step" : undefined}
          className={`text-small ${index === current ? "font-semibold text-ink" : "text-muted"}`}
        >
          <span
            aria-hidden="true"
            className={`bar mb-1 block h-1 rounded-full ${index <= current ? "is-filled bg-accent" : "bg-line"}`}
          />
          {/* On a narrow screen only the current step has room for its name; the last is right-aligned. */}
          <span
            className={
              index === current
                ? `whitespace-nowrap sm:whitespace-normal ${index === steps.length - 1 ? "max-sm:flex max-sm:justify-end" : ""}`
                : "max-sm:sr-only"
            }
          >
            {names[each]}
          </span>
          {index < current && <span className="sr-only"> ({t.stepDoneState})</span>}
        </li>
      ))}
    </ol>
  );
}

const shownMinutes = 10;
const announcedMinutes: readonly number[] = [10, 5, 2];

function TimeLeft({ clock, expiresAt }: { clock: ServiceClock; expiresAt: string }) {
  const { t } = useWords();
  const announce = useAnnounce();
  const [minutes, setMinutes] = useState(() => Math.ceil(msUntil(clock, expiresAt) / 60_000));
  const announced = useRef(minutes);
  useEffect(() => {
    const tick = () => setMinutes(Math.ceil(msUntil(clock, expiresAt) / 60_000));
    tick();
    const timer = setInterval(tick, 5_000);
    return () => clearInterval(timer);
  }, [clock, expiresAt]);
  useEffect(() => {
    if (minutes < announced.current && announcedMinutes.includes(minutes))
      announce(`${t.timeLeftLabel} ${t.minutesLeft(minutes)}`);
    announced.current = minutes;
  }, [minutes, announce, t]);
  // An hour is enough for everybody; a visible clock from the start would only cause pressure.
  if (minutes <= 0 || minutes > shownMinutes) return null;
  return (
    <p>
      {t.timeLeftLabel} {minutes <= 1 ? t.lessThanAMinute : t.minutesLeft(minutes)}
    </p>
  );
}
