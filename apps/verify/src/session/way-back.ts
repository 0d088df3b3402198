import type { Status } from "./api.ts";

/** The partner's address with the code of this browser in its query. */
export function withReturnCode(address: string | null, code: string | null): string | null {
  if (address === null || code === null) return address;
  const url = new URL(address);
  // Setting the text keeps the partner's own parameters as they were written.
  url.search = `${url.search === "" ? "?" : `${url.search}&`}return_code=${code}`;
  return url.href;
}

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
