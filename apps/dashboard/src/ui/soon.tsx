import { type ReactNode, useEffect, useState } from "react";

/**
 * Renders its content in a separate task, after the browser has painted the content before it. A single task
 * would block a slow phone noticeably.
 */
export function Soon({ instead, children }: { instead: ReactNode; children: ReactNode }) {
  const [now, setNow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setNow(true));
    return () => clearTimeout(timer);
  }, []);
  return now ? children : instead;
}
