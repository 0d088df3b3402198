import { icons, type IconName as SharedName } from "@assay/ui/icons";
import { type StaffIconName, staffIcons } from "@assay/ui/staff-icons";
import { StrokeIcon } from "@assay/ui/stroke-icon";

export type IconName = SharedName | StaffIconName;

const all: Record<IconName, readonly string[]> = { ...icons, ...staffIcons };

/** Decoration beside a text, or in a button with a label for screen readers. */
export function Icon({ name, className = "size-5" }: { name: IconName; className?: string }) {
  return <StrokeIcon paths={all[name]} className={className} />;
}
