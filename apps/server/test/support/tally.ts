import { appendFileSync } from "node:fs";

/** What the parts of `npm run prove` count. */
export type Counted =
  | "faults struck"
  | "sessions acknowledged"
  | "verifications succeeded"
  | "webhook events received"
  | "processes killed"
  | "tests of the release before"
  | "tests of this release on its schema"
  | "bytes searched for canaries"
  | "requests from outside the organization"
  | "requests checked against access rules"
  | "hostile URLs refused"
  | "slow connections ended"
  | "wallet presentations refused"
  | "hostile inputs"
  | "hostile requests";

/** Counts for `npm run prove`, which fails if a part did too little. Does nothing in other runs. */
export function tally(what: Counted, count = 1): void {
  const file = process.env.ASSAY_TALLY_FILE;
  if (file !== undefined) appendFileSync(file, `${count} ${what}\n`);
}
