import type { ButtonHTMLAttributes, ReactNode } from "react";

const looks = {
  primary:
    "bg-fill text-on-fill border-edge hover:brightness-110 active:brightness-95 forced-colors:border-[Highlight] forced-colors:border-3",
  secondary: "bg-card text-ink border-field hover:bg-soft",
  danger: "bg-card text-bad border-bad hover:bg-bad-soft",
  quiet: "bg-transparent text-muted border-transparent underline underline-offset-4 hover:text-ink",
} as const;

type ButtonLook = { look?: keyof typeof looks; children: ReactNode };

const shape =
  "inline-flex min-h-12 items-center justify-center gap-2 rounded-control border px-5 py-2 text-center font-semibold no-underline cursor-pointer transition-[filter,background-color] duration-(--motion-quick) aria-disabled:cursor-default aria-disabled:opacity-60";

/** Busy buttons stay focusable, so that a screen reader does not lose its place. */
export function Button({
  look = "primary",
  busy = false,
  onClick,
  className = "",
  ...rest
}: ButtonLook & { busy?: boolean } & ButtonHTMLAttributes<HTMLButtonElement>) {
  return (
    <button
      type="button"
      {...rest}
      aria-disabled={busy || undefined}
      onClick={(event) => {
        if (busy) event.preventDefault();
        else onClick?.(event);
      }}
      className={`${shape} ${looks[look]} ${className}`}
    />
  );
}

/** Below each other and as wide as the screen on a phone, beside each other where there is room. */
export function Actions({ children }: { children: ReactNode }) {
  return <div className="flex flex-col gap-3 sm:flex-row sm:flex-wrap">{children}</div>;
}

/** A button without a box, for the end of a page. */
export function QuietButton({ onClick, children }: { onClick: () => void; children: ReactNode }) {
  return (
    <button
      type="button"
      className="min-h-6 cursor-pointer py-1 text-start underline underline-offset-4 hover:text-ink"
      onClick={onClick}
    >
      {children}
    </button>
  );
}

export function LinkButton({
  href,
  children,
  look = "primary",
  target,
  onClick,
}: ButtonLook & { href: string; target?: "_blank" | "_top" | undefined; onClick?: () => void }) {
  const outside = target === undefined ? {} : { target, rel: "noopener noreferrer" };
  return (
    <a href={href} {...outside} onClick={onClick} className={`${shape} ${looks[look]}`}>
      {children}
    </a>
  );
}
