import type { ReactNode } from "react";
import { Icon } from "./icon.tsx";
import type { IconName } from "./icons.ts";

const looks = {
  info: { box: "border-line bg-soft", mark: "text-muted", icon: "info" },
  good: { box: "border-good/30 bg-good-soft", mark: "text-good", icon: "check" },
  warn: { box: "border-warn/30 bg-warn-soft", mark: "text-warn", icon: "alert" },
  bad: { box: "border-bad/30 bg-bad-soft", mark: "text-bad", icon: "alert" },
} as const satisfies Record<string, { box: string; mark: string; icon: IconName }>;

/** A highlighted message. The icon repeats what the colour says. */
export function Notice({
  look,
  title,
  children,
  urgent = false,
}: {
  look: keyof typeof looks;
  title?: string;
  children?: ReactNode;
  urgent?: boolean;
}) {
  const { box, mark, icon } = looks[look];
  return (
    <div role={urgent ? "alert" : undefined} className={`flex gap-3 rounded-control border p-4 ${box}`}>
      <Icon name={icon} className={`mt-0.5 size-5 ${mark}`} />
      <div className="min-w-0 flex-1 space-y-1">
        {title !== undefined && <h2 className={`font-semibold ${look === "info" ? "" : mark}`}>{title}</h2>}
        {children !== undefined && <div className="space-y-2 text-ink">{children}</div>}
      </div>
    </div>
  );
}
