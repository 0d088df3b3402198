import { useEffect, useId, useRef, useState } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { intlTag, t } from "../i18n/words.ts";

export type PlotColour = "accent" | "good" | "bad" | "ink" | "field";
export type PlotSeries = {
  label: string;
  colour: PlotColour;
  values: readonly (number | null)[];
};
export type PlotProps = {
  /** The chart's subject, for screen readers. */
  label: string;
  days: readonly string[];
  series: readonly PlotSeries[];
  /** Stacked bars, or a line for each series. */
  kind: "bars" | "lines";
  text: (value: number) => string;
};

const height = 224;
const shortDay = { day: "numeric", month: "short", timeZone: "UTC" } as const;
const longDay = { ...shortDay, weekday: "short", year: "numeric" } as const;

function dayText(day: string, format: Intl.DateTimeFormatOptions): string {
  return new Date(`${day}T00:00:00Z`).toLocaleDateString(intlTag, format);
}

/** Cumulative series, for stacked bars. */
function stacked(series: readonly PlotSeries[]): (number | null)[][] {
  const sums: number[] = [];
  return series.map(({ values }) =>
    values.map((value, index) => {
      sums[index] = (sums[index] ?? 0) + (value ?? 0);
      return sums[index] ?? 0;
    }),
  );
}

function options(
  element: HTMLElement,
  props: PlotProps,
  onDay: (index: number | null) => void,
): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const bars = uPlot.paths.bars?.({ size: [0.72, 28], radius: 0.15 });
  const drawn = [...props.series].reverse();
  const font = `12px ${style.getPropertyValue("--font-text")}`;
  const axis = { stroke: colour("muted"), font, ticks: { show: false } } as const;
  return {
    width: Math.max(200, element.clientWidth),
    height,
    padding: [12, 8, 0, 0],
    legend: { show: false },
    cursor: { x: true, y: false, drag: { x: false, y: false }, points: { show: props.kind === "lines" } },
    scales: {
      x: { time: false, range: (_plot, min, max) => [min - 0.6, max + 0.6] },
      y: { range: (_plot, _min, max) => [0, Math.max(1, max) * 1.05] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 32,
        space: 64,
        incrs: [1, 2, 5, 7, 14, 30, 61, 122],
        values: (_plot, at) =>
          at.map((index) => (props.days[index] === undefined ? "" : dayText(props.days[index], shortDay))),
      },
      {
        ...axis,
        size: 52,
        grid: { stroke: colour("line"), width: 1 },
        incrs: [1, 2, 5, 10, 20, 30, 50, 60, 100, 120, 200, 300, 500, 600, 1000, 2000, 5000, 10_000, 100_000],
        values: (_plot, at) => at.map((value) => props.text(value)),
      },
    ],
    series: [
      {},
      ...drawn.map(({ label, colour: name }) => ({
        label,
        stroke: colour(name),
        ...(props.kind === "bars"
          ? {
              fill: colour(name),
              width: 0,
              points: { show: false },
              ...(bars === undefined ? {} : { paths: bars }),
            }
          : { width: 2, spanGaps: true, points: { size: 6 } }),
      })),
    ],
    hooks: { setCursor: [(plot) => onDay(plot.cursor.idx ?? null)] },
  };
}

/** A chart by uPlot. The pointer and the arrow keys select a day; a screen reader announces its values. */
export function Plot(props: PlotProps) {
  const container = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [day, setDay] = useState<number | null>(null);
  const descriptionId = useId();
  // biome-ignore lint/correctness/useExhaustiveDependencies: refetched figures are mostly the same.
  useEffect(() => {
    const element = container.current;
    if (element === null) return;
    const values =
      props.kind === "bars" ? stacked(props.series) : props.series.map((each) => [...each.values]);
    const draw = () => {
      plot.current?.destroy();
      const xs = props.days.map((_, index) => index);
      plot.current = new uPlot(options(element, props, setDay), [xs, ...values.reverse()], element);
      values.reverse();
    };
    draw();
    const sizes = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height }));
    sizes.observe(element);
    const dark = window.matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", draw);
    return () => {
      sizes.disconnect();
      dark.removeEventListener("change", draw);
      plot.current?.destroy();
      plot.current = null;
    };
  }, [props.kind, props.label, JSON.stringify([props.days, props.series])]);
  const goTo = (index: number) => {
    const at = Math.min(Math.max(index, 0), props.days.length - 1);
    plot.current?.setCursor({ left: plot.current.valToPos(at, "x"), top: 10 });
    setDay(at);
  };
  const shown = day === null ? undefined : props.days[day];
  return (
    <div className="relative">
      {/* biome-ignore lint/a11y/useSemanticElements: no element exists for a chart with arrow keys. */}
      <div
        ref={container}
        role="group"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys go from day to day.
        tabIndex={0}
        aria-label={t.overview.arrowKeys(props.label)}
        aria-describedby={descriptionId}
        className="min-w-0"
        onKeyDown={(event) => {
          const steps: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1 };
          const step = steps[event.key];
          if (event.key === "Home") goTo(0);
          else if (event.key === "End") goTo(props.days.length - 1);
          else if (step !== undefined)
            goTo(day === null ? (step > 0 ? 0 : props.days.length - 1) : day + step);
          else return;
          event.preventDefault();
        }}
        onBlur={() => setDay(null)}
      />
      <output
        id={descriptionId}
        className={`pointer-events-none absolute top-0 max-w-full ${day !== null && day > props.days.length / 2 ? "start-14" : "end-0"} rounded-control border border-line bg-card px-3 py-2 text-small shadow-raised ${shown === undefined ? "hidden" : ""}`}
      >
        {shown === undefined || day === null ? null : (
          <>
            <span className="block font-semibold">{dayText(shown, longDay)}</span>
            {props.series.map(({ label, values }) => {
              const value = values[day];
              return (
                <span key={label} className="flex justify-between gap-4">
                  <span className="text-muted">{label}</span>
                  <span className="tabular-nums">
                    {value === null || value === undefined ? "–" : props.text(value)}
                  </span>
                </span>
              );
            })}
          </>
        )}
      </output>
    </div>
  );
}
