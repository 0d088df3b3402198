import { type CalendarDate, getLocalTimeZone, parseDate, today } from "@internationalized/date";
import { useRef } from "react";
import {
  Button,
  CalendarCell,
  CalendarGrid,
  Dialog,
  DialogTrigger,
  Heading,
  I18nProvider,
  Popover,
  RangeCalendar,
} from "react-aria-components";
import { intlTag, t } from "../i18n/words.ts";
import { type DateRangeProps, type Range, rangeButtonClass, rangeText } from "./day-range.ts";
import { Icon } from "./icon.tsx";

const spans = [7, 30, 90, 365] as const;

/** A user can edit the address, so the text may not be a day. */
function dayOf(text: string | undefined): CalendarDate | null {
  try {
    return text === undefined ? null : parseDate(text);
  } catch {
    return null;
  }
}

const step =
  "inline-flex size-9 items-center justify-center rounded-control text-muted outline-none hover:bg-soft data-[focus-visible]:outline-3 data-[focus-visible]:outline-accent data-[disabled]:opacity-40";
const cell =
  "flex size-10 cursor-default items-center justify-center rounded-lg text-small outline-none data-[hovered]:bg-soft data-[focus-visible]:outline-3 data-[focus-visible]:outline-accent data-[selected]:bg-soft data-[selected]:text-accent data-[selection-start]:bg-fill data-[selection-start]:text-on-fill data-[selection-end]:bg-fill data-[selection-end]:text-on-fill data-[disabled]:text-muted data-[disabled]:opacity-50 data-[outside-month]:hidden";

/** React Aria's calendar, with the most common ranges beside it. */
export function DateRangePicker(props: DateRangeProps) {
  const last = dayOf(props.today) ?? today(getLocalTimeZone());
  const [start, end] = [dayOf(props.range.from), dayOf(props.range.to)];
  const trigger = useRef<HTMLButtonElement>(null);
  const value = start === null || end === null ? null : { start, end };
  return (
    <I18nProvider locale={intlTag}>
      <DialogTrigger
        defaultOpen
        onOpenChange={(open) => {
          // The button that opened the calendar was replaced, so the browser cannot restore the focus.
          if (!open) setTimeout(() => trigger.current?.focus(), 0);
        }}
      >
        <Button ref={trigger} className={rangeButtonClass}>
          <Icon name="calendar" className="size-4 text-muted" />
          <span className="sr-only">{props.label}:</span>
          {rangeText(props.range, props.open)}
        </Button>
        <Popover
          placement="bottom start"
          className="z-40 max-w-[calc(100vw-1.5rem)] overflow-auto rounded-card border border-line bg-card p-3 shadow-raised"
        >
          <Dialog aria-label={props.label} className="flex flex-wrap gap-4 outline-none">
            {({ close }) => {
              const choose = (range: Range) => {
                props.onChange(range);
                close();
              };
              return (
                <>
                  <ul className="flex flex-wrap content-start gap-1 sm:w-36 sm:flex-col">
                    {spans.map((days) => (
                      <li key={days}>
                        <button
                          type="button"
                          className="rounded-lg px-3 py-2 text-start text-small hover:bg-soft sm:w-full"
                          onClick={() =>
                            choose({
                              from: last.subtract({ days: days - 1 }).toString(),
                              to: last.toString(),
                            })
                          }
                        >
                          {t.ui.lastDays(days)}
                        </button>
                      </li>
                    ))}
                    <li>
                      <button
                        type="button"
                        className="rounded-lg px-3 py-2 text-start text-small hover:bg-soft sm:w-full"
                        onClick={() => choose({ from: undefined, to: undefined })}
                      >
                        {props.open}
                      </button>
                    </li>
                  </ul>
                  <RangeCalendar
                    aria-label={props.label}
                    value={value}
                    maxValue={last}
                    onChange={(range) => choose({ from: range.start.toString(), to: range.end.toString() })}
                  >
                    <header className="mb-1 flex items-center justify-between">
                      <Button slot="previous" className={step}>
                        <Icon name="back" className="size-4" />
                      </Button>
                      <Heading className="font-semibold" level={2} />
                      <Button slot="next" className={step}>
                        <Icon name="next" className="size-4" />
                      </Button>
                    </header>
                    <CalendarGrid className="[&_th]:size-10 [&_th]:text-xs [&_th]:font-medium [&_th]:text-muted">
                      {(date) => <CalendarCell date={date} className={cell} />}
                    </CalendarGrid>
                  </RangeCalendar>
                </>
              );
            }}
          </Dialog>
        </Popover>
      </DialogTrigger>
    </I18nProvider>
  );
}
