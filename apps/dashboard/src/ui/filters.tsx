import { useNavigate, useSearch } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { present } from "../api/call.ts";
import { t } from "../i18n/words.ts";
import { Button, buttonClass } from "./button.tsx";
import { DateRange } from "./date-range.tsx";
import { Icon } from "./icon.tsx";

type Chosen<N extends string> = Partial<Record<N, string>>;

/**
 * The filters of a list are in the address: users can share it, and Back restores it. Each choice replaces
 * the history entry, so that Back leaves the list. `period` is what a request names the days by.
 */
export function useFilters<const N extends string>(names: readonly N[]) {
  const search: Partial<Record<string, string>> = useSearch({ strict: false });
  const navigate = useNavigate();
  const values: Chosen<N> = {};
  for (const name of names) if (search[name]) values[name] = search[name];
  const go = (next: Chosen<N>) => void navigate({ to: ".", search: next, replace: true, resetScroll: false });
  const { from, to }: Chosen<"from" | "to"> = values;
  return {
    values,
    period: present({
      created_from: momentOf(from, "00:00:00.000"),
      created_to: momentOf(to, "23:59:59.999"),
    }),
    count: Object.keys(values).length,
    set: (changed: Chosen<N>) => {
      const next = Object.entries({ ...values, ...changed }).filter(([, value]) => value !== "");
      go(Object.fromEntries(next) as Chosen<N>);
    },
    clear: () => go({}),
  };
}

type Dated = ReturnType<typeof useFilters<"from" | "to">>;

/**
 * The filters of a list; the range of days, labelled `dates`, comes last. On a phone they are folded, because
 * they would fill the screen before the list begins.
 */
export function Filters(props: { filters: Dated; dates: string; children: ReactNode }) {
  const { values, count, set, clear } = props.filters;
  const [open, setOpen] = useState(false);
  return (
    <search aria-label={t.ui.filters} className="mb-4">
      <button
        type="button"
        aria-expanded={open}
        className={`${buttonClass("plain", true)} sm:hidden`}
        onClick={() => setOpen(!open)}
      >
        <Icon name="filter" className="size-4" />
        {count > 0 ? t.ui.filtersSet(count) : t.ui.filters}
      </button>
      <div
        className={`${open ? "max-sm:mt-3" : "max-sm:hidden"} flex flex-wrap items-end gap-3 max-sm:flex-col max-sm:items-stretch`}
      >
        {props.children}
        <DateRange
          label={props.dates}
          open={t.ui.anyTime}
          range={{ from: values.from, to: values.to }}
          onChange={({ from = "", to = "" }) => set({ from, to })}
        />
        {count > 0 ? (
          <Button look="quiet" icon="x" small onClick={clear}>
            {t.ui.clear}
          </Button>
        ) : null}
      </div>
    </search>
  );
}

const control = "min-h-10 w-full rounded-control border border-field bg-card px-3 text-small text-ink";

export function FilterSelect(props: {
  label: string;
  value: string | undefined;
  options: readonly { value: string; label: string }[];
  onChange: (value: string) => void;
}) {
  return (
    <label className="block text-small">
      <span className="mb-1 block text-muted">{props.label}</span>
      <span className="relative block">
        <select
          className={`${control} pe-9 sm:max-w-64`}
          value={props.value ?? ""}
          onChange={(event) => props.onChange(event.currentTarget.value)}
        >
          {props.options.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
        <Icon name="chevron" className="pointer-events-none absolute end-3 top-3 size-4 text-muted" />
      </span>
    </label>
  );
}

// A shorter delay would send a request for nearly every key.
const typingPauseMs = 350;

/** Applies the text when the typing pauses. */
export function FilterText(props: {
  label: string;
  value: string | undefined;
  maxLength?: number;
  onChange: (value: string) => void;
}) {
  const [typed, setTyped] = useState(props.value ?? "");
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const sent = useRef(props.value ?? "");
  useEffect(() => {
    // Something else changed the address, such as the button that clears it.
    if ((props.value ?? "") === sent.current) return;
    sent.current = props.value ?? "";
    setTyped(props.value ?? "");
  }, [props.value]);
  const send = (text: string) => {
    clearTimeout(timer.current);
    if (text.trim() === sent.current) return;
    sent.current = text.trim();
    props.onChange(text.trim());
  };
  return (
    <label className="block text-small">
      <span className="mb-1 block text-muted">{props.label}</span>
      <input
        type="text"
        className={`${control} sm:w-52`}
        value={typed}
        maxLength={props.maxLength}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => {
          const text = event.currentTarget.value;
          setTyped(text);
          clearTimeout(timer.current);
          timer.current = setTimeout(() => send(text), typingPauseMs);
        }}
        onBlur={() => send(typed)}
        onKeyDown={(event) => {
          if (event.key === "Enter") send(typed);
        }}
      />
    </label>
  );
}

export const anyOption = {
  value: "",
  get label() {
    return t.ui.any;
  },
} as const;

/** `in_progress` → `In progress`. */
export function inWords(code: string): string {
  const words = code.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/**
 * A moment of a local day, in the service's time format. A user can edit the address: a value that is not a
 * day is ignored.
 */
function momentOf(day: string | undefined, time: string): string | undefined {
  const moment = new Date(`${day}T${time}`);
  return day === undefined || Number.isNaN(moment.getTime()) ? undefined : moment.toISOString();
}
