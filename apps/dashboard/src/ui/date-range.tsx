import { lazy, Suspense, useState } from "react";
import { t } from "../i18n/words.ts";
import { type DateRangeProps, rangeButtonClass, rangeText } from "./day-range.ts";
import { Icon } from "./icon.tsx";
import { whenLoaded } from "./when-loaded.ts";

const load = () => import("./date-range-picker.tsx");
const Picker = lazy(async () => ({ default: (await load()).DateRangePicker }));

/** A range of days. The calendar loads on hover or focus, and opens on the first press. */
export function DateRange(props: DateRangeProps) {
  const [wanted, setWanted] = useState(false);
  const button = (
    <button
      type="button"
      aria-haspopup="dialog"
      className={rangeButtonClass}
      onPointerEnter={() => void load().catch(() => {})}
      onFocus={() => void load().catch(() => {})}
      onClick={() => void whenLoaded(load, t.ui.theCalendar, () => setWanted(true))}
    >
      <Icon name="calendar" className="size-4 text-muted" />
      <span className="sr-only">{props.label}:</span>
      {rangeText(props.range, props.open)}
    </button>
  );
  return (
    <div className="text-small">
      <span aria-hidden="true" className="mb-1 block text-muted">
        {props.label}
      </span>
      {wanted ? (
        <Suspense fallback={button}>
          <Picker {...props} />
        </Suspense>
      ) : (
        button
      )}
    </div>
  );
}
