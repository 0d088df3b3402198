import { lazy, Suspense } from "react";
import { type DateRangeProps, rangeButtonClass, rangeText } from "./day-range.ts";
import { Icon } from "./icon.tsx";

const Picker = lazy(async () => ({ default: (await import("./date-range-picker.tsx")).DateRangePicker }));

/** A stretch of days. The calendar comes after the page, and the button is there at once. */
export function DateRange(props: DateRangeProps) {
  return (
    <div className="text-small">
      <span className="mb-1 block text-muted">{props.label}</span>
      <Suspense
        fallback={
          <button type="button" disabled className={rangeButtonClass}>
            <Icon name="calendar" className="size-4 text-muted" />
            {rangeText(props.range, props.open)}
          </button>
        }
      >
        <Picker {...props} />
      </Suspense>
    </div>
  );
}
