import { X509Certificate } from "node:crypto";
import { presets } from "@assay/contract/presets";
import type { Purpose } from "@assay/credential/trust-anchor";
import type { Config } from "../../config.ts";
import type { Core } from "../../platform/core.ts";
import { isOver, isStale, walletAnchors } from "../trust/wallet-anchors.ts";
import { listWalletImports } from "../trust/wallet-trust.store.ts";
import { isKeyOf } from "./current-identity.ts";
import { isRegistered } from "./registered-fields.ts";
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
    /** The certificate names the host of PUBLIC_URL, or no host. */
    isOfAddress: boolean;
    /** What presets of the dashboard require, and the registration does not list. */
    unregistered: readonly { purpose: Purpose; preset: string; field: string }[];
    registrations: readonly { isOfLeaf: boolean; expiresAt: Date | null }[];
  } | null;
  /** Authorities that count for live sessions. */
  anchors: Readonly<Record<Purpose, number>>;
  /** Live lists past their next update. */
  staleLists: readonly { label: string; purpose: Purpose; nextUpdate: Date; isOver: boolean }[];
  /** Days for which a stale list still counts. */
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
    identity: current === null ? null : describe(current, ring, config),
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

function describe(
  row: WalletIdentityRow,
  ring: Core["ring"],
  config: Pick<Config, "wallet" | "publicUrl">,
): WalletSummary["identity"] {
  const { chain, notAfter, registration } = row;
  const [leaf] = chain;
  if (leaf === undefined || notAfter === null) return null;
  return {
    notAfter,
    isKeyOfLeaf: isKeyOf(leaf, row, ring),
    hasAnchorInChain: chain.some((der) => isSelfSigned(new X509Certificate(der))),
    isOfAddress: isOfAddress(new X509Certificate(leaf), config.publicUrl),
    unregistered: config.wallet.methods.flatMap((method) =>
      method === "wallet_age" ? [] : unregisteredOf(registration, purposeOf[method]),
    ),
    registrations: registration.map((jwt) => {
      const read = readRegistration(jwt);
      return { isOfLeaf: read !== null && registrationFits(read, leaf), expiresAt: read?.expiresAt ?? null };
    }),
  };
}

function isOfAddress(leaf: X509Certificate, publicUrl: string): boolean {
  const namesHosts = /\bDNS:/.test(leaf.subjectAltName ?? "");
  if (!namesHosts || publicUrl === "") return true;
  return leaf.checkHost(new URL(publicUrl).hostname, { subject: "never" }) !== undefined;
}

/** The first such field of each preset. */
function unregisteredOf(registration: readonly string[], purpose: Purpose) {
  return presets.flatMap(({ label, wishes }) => {
    const required = Object.keys(wishes).filter((field) => wishes[field]?.required);
    const keys = required.map((field) => (field === "age_over" ? "age_over_18" : field));
    const field = keys.find((key) => !isRegistered(registration, purpose, key));
    return field === undefined ? [] : [{ purpose, preset: label, field }];
  });
}
