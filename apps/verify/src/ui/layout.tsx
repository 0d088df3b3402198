import { type ReactNode, useCallback, useEffect, useRef, useState } from "react";
import { type Language, languages, useWords } from "../i18n/language.ts";
import { msUntil, type ServiceClock } from "../session/clock.ts";
import { OfflineNotice } from "./connection.tsx";
import { AnnounceContext, useAnnounce } from "./screen.tsx";

/** What surrounds every screen: language, test badge, the steps, the time, and a voice for screen readers. */
export function Layout({
  ready,
  sandbox,
  step,
  deadline,
  onLanguage,
  actions,
  children,
}: {
  /** Something is shown. Until then there is no end of the page either, which would jump when the page grows. */
  ready: boolean;
  sandbox: boolean;
  step: number | null;
  deadline: { clock: ServiceClock; expiresAt: string } | null;
  onLanguage: (language: Language) => void;
  actions?: ReactNode;
  children: ReactNode;
}) {
  const { t, language } = useWords();
  const [spoken, setSpoken] = useState("");
  const announce = useCallback((text: string) => {
    setSpoken("");
    // The same words twice are only spoken twice when the region was empty in between.
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
      <div className="mx-auto flex min-h-dvh max-w-2xl flex-col px-4 sm:px-6">
        <header className="flex flex-wrap items-center justify-between gap-3 py-4">
          <p className="flex items-center gap-2 font-semibold">
            <svg aria-hidden="true" viewBox="0 0 32 32" className="size-7">
              <rect width="32" height="32" rx="8" fill="#1f4d3a" />
              <path
                d="M9 22.5 16 8l7 14.5M12 17.5h8"
                fill="none"
                stroke="#f3e9c9"
                strokeWidth="2.6"
                strokeLinecap="round"
                strokeLinejoin="round"
              />
            </svg>
            Assay
          </p>
          <label className="flex items-center gap-2 text-sm">
            <span className="sr-only">{t.language}</span>
            <select
              value={language}
              onChange={(event) => onLanguage(event.target.value as Language)}
              className="min-h-9 rounded-lg border border-field bg-card px-2 text-ink"
            >
              {Object.entries(languages).map(([code, name]) => (
                <option key={code} value={code} lang={code}>
                  {name}
                </option>
              ))}
            </select>
          </label>
        </header>
        {sandbox && (
          <p className="mb-4 rounded-lg border border-warn bg-warn-soft px-3 py-2 text-sm">
            <strong className="font-semibold text-warn">{t.sandboxBadge}.</strong> {t.sandboxNote}
          </p>
        )}
        {step !== null && <Steps current={step} />}
        {/* What stands above comes only now. Another element in its place does not jump; the same one, pushed down, would. */}
        <main
          key={ready ? "page" : "loading"}
          id="content"
          tabIndex={-1}
          className="flex-1 pb-8 pt-2 outline-none"
        >
          <OfflineNotice />
          {children}
        </main>
        {ready && (
          <footer className="space-y-2 border-t border-line py-5 text-sm text-muted">
            <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-1">
              {deadline !== null && <TimeLeft {...deadline} />}
              {actions}
            </div>
            <p>{t.footerRun}</p>
          </footer>
        )}
      </div>
      <div role="status" aria-live="polite" className="sr-only">
        {spoken}
      </div>
    </AnnounceContext>
  );
}

function Steps({ current }: { current: number }) {
  const { t } = useWords();
  const names = [t.stepAgree, t.stepRead, t.stepFace, t.stepDone];
  return (
    <ol aria-label={t.stepsLabel} className="mb-6 grid grid-cols-4 gap-2">
      {names.map((name, index) => (
        <li
          key={name}
          aria-current={index === current ? "step" : undefined}
          className={`border-t-4 pt-2 text-sm ${
            index < current
              ? "border-accent text-muted"
              : index === current
                ? "border-accent font-semibold text-ink"
                : "border-line text-muted"
          }`}
        >
          {/* On a narrow screen only the step whose turn it is has room for its name. */}
          <span className={index === current ? "whitespace-nowrap sm:whitespace-normal" : "max-sm:sr-only"}>
            {name}
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
  const told = useRef(minutes);
  useEffect(() => {
    const tick = () => setMinutes(Math.ceil(msUntil(clock, expiresAt) / 60_000));
    tick();
    const timer = setInterval(tick, 5_000);
    return () => clearInterval(timer);
  }, [clock, expiresAt]);
  useEffect(() => {
    if (minutes < told.current && announcedMinutes.includes(minutes))
      announce(`${t.timeLeftLabel} ${t.minutesLeft(minutes)}`);
    told.current = minutes;
  }, [minutes, announce, t]);
  // An hour is time enough for everybody; a clock that runs from the first second only presses.
  if (minutes <= 0 || minutes > shownMinutes) return null;
  return (
    <p>
      {t.timeLeftLabel} {minutes <= 1 ? t.lessThanAMinute : t.minutesLeft(minutes)}
    </p>
  );
}
