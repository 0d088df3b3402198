import type { Environment } from "@assay/contract/facts";
import { testCountryAnchors } from "@assay/credential/test-country/test-signer";
import type { TrustAnchor } from "@assay/credential/trust-anchor";
import type { Config } from "../../config.ts";
import type { Core } from "../../platform/core.ts";
import { dayMs, later } from "../../platform/kernel/clock.ts";
import { listKinds, listWalletAnchors, type WalletAnchorRow } from "./wallet-trust.store.ts";

type Around = Pick<Core, "db" | "config">;

/** The trusted issuers of wallet credentials. Those of the sandbox do not count in live. */
export async function walletAnchors(
  around: Around,
  environment: Environment,
  now: Date,
): Promise<readonly TrustAnchor[]> {
  const rows = await listWalletAnchors(around.db, environment);
  const ofCredentials = rows.filter(({ signs }) => signs === "credentials");
  return countingAnchors(around, ofCredentials, environment, now);
}

/** The trusted signers of status lists: issuers, and authorities listed for that alone. */
export async function statusAnchors(
  around: Around,
  environment: Environment,
  now: Date,
): Promise<readonly TrustAnchor[]> {
  return countingAnchors(around, await listWalletAnchors(around.db, environment), environment, now);
}

function countingAnchors(
  { config }: Around,
  rows: readonly WalletAnchorRow[],
  environment: Environment,
  now: Date,
): readonly TrustAnchor[] {
  return environment === "sandbox"
    ? [
        ...testCountryAnchors(),
        ...anchorsOf(rows, now).map((anchor) => ({ ...anchor, list: "sandbox" as const })),
      ]
    : anchorsOf(
        rows.filter((row) => !isOver(row, config, now)),
        now,
      );
}

export function isStale({ nextUpdate }: Pick<WalletAnchorRow, "nextUpdate">, now: Date): boolean {
  return nextUpdate !== null && nextUpdate < now;
}

/** So stale that live sessions ignore it. Some delay is normal: AAMVA replaces its VICAL daily. */
export function isOver(
  { nextUpdate }: Pick<WalletAnchorRow, "nextUpdate">,
  { wallet }: Pick<Config, "wallet">,
  now: Date,
): boolean {
  return nextUpdate !== null && later(nextUpdate, wallet.listGraceDays * dayMs) < now;
}

/** If several lists name an authority, the best counts: a fresh one, then one that others publish. */
function anchorsOf(rows: readonly WalletAnchorRow[], now: Date): TrustAnchor[] {
  const best = new Map<string, TrustAnchor>();
  for (const row of rows) {
    const key = `${row.purpose} ${row.sha256}`;
    const anchor: TrustAnchor = {
      purpose: row.purpose,
      certificate: new Uint8Array(row.certificate),
      list: listKinds[row.type],
      stale: isStale(row, now),
    };
    const known = best.get(key);
    if (known === undefined || rankOf(anchor) < rankOf(known)) best.set(key, anchor);
  }
  return [...best.values()];
}

function rankOf({ stale, list }: TrustAnchor): number {
  return (stale ? 10 : 0) + ["eu_list", "vical", "operator", "sandbox"].indexOf(list);
}
