import { Icon } from "@assay/ui/icon";
import type { IconName } from "@assay/ui/icons";
import { createContext, type ReactNode, useContext, useLayoutEffect, useRef, useState } from "react";
import { useWords } from "../i18n/language.ts";

/** Says something to people who do not see the change. */
export const AnnounceContext = createContext<(text: string) => void>(() => {});

export function useAnnounce(): (text: string) => void {
  return useContext(AnnounceContext);
}

let firstScreen = true;

/** One step of the way: its heading gets the focus when it appears, except on the first page. */
export function Screen({
  title,
  lead,
  children,
  icon,
  picture,
}: {
  title: string;
  lead?: string;
  children?: ReactNode;
  /** For an informative screen: its subject, in a quiet tone. */
  icon?: IconName;
  /** For a step: what to do, drawn. */
  picture?: ReactNode;
}) {
  const { t } = useWords();
  const heading = useRef<HTMLHeadingElement>(null);
  // The first screen does not animate.
  const [arrives] = useState(!firstScreen);
  // Before the paint: a screen reader names the window and the focus as soon as the heading is there.
  useLayoutEffect(() => {
    document.title = title === t.pageTitle ? title : `${title} – ${t.pageTitle}`;
  }, [title, t]);
  useLayoutEffect(() => {
    if (firstScreen) {
      firstScreen = false;
      return;
    }
    window.scrollTo(0, 0);
    heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <div className={`space-y-5 ${arrives ? "arrives" : ""}`}>
      {picture}
      <div className="space-y-2">
        {icon !== undefined && (
          <span className="mb-4 grid size-14 place-items-center rounded-full border border-line bg-soft text-muted">
            <Icon name={icon} className="size-7" />
          </span>
        )}
        <h1 ref={heading} tabIndex={-1} className="text-title font-bold tracking-tight">
          {title}
        </h1>
        {lead !== undefined && <p className="text-muted sm:text-lead">{lead}</p>}
      </div>
      {children}
    </div>
  );
}

export function Card({ title, children }: { title?: string; children: ReactNode }) {
  return (
    <section className="space-y-3 rounded-card border border-line bg-card p-4 sm:p-5">
      {title !== undefined && <h2 className="text-part font-semibold">{title}</h2>}
      {children}
    </section>
  );
}

/** Points with a sign before each, where order does not matter. */
export function Points({ points }: { points: readonly (readonly [icon: IconName, text: ReactNode])[] }) {
  return (
    <ul className="space-y-3">
      {points.map(([icon, text], index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the list of a screen does not change.
        <li key={index} className="flex items-start gap-3">
          <Icon name={icon} className="mt-0.5 size-5 text-accent" />
          <span className="min-w-0 flex-1">{text}</span>
        </li>
      ))}
    </ul>
  );
}
