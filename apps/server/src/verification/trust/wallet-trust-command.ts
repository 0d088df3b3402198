import { createHash, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import type { Environment } from "@assay/contract/facts";
import { type Purpose, purposes } from "@assay/credential/trust-anchor";
import type { Config } from "../../config.ts";
import type { Db } from "../../platform/db/db.ts";
import { describeWalletImport } from "./describe-import.ts";
import { readWalletList } from "./read-wallet-list.ts";
import { changeTrust } from "./trust.store.ts";
import { isOver, isStale } from "./wallet-anchors.ts";
import {
  insertWalletImport,
  listKinds,
  listWalletAnchors,
  listWalletImports,
  type WalletImportRow,
} from "./wallet-trust.store.ts";

type Print = (line: string) => void;
type Grace = Pick<Config, "wallet">;

type WalletImportRequest = {
  readonly file: string;
  readonly purpose: Purpose;
  readonly scope: Environment;
  readonly pinnedSha256: readonly string[];
  readonly now: Date;
  readonly config: Grace;
};

/** `assay trust import --purpose`. The exit code is 1 when nothing of the file could be used. */
export async function importWalletTrustFile(
  db: Db,
  { file, purpose, scope, pinnedSha256, now, config }: WalletImportRequest,
  print: Print,
): Promise<number> {
  const pins = pinnedSha256.map((pin) => pin.replaceAll(":", "").toLowerCase());
  if (pins.some((pin) => !/^[0-9a-f]{64}$/.test(pin))) {
    print("A pin must be a SHA-256 fingerprint: 64 hexadecimal digits, with or without colons.");
    return 1;
  }
  const bytes = new Uint8Array(await readFile(file));
  const answer = await readWalletList(bytes, { purpose, pins, broughtBy: "command", now });
  if (answer.kind === "refused") {
    print(`Not imported: ${answer.reason}.`);
    return 1;
  }
  for (const item of answer.leftOut) print(`Left out ${item}.`);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const imported = { ...answer.list, sha256, purpose, scope, label: basename(file), importedAt: now };
  const act = describeWalletImport(imported);
  await changeTrust(db, now, "command", async (tx) =>
    (await insertWalletImport(tx, imported)) ? [act] : [],
  );
  print(`Imported ${act.detail}.`);
  const { nextUpdate } = imported;
  if (nextUpdate !== null)
    print(stateOf({ nextUpdate, scope }, config, now) ?? `Its publisher replaces it by ${day(nextUpdate)}.`);
  return 0;
}

/** `assay trust list --purpose`: every authority of a purpose, with the list that names it. */
export async function listWalletTrust(
  db: Db,
  { purpose, json, now, config }: { purpose: Purpose; json: boolean; now: Date; config: Grace },
  print: Print,
): Promise<number> {
  let shown = 0;
  for (const scope of ["live", "sandbox"] as const)
    for (const row of await listWalletAnchors(db, scope)) {
      if (row.purpose !== purpose || row.signs !== "credentials") continue;
      shown += 1;
      const certificate = new X509Certificate(row.certificate);
      const subject = certificate.subject.replaceAll("\n", ", ");
      const until = day(certificate.validToDate);
      const state =
        isOver(row, config, now) && scope === "live" ? "over" : isStale(row, now) ? "stale" : "fresh";
      const list = listKinds[row.type];
      print(
        json
          ? JSON.stringify({ purpose, scope, fingerprint: row.sha256, until, subject, list, state })
          : `${purpose}  ${scope}  ${row.sha256}  until ${until}  ${subject}; named by ${list}, ${state}`,
      );
    }
  if (shown === 0 && !json)
    print(
      `No issuer is trusted for ${purpose}. Import a list with \`assay trust import --purpose ${purpose}\`.`,
    );
  return 0;
}

/** The part of `assay trust status` about wallets. */
export async function printWalletTrust(db: Db, config: Grace, now: Date, print: Print): Promise<void> {
  const imports = await listWalletImports(db);
  if (imports.length === 0) return;
  const countOf = (purpose: Purpose) =>
    imports
      .filter((row) => row.purpose === purpose && row.scope === "live" && !isOver(row, config, now))
      .reduce((sum, { anchors }) => sum + anchors, 0);
  print(`Wallet issuers: ${purposes.map((purpose) => `${countOf(purpose)} for ${purpose}`).join(", ")}.`);
  for (const row of imports) {
    const state = stateOf(row, config, now);
    if (state !== null) print(`    ${row.sha256.slice(0, 16)}  ${row.label}: ${state}`);
  }
}

/** What an operator should know about the age of a list; null where it is fresh. */
function stateOf(
  list: Pick<WalletImportRow, "nextUpdate" | "scope">,
  config: Grace,
  now: Date,
): string | null {
  if (list.nextUpdate === null || !isStale(list, now)) return null;
  const due = `Its next update was due on ${day(list.nextUpdate)}`;
  return list.scope === "live" && isOver(list, config, now)
    ? `${due}, more than ${config.wallet.listGraceDays} days ago: it no longer counts.`
    : `${due}: it is stale.`;
}

function day(at: Date): string {
  return at.toISOString().slice(0, 10);
}
