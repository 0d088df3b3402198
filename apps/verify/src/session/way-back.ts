import type { Status } from "./api.ts";

/**
 * Whether the page leads back to the partner by itself. It stays on a failure, whose reasons people read, and
 * on a session that had already ended when it was opened.
 */
export function goesBackByItself(of: {
  status: Status["status"];
  sawItOpen: boolean;
  withdrawn: boolean;
}): boolean {
  return of.status === "succeeded" && of.sawItOpen && !of.withdrawn;
}
