import type { Details, Status } from "../session/api.ts";
import type { Kept } from "../session/kept.ts";
import { goBack } from "./partner-page.ts";

/** Where this browser returns to, with its code. The code is for one return only. */
export function wayBack(to: string | null, kept: Pick<Kept, "returnCode">) {
  const url = withReturnCode(to, kept.returnCode);
  const forget = () => {
    kept.returnCode = null;
  };
  const go = () => {
    forget();
    goBack(url);
  };
  return { url, forget, go };
}

/** Whether the partner gave an address; without one the person stays on this service's closing page. */
export function hasRedirect({ id, redirect_url: address }: Pick<Details, "id" | "redirect_url">): boolean {
  return !address.endsWith(`/verify/${id}/complete`);
}

/** The partner's address with the code of this browser in its query. */
function withReturnCode(address: string | null, code: string | null): string | null {
  if (address === null || code === null) return address;
  const url = new URL(address);
  // Setting the text keeps the partner's own parameters as they were written.
  url.search = `${url.search === "" ? "?" : `${url.search}&`}return_code=${code}`;
  return url.href;
}

/**
 * Whether the page returns to the partner automatically. It stays on a failure, so that people can read the
 * reasons, and on a session that had ended before it was opened.
 */
export function goesBackByItself(of: {
  status: Status["status"];
  sawItOpen: boolean;
  withdrawn: boolean;
}): boolean {
  return of.status === "succeeded" && of.sawItOpen && !of.withdrawn;
}
