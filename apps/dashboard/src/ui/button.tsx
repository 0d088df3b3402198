import { Link, type LinkProps } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { problemOf } from "../api/call.ts";
import { Notice } from "./notice.tsx";

type Look = "primary" | "plain" | "danger";

const looks: Record<Look, string> = {
  primary: "bg-accent text-on-accent border-accent hover:opacity-90",
  plain: "bg-card text-ink border-edge hover:border-accent hover:text-accent",
  danger: "bg-card text-bad border-bad hover:bg-bad-tint",
};

export function buttonClass(look: Look = "plain", small = false): string {
  const size = small ? "min-h-8 px-2.5 py-1 text-sm" : "min-h-11 px-4 py-2";
  return `inline-flex items-center justify-center gap-2 rounded-lg border font-medium no-underline disabled:opacity-60 ${size} ${looks[look]}`;
}

export function Button(props: {
  children: ReactNode;
  onClick?: () => void;
  look?: Look;
  small?: boolean;
  type?: "button" | "submit";
  disabled?: boolean;
  label?: string;
}) {
  return (
    <button
      type={props.type ?? "button"}
      className={buttonClass(props.look, props.small)}
      onClick={props.onClick}
      disabled={props.disabled}
      aria-label={props.label}
    >
      {props.children}
    </button>
  );
}

/** Something that is done on the service, one at a time, with what went wrong the last time. */
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

/** A button that does something on the service. What goes wrong is told right below it. */
export function ActionButton(props: {
  children: ReactNode;
  run: () => Promise<unknown>;
  look?: Look;
  small?: boolean;
  label?: string;
}) {
  const { busy, error, run } = useAction(props.run);
  return (
    <>
      <Button
        {...(props.look ? { look: props.look } : {})}
        {...(props.small ? { small: true } : {})}
        {...(props.label ? { label: props.label } : {})}
        disabled={busy}
        onClick={() => void run()}
      >
        {props.children}
      </Button>
      {error === null ? null : <Notice kind="bad" problem={problemOf(error)} />}
    </>
  );
}

export function LinkButton({
  children,
  look,
  small,
  ...link
}: LinkProps & { children: ReactNode; look?: Look; small?: boolean }) {
  return (
    <Link {...link} className={buttonClass(look, small)}>
      {children}
    </Link>
  );
}
