import { useEffect, useRef, useState } from "react";
import { buttonClass } from "./button.tsx";
import { Icon, type IconName } from "./icon.tsx";

export type MenuItem = { label: string; icon: IconName; danger?: boolean; run: () => void };

/** Further actions behind three dots. It closes on a choice and on Escape, which restores the focus. */
export function Menu(props: { label: string; items: readonly MenuItem[] }) {
  const [open, setOpen] = useState(false);
  const container = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!open) return;
    const onPress = ({ target }: PointerEvent) => {
      if (!(target instanceof Node && container.current?.contains(target))) setOpen(false);
    };
    document.addEventListener("pointerdown", onPress);
    return () => document.removeEventListener("pointerdown", onPress);
  }, [open]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape works wherever in the menu the focus is.
    <div
      ref={container}
      className="relative"
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !open) return;
        setOpen(false);
        opener.current?.focus();
      }}
    >
      <button
        ref={opener}
        type="button"
        aria-expanded={open}
        className={`${buttonClass()} px-3`}
        onClick={() => setOpen(!open)}
      >
        <Icon name="more" />
        <span className="sr-only">{props.label}</span>
      </button>
      {open ? (
        <ul className="absolute end-0 top-full z-10 mt-1 w-max min-w-52 max-w-[calc(100vw-2rem)] rounded-control border border-line bg-card p-1 shadow-raised">
          {props.items.map(({ label, icon, danger, run }) => (
            <li key={label}>
              <button
                type="button"
                className={`flex min-h-10 w-full items-center gap-3 rounded-lg px-3 py-2 text-start hover:bg-soft ${danger ? "text-bad" : ""}`}
                onClick={() => {
                  setOpen(false);
                  // A dialog that opens next returns the focus to the element that had it.
                  opener.current?.focus();
                  run();
                }}
              >
                <Icon name={icon} className="size-4" />
                {label}
              </button>
            </li>
          ))}
        </ul>
      ) : null}
    </div>
  );
}
