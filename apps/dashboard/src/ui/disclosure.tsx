import { type ReactNode, useState } from "react";
import { Icon } from "./icon.tsx";

/** Optional content below its title. It is not rendered while folded, unless a form needs it. */
export function Disclosure(props: {
  title: ReactNode;
  open?: boolean | undefined;
  /** Rendered while folded, as fields of a form must be. */
  isNeeded?: boolean;
  small?: boolean;
  children: ReactNode;
}) {
  const [seen, setSeen] = useState(props.open === true);
  return (
    <details open={props.open} onToggle={() => setSeen(true)}>
      <summary
        className={`inline-flex min-h-9 list-none items-center gap-1.5 rounded-control py-1 hover:text-accent ${props.small ? "text-small text-muted" : "font-medium"}`}
      >
        {props.title}
        <Icon
          name="chevron"
          className="size-4 text-muted transition-transform duration-(--motion-quick) in-[[open]>summary]:rotate-180"
        />
      </summary>
      <div className="mt-2">{seen || props.isNeeded ? props.children : null}</div>
    </details>
  );
}
