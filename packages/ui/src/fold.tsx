import type { ReactNode } from "react";
import { Icon } from "./icon.tsx";
import type { IconName } from "./icons.ts";

/**
 * Optional content in the browser's `details`, which opens by keyboard,
 * by a search in the page and without a script.
 */
export function Fold({
  title,
  icon,
  open = false,
  children,
}: {
  title: string;
  icon?: IconName;
  open?: boolean;
  children: ReactNode;
}) {
  return (
    <details open={open} className="group border-line not-last:border-b">
      <summary className="flex min-h-12 cursor-pointer list-none items-center gap-3 rounded-control py-3 font-medium [&::-webkit-details-marker]:hidden">
        {icon !== undefined && <Icon name={icon} className="size-5 text-muted" />}
        <span className="min-w-0 flex-1">{title}</span>
        <Icon
          name="chevron"
          className="size-5 text-muted transition-transform duration-(--motion-quick) group-open:rotate-180"
        />
      </summary>
      <div className="space-y-3 pb-4">{children}</div>
    </details>
  );
}

/** Several of them below each other. */
export function Folds({ children }: { children: ReactNode }) {
  return <div className="rounded-card border border-line bg-card px-4 sm:px-5">{children}</div>;
}
