import { useState } from "react";
import type { Kept } from "./kept.ts";

/**
 * Whether the person confirmed that they started this, and the function to confirm.
 * A reload does not ask again.
 */
export function useStarted(kept: Kept): [isStarted: boolean, onStarted: () => void] {
  const [isStarted, setStarted] = useState(kept.startedByPerson);
  const onStarted = () => {
    kept.startedByPerson = true;
    setStarted(true);
  };
  return [isStarted, onStarted];
}
