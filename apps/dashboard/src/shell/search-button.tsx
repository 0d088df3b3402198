import { lazy, Suspense, useEffect, useState } from "react";
import { t } from "../i18n/words.ts";
import { Icon } from "../ui/icon.tsx";
import { whenLoaded } from "../ui/when-loaded.ts";

const load = () => import("./palette.tsx");
const Palette = lazy(async () => ({ default: (await load()).Palette }));

const isApple = /mac|iphone|ipad/i.test(navigator.userAgent);

/** Opens the search by press or shortcut. Its script loads when the user is about to use it. */
export function SearchButton() {
  const [open, setOpen] = useState(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(isApple ? event.metaKey : event.ctrlKey) || event.altKey)
        return;
      // A second dialog would cover the open one.
      if (document.querySelector("dialog[open]") !== null) return;
      event.preventDefault();
      void whenLoaded(load, t.shell.search.what, () => setOpen(true));
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
  return (
    <>
      <button
        type="button"
        aria-haspopup="dialog"
        aria-keyshortcuts={isApple ? "Meta+K" : "Control+K"}
        onPointerEnter={() => void load().catch(() => {})}
        onFocus={() => void load().catch(() => {})}
        onClick={() => void whenLoaded(load, t.shell.search.what, () => setOpen(true))}
        className="inline-flex min-h-10 items-center gap-2 rounded-control border-field text-muted hover:bg-soft hover:text-ink max-md:size-10 max-md:justify-center md:w-56 md:border md:px-3"
      >
        <Icon name="search" className="size-[1.125rem]" />
        <span className="max-md:sr-only">{t.shell.search.open}</span>
        <span aria-hidden="true" className="ms-auto rounded bg-code px-1.5 text-xs max-md:hidden">
          {isApple ? "⌘ K" : t.shell.search.shortcut}
        </span>
      </button>
      {open ? (
        <Suspense fallback={null}>
          <Palette onClose={() => setOpen(false)} />
        </Suspense>
      ) : null}
    </>
  );
}
