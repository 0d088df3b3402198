import { X509Certificate } from "node:crypto";
import type { Purpose } from "@assay/credential/trust-anchor";
import type { Core } from "../../platform/core.ts";
import { isOver, isStale, walletAnchors } from "../trust/wallet-anchors.ts";
import { listWalletImports } from "../trust/wallet-trust.store.ts";
import { isKeyOf } from "./current-identity.ts";
import { findCurrentIdentity, type WalletIdentityRow } from "./wallet-identity.store.ts";
import { isSelfSigned, readRegistration, registrationFits } from "./wallet-identity.ts";

export type WalletSummary = {
  /** The methods that live sessions may list, by their purpose. */
  offered: readonly Purpose[];
  /** The identity that signs live requests now. */
  identity: {
    notAfter: Date;
    isKeyOfLeaf: boolean;
    hasAnchorInChain: boolean;
    registrations: readonly { isOfLeaf: boolean; expiresAt: Date | null }[];
  } | null;
  /** Authorities that count for live sessions. */
  anchors: Readonly<Record<Purpose, number>>;
  /** Live lists past their next update. */
  staleLists: readonly { label: string; purpose: Purpose; nextUpdate: Date; isOver: boolean }[];
  /** For which a stale list still counts. */
  listGraceDays: number;
};

/** What an operator should know about wallets. */
export async function summarizeWallet({
  db,
  clock,
  config,
  ring,
}: Pick<Core, "db" | "clock" | "config" | "ring">): Promise<WalletSummary> {
  const now = clock.now();
  const anchors: Record<Purpose, number> = { pid: 0, mdl: 0, age: 0 };
  for (const { purpose } of await walletAnchors({ db, config }, "live", now)) anchors[purpose] += 1;
  const current = await findCurrentIdentity(db, "live", now);
  const lists = await listWalletImports(db);
  return {
    offered: config.wallet.methods.map((method) => purposeOf[method]),
    identity: current === null ? null : describe(current, ring),
    anchors,
    listGraceDays: config.wallet.listGraceDays,
    staleLists: lists.flatMap((list) => {
      const { label, purpose, scope, nextUpdate } = list;
      return scope === "sandbox" || nextUpdate === null || !isStale(list, now)
        ? []
        : [{ label, purpose, nextUpdate, isOver: isOver(list, config, now) }];
    }),
  };
}

const purposeOf = { wallet_pid: "pid", wallet_mdl: "mdl", wallet_age: "age" } as const;

function describe(row: WalletIdentityRow, ring: Core["ring"]): WalletSummary["identity"] {
  const { chain, notAfter, registration } = row;
  const [leaf] = chain;
  if (leaf === undefined || notAfter === null) return null;
  return {
    notAfter,
    isKeyOfLeaf: isKeyOf(leaf, row, ring),
    hasAnchorInChain: chain.some((der) => isSelfSigned(new X509Certificate(der))),
    registrations: registration.map((jwt) => {
      const read = readRegistration(jwt);
      return { isOfLeaf: read !== null && registrationFits(read, leaf), expiresAt: read?.expiresAt ?? null };
    }),
  };
}
