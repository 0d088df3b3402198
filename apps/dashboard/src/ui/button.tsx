import { Link, type LinkProps } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { problemOf } from "../api/call.ts";
import { Icon, type IconName } from "./icon.tsx";
import { Notice } from "./notice.tsx";

export type Look = "primary" | "plain" | "danger" | "quiet";

const looks: Record<Look, string> = {
  primary:
    "bg-fill text-on-fill border-edge hover:brightness-110 active:brightness-95 forced-colors:border-[Highlight] forced-colors:border-3",
  plain: "bg-card text-ink border-field hover:bg-soft",
  danger: "bg-card text-bad border-bad hover:bg-bad-soft",
  quiet: "bg-transparent text-muted border-transparent hover:bg-soft hover:text-ink",
};

export function buttonClass(look: Look = "plain", small = false, wide = false): string {
  const size = small ? "min-h-9 px-3 py-1 text-small" : "min-h-11 px-4 py-2";
  return `inline-flex items-center justify-center gap-2 rounded-control border text-center font-semibold no-underline transition-[filter,background-color] duration-(--motion-quick) disabled:opacity-60 ${wide ? "w-full" : ""} ${size} ${looks[look]}`;
}

type ButtonProps = {
  children: ReactNode;
  look?: Look | undefined;
  small?: boolean | undefined;
  /** Full width. */
  wide?: boolean | undefined;
  icon?: IconName | undefined;
  label?: string | undefined;
};

function Inside({ icon, small, children }: Pick<ButtonProps, "icon" | "small" | "children">) {
  return (
    <>
      {icon === undefined ? null : <Icon name={icon} className={small ? "size-4" : "size-5"} />}
      {children}
    </>
  );
}

export function Button(
  props: ButtonProps & { onClick?: () => void; type?: "button" | "submit"; disabled?: boolean | undefined },
) {
  return (
    <button
      type={props.type ?? "button"}
      className={buttonClass(props.look, props.small, props.wide)}
      onClick={props.onClick}
      disabled={props.disabled}
      aria-label={props.label}
    >
      <Inside icon={props.icon} small={props.small}>
        {props.children}
      </Inside>
    </button>
  );
}

/** Runs one action on the service at a time, and keeps the error of the last run. */
export function useAction(act: () => Promise<unknown>) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const run = async () => {
    setBusy(true);
    setError(null);
    try {
      await act();
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return { busy, error, run };
}

/** A button that runs an action on the service. An error appears below it. */
export function ActionButton({ run: act, ...props }: ButtonProps & { run: () => Promise<unknown> }) {
  const { busy, error, run } = useAction(act);
  return (
    <>
      <Button {...props} disabled={busy} onClick={() => void run()} />
      {error === null ? null : <Notice kind="bad" problem={problemOf(error)} />}
    </>
  );
}

export function LinkButton({
  children,
  look,
  small,
  wide,
  icon,
  ...link
}: LinkProps & Omit<ButtonProps, "label">) {
  return (
    <Link {...link} className={buttonClass(look, small, wide)}>
      <Inside icon={icon} small={small}>
        {children}
      </Inside>
    </Link>
  );
}
