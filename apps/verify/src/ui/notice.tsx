import type { ReactNode } from "react";

const looks = {
  info: { box: "border-line bg-soft text-ink", mark: "i" },
  good: { box: "border-good bg-good-soft text-good", mark: "✓" },
  warn: { box: "border-warn bg-warn-soft text-warn", mark: "!" },
  bad: { box: "border-bad bg-bad-soft text-bad", mark: "!" },
} as const;

/** A message that stands out. The mark repeats in shape what the colour says. */
export function Notice({
  look,
  title,
  children,
  level = 2,
  urgent = false,
}: {
  look: keyof typeof looks;
  title?: string;
  children?: ReactNode;
  level?: 2 | 3;
  urgent?: boolean;
}) {
  const Heading = level === 2 ? "h2" : "h3";
  return (
    <div
      role={urgent ? "alert" : undefined}
      className={`flex gap-3 rounded-xl border p-4 ${looks[look].box}`}
    >
      <span
        aria-hidden="true"
        className="mt-0.5 grid size-6 flex-none place-items-center rounded-full border-2 border-current text-sm font-bold"
      >
        {looks[look].mark}
      </span>
      <div className="min-w-0 space-y-1">
        {title !== undefined && <Heading className="font-semibold">{title}</Heading>}
        <div className="space-y-2 text-ink">{children}</div>
      </div>
    </div>
  );
}
