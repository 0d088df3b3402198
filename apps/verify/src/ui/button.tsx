import type { ButtonHTMLAttributes, ReactNode } from "react";

const looks = {
  primary: "bg-accent text-on-accent border-accent hover:opacity-90",
  secondary: "bg-card text-ink border-field hover:bg-soft",
  danger: "bg-card text-bad border-bad hover:bg-bad-soft",
  quiet: "bg-transparent text-muted border-transparent underline underline-offset-4 hover:text-ink",
} as const;

type ButtonLook = { look?: keyof typeof looks; children: ReactNode };

const shape =
  "inline-flex min-h-11 items-center justify-center gap-2 rounded-lg border px-5 py-2 text-center font-semibold no-underline cursor-pointer aria-disabled:cursor-default aria-disabled:opacity-60";

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

export function LinkButton({ href, children, look = "primary" }: ButtonLook & { href: string }) {
  return (
    <a href={href} className={`${shape} ${looks[look]}`}>
      {children}
    </a>
  );
}
