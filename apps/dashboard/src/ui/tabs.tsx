import { countText } from "./numbers.ts";

export type Tab<V extends string> = {
  value: V;
  label: string;
  /** The number of entries. At `maxCount` it is shown as `1,000+`. */
  count?: number | undefined;
};

/** Views of one object, or parts of one list. On a narrow screen the row scrolls. */
export function Tabs<V extends string>(props: {
  label: string;
  tabs: readonly Tab<V>[];
  value: V;
  maxCount?: number;
  onChange: (value: V) => void;
}) {
  return (
    <fieldset className="m-0 mb-5 flex min-w-0 gap-1 overflow-x-auto border-0 border-b border-line p-0">
      <legend className="sr-only">{props.label}</legend>
      {props.tabs.map(({ value, label, count }) => (
        <button
          key={value}
          type="button"
          aria-pressed={value === props.value}
          className={`-mb-px flex min-h-11 flex-none items-center gap-2 border-b-2 px-3 whitespace-nowrap focus-visible:-outline-offset-3 ${value === props.value ? "border-accent font-semibold text-accent" : "border-transparent text-muted hover:text-ink"}`}
          onClick={() => props.onChange(value)}
        >
          {label}
          {count === undefined ? null : (
            <span className="rounded-full bg-code px-2 text-small font-normal text-ink tabular-nums">
              {countText(count)}
              {count === props.maxCount ? "+" : ""}
            </span>
          )}
        </button>
      ))}
    </fieldset>
  );
}
