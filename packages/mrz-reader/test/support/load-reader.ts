import { readFileSync } from "node:fs";
import { MrzReader } from "../../src/mrz-reader.ts";
import { readNetworks } from "../../src/network-plan.ts";

const folder = new URL("../../networks/", import.meta.url);
export const networkFiles = ["mrz-reader.json", "mrz-reader.bin"] as const;

/** The reader with this package's weights, for programs outside the page: evaluation, benchmark, tests. */
export function loadReader(kind: "fast" | "plain" = "fast"): MrzReader {
  const plan: unknown = JSON.parse(readFileSync(new URL("mrz-reader.json", folder), "utf8"));
  return new MrzReader(
    readNetworks(plan, new Uint8Array(readFileSync(new URL("mrz-reader.bin", folder)))),
    kind,
  );
}
