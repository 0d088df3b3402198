import type { Status } from "./api.ts";

/**
 * Whether the page leads back to the partner by itself. Nobody is taken away from the reasons of a failure while they read them, and
 * whoever comes to a session that has ended wants to see how.
 */
export function goesBackByItself(of: {
  status: Status["status"];
  sawItOpen: boolean;
  withdrawn: boolean;
}): boolean {
  return of.status === "succeeded" && of.sawItOpen && !of.withdrawn;
}
