import { createContext, type ReactNode, useContext, useEffect, useRef } from "react";
import { useWords } from "../i18n/language.ts";

/** Says something to people who do not see the change. */
export const AnnounceContext = createContext<(text: string) => void>(() => {});

export function useAnnounce(): (text: string) => void {
  return useContext(AnnounceContext);
}

let firstScreen = true;

/** One step of the way: its heading gets the focus when it appears, except on the very first page. */
export function Screen({
  title,
  lead,
  children,
  look = "plain",
}: {
  title: string;
  lead?: string;
  children?: ReactNode;
  look?: "plain" | "good" | "bad" | "neutral";
}) {
  const { t } = useWords();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = title === t.pageTitle ? title : `${title} – ${t.pageTitle}`;
  }, [title, t]);
  useEffect(() => {
    if (firstScreen) {
      firstScreen = false;
      return;
    }
    window.scrollTo(0, 0);
    heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <div className="space-y-6">
      <div className="space-y-3">
        {look !== "plain" && <OutcomeMark look={look} />}
        <h1 ref={heading} tabIndex={-1} className="text-2xl font-bold tracking-tight sm:text-3xl">
          {title}
        </h1>
        {lead !== undefined && <p className="text-lg text-muted">{lead}</p>}
      </div>
      {children}
    </div>
  );
}

function OutcomeMark({ look }: { look: "good" | "bad" | "neutral" }) {
  const shapes = {
    good: "M9 17l5 5 10-12",
    bad: "M10 10l12 12M22 10L10 22",
    neutral: "M16 10v.1M16 15v8",
  } as const;
  const colours = {
    good: "text-good bg-good-soft",
    bad: "text-bad bg-bad-soft",
    neutral: "text-muted bg-soft",
  } as const;
  return (
    <svg
      aria-hidden="true"
      viewBox="0 0 32 32"
      className={`size-14 rounded-full ${colours[look]}`}
      fill="none"
      stroke="currentColor"
      strokeWidth="2.5"
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <path d={shapes[look]} />
    </svg>
  );
}

export function Card({ title, children }: { title?: string; children: ReactNode }) {
  return (
    <section className="space-y-4 rounded-2xl border border-line bg-card p-5 sm:p-6">
      {title !== undefined && <h2 className="text-xl font-semibold">{title}</h2>}
      {children}
    </section>
  );
}
