import { countText, percentText } from "../ui/numbers.ts";

/** Steps or reasons as bars, each with its count and share in words. A list needs no table beside it. */
export function Bars(props: {
  rows: readonly { name: string; count: number; note?: string; look?: keyof typeof fills }[];
  /** The count of a full bar. */
  of: number;
  /** The default for rows without a look. */
  look?: keyof typeof fills;
}) {
  return (
    <ol className="space-y-3">
      {props.rows.map(({ name, count, note, look = props.look ?? "accent" }) => {
        const share = props.of === 0 ? 0 : count / props.of;
        return (
          <li key={name}>
            <p className="mb-1 flex flex-wrap items-baseline justify-between gap-x-4">
              <span className="font-medium">{name}</span>
              <span className="text-small tabular-nums">
                {countText(count)}
                <span className="text-muted"> · {percentText(share)}</span>
                {note === undefined ? null : <span className="text-muted"> · {note}</span>}
              </span>
            </p>
            {/* The content security policy forbids inline styles; an SVG attribute is not one. */}
            <svg
              aria-hidden="true"
              className="h-2.5 w-full overflow-hidden rounded-full forced-color-adjust-none"
              preserveAspectRatio="none"
            >
              <rect width="100%" height="100%" className="fill-soft" />
              <rect
                width={`${Math.max(count > 0 ? 0.6 : 0, 100 * share)}%`}
                height="100%"
                className={fills[look]}
              />
            </svg>
          </li>
        );
      })}
    </ol>
  );
}

const fills = { accent: "fill-accent", bad: "fill-bad", good: "fill-good", warn: "fill-warn" } as const;
