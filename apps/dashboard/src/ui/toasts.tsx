import { t } from "../i18n/words.ts";
import { sharedValue, useShared } from "../state/shared-value.ts";
import { Icon } from "./icon.tsx";

type Look = "good" | "warn";
type Toast = { id: number; text: string; look: Look };

/** Long enough to be read twice. */
const shownMs = 6_000;

const shown = sharedValue<readonly Toast[]>([]);
let counter = 0;

/** Confirms an action, wherever on the page the user is. Errors appear where they happened, and stay. */
export function toast(text: string, look: Look = "good"): void {
  counter += 1;
  const id = counter;
  // Three at most: more would hide the page on a phone.
  shown.set([...shown.get().slice(-2), { id, text, look }]);
  setTimeout(() => dismiss(id), shownMs);
}

function dismiss(id: number): void {
  shown.set(shown.get().filter((each) => each.id !== id));
}

/** The region is always rendered, so that screen readers notice new content. */
export function Toasts() {
  const toasts = useShared(shown);
  return (
    <section
      aria-label={t.ui.notifications}
      aria-live="polite"
      className="pointer-events-none fixed inset-x-4 bottom-4 z-30 flex flex-col items-center gap-2 sm:inset-x-auto sm:end-6 sm:bottom-6 sm:items-end"
    >
      {toasts.map(({ id, text, look }) => (
        <div
          key={id}
          className="pointer-events-auto flex max-w-sm animate-[rise_var(--motion-quick)_var(--motion-curve)] items-start gap-3 rounded-control border border-line bg-card py-3 ps-4 pe-2 shadow-raised"
        >
          <Icon
            name={look === "good" ? "check" : "info"}
            className={`mt-0.5 size-5 ${look === "good" ? "text-good" : "text-warn"}`}
          />
          <p className="min-w-0 flex-1">{text}</p>
          <button
            type="button"
            aria-label={t.ui.dismiss}
            className="inline-flex size-8 items-center justify-center rounded-control text-muted hover:bg-soft hover:text-ink"
            onClick={() => dismiss(id)}
          >
            <Icon name="x" className="size-4" />
          </button>
        </div>
      ))}
    </section>
  );
}
