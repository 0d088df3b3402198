import { CredentialError } from "../credential-error.ts";
import type { JsonObject } from "../json.ts";

/** The year 9999. Later times do not fit into a date of every system. */
export const maxSeconds = 253_402_300_799;

/** `exp`, `nbf` or `iat` of a JWT. Null where it is absent. */
export function dateOf(claims: JsonObject, name: "exp" | "nbf" | "iat"): Date | null {
  const seconds = claims[name];
  if (seconds === undefined) return null;
  if (typeof seconds !== "number" || seconds < 0 || seconds > maxSeconds)
    throw new CredentialError("malformed", `JWT: ${name} is no time`);
  return new Date(Math.floor(seconds * 1000));
}

/** Clocks of issuers and phones go wrong by seconds. More than a minute is another time. */
const clockSkewMilliseconds = 60_000;

export function isInFuture(date: Date, now: Date): boolean {
  return date.getTime() > now.getTime() + clockSkewMilliseconds;
}
