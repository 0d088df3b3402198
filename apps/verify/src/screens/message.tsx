import type { IconName } from "@assay/ui/icons";
import type { ReactNode } from "react";
import { Screen } from "../ui/screen.tsx";

/** A message for the person, and what they can do about it. */
export function MessageScreen({
  title,
  text,
  icon,
  children,
}: {
  title: string;
  text: string;
  icon: IconName;
  children?: ReactNode;
}) {
  return (
    <Screen title={title} lead={text} icon={icon}>
      {children}
    </Screen>
  );
}
