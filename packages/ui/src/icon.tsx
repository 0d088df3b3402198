import { type IconName, icons } from "./icons.ts";
import { StrokeIcon } from "./stroke-icon.tsx";

/** Decoration beside words, never in place of them. */
export function Icon({ name, className = "size-5" }: { name: IconName; className?: string }) {
  return <StrokeIcon paths={icons[name]} className={className} />;
}
