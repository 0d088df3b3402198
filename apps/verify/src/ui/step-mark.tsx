import { Icon } from "@assay/ui/icon";

/** The state of one of several steps. */
export function StepMark({ state }: { state: "done" | "now" | "next" }) {
  if (state === "done")
    return (
      <span className="grid size-6 flex-none place-items-center rounded-full bg-accent text-card">
        <Icon name="check" className="size-4" />
      </span>
    );
  return (
    <span
      aria-hidden="true"
      className={`grid size-6 flex-none place-items-center rounded-full border-2 ${state === "now" ? "border-accent" : "border-line"}`}
    >
      {state === "now" && <span className="size-2.5 bar is-filled animate-pulse rounded-full bg-accent" />}
    </span>
  );
}
