import { Component, lazy, type ReactNode, Suspense, useEffect, useRef, useState } from "react";
import { t } from "../i18n/words.ts";
import { Disclosure } from "../ui/disclosure.tsx";
import type { PlotProps } from "./plot.tsx";

const Plot = lazy(async () => {
  replaceUnusableLanguage();
  return { default: (await import("./plot.tsx")).Plot };
});

/** uPlot passes `navigator.language` to Intl on load. Intl throws on tags such as `en-US@posix` and `C`. */
function replaceUnusableLanguage(): void {
  try {
    Intl.getCanonicalLocales(navigator.language);
  } catch {
    Object.defineProperty(navigator, "language", { value: "en-GB", configurable: true });
  }
}

/** Replaces a chart that fails by a sentence. The page and the table below it stay. */
class ChartBoundary extends Component<{ children: ReactNode }, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError() {
    return { failed: true };
  }

  override render() {
    if (!this.state.failed) return this.props.children;
    return <p className="text-muted">{t.overview.noChart}</p>;
  }
}

/**
 * A chart for sighted readers, and the same figures as a table for everybody. The chart library loads when
 * the chart comes near the viewport.
 */
export function Chart({ table, ...plot }: PlotProps & { table: ReactNode }) {
  const container = useRef<HTMLDivElement>(null);
  const [near, setNear] = useState(false);
  useEffect(() => {
    const element = container.current;
    if (element === null) return;
    const watcher = new IntersectionObserver(
      (entries) => {
        if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
        setNear(true);
        watcher.disconnect();
      },
      { rootMargin: "200px" },
    );
    watcher.observe(element);
    return () => watcher.disconnect();
  }, []);
  const outline = <div className="outline-block h-56" />;
  return (
    <>
      <div ref={container} className="min-h-56">
        {near ? (
          <ChartBoundary>
            <Suspense fallback={outline}>
              <Plot {...plot} />
            </Suspense>
          </ChartBoundary>
        ) : (
          outline
        )}
      </div>
      <ul className="mt-3 flex flex-wrap gap-x-5 gap-y-1 text-small">
        {plot.series.map(({ label, colour }) => (
          <li key={label} className="flex items-center gap-2">
            <span
              aria-hidden="true"
              className={`inline-block size-3 rounded-sm forced-color-adjust-none ${swatches[colour]}`}
            />
            {label}
          </li>
        ))}
      </ul>
      {/* A quarter of a year has a thousand cells. They are rendered only when a user unfolds the table. */}
      <div className="mt-2 text-small">
        <Disclosure small title={t.overview.asTable}>
          {table}
        </Disclosure>
      </div>
    </>
  );
}

const swatches = {
  accent: "bg-accent",
  good: "bg-good",
  bad: "bg-bad",
  ink: "bg-ink",
  field: "bg-field",
} as const;
