import { type ReactNode, useEffect, useState } from "react";

/**
 * Drawn in a task of its own, after what stands before it was shown. Drawn together, the two would hold up a slow phone
 * for long enough to be felt.
 */
export function Soon({ instead, children }: { instead: ReactNode; children: ReactNode }) {
  const [now, setNow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setNow(true));
    return () => clearTimeout(timer);
  }, []);
  return now ? children : instead;
}
