import { type ReactNode, useState } from "react";
import { Button } from "./button.tsx";

/** Filters take effect together, when asked to: a list that changes under every keystroke is hard to follow. */
export function Filters(props: {
  children: ReactNode;
  onApply: (values: Record<string, string>) => void;
  onClear: () => void;
}) {
  // On a phone they would fill the screen before the list begins.
  const [openAtFirst] = useState(() => window.matchMedia("(min-width: 640px)").matches);
  return (
    <details className="mb-6" open={openAtFirst}>
      <summary className="py-1 font-medium">Filters</summary>
      <form
        className="mt-3"
        aria-label="Filters"
        onSubmit={(event) => {
          event.preventDefault();
          const entries = [...new FormData(event.currentTarget)].map(([name, value]) => [
            name,
            String(value).trim(),
          ]);
          props.onApply(Object.fromEntries(entries));
        }}
        onReset={() => props.onClear()}
      >
        <div className="grid gap-4 sm:grid-cols-2 xl:grid-cols-4">{props.children}</div>
        <div className="mt-4 flex gap-3">
          <Button type="submit">Filter</Button>
          <button type="reset" className="px-2 underline">
            Clear
          </button>
        </div>
      </form>
    </details>
  );
}

export const anyOption = { value: "", label: "Any" } as const;

export function optionsOf(values: readonly string[]) {
  return [anyOption, ...values.map((value) => ({ value, label: inWords(value) }))];
}

/** `in_progress` → `in progress`. */
export function inWords(code: string): string {
  return code.replaceAll("_", " ");
}

/** The first and last moment of local days, as the service takes times. */
export function startOfDay(day: string | undefined): string | undefined {
  return day ? new Date(`${day}T00:00:00.000`).toISOString() : undefined;
}

export function endOfDay(day: string | undefined): string | undefined {
  return day ? new Date(`${day}T23:59:59.999`).toISOString() : undefined;
}
