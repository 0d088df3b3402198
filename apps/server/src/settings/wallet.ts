import { methods } from "@assay/contract/facts";
import { type Purpose, purposes } from "@assay/credential/trust-anchor";
import { Problem } from "./kinds.ts";

export type WalletMethod = `wallet_${Purpose}`;

export const walletMethods: readonly WalletMethod[] = methods.filter((method) => method !== "document_chip");

export const defaultSchemes: Readonly<Record<Purpose, string>> = {
  pid: "haip-vp",
  mdl: "openid4vp",
  age: "av",
};

export function parseMethods(text: string): readonly WalletMethod[] {
  const named = text.split(",").map((entry) => entry.trim());
  const known = walletMethods.filter((method) => named.includes(method));
  if (known.length !== named.length)
    throw new Problem(`must be a list of ${walletMethods.join(", ")}, each at most once`);
  return known;
}

/** Browsers handle these schemes themselves, so they cannot open a wallet. */
const browserSchemes = new Set(["about", "blob", "data", "file", "http", "https", "javascript"]);

export function parseSchemes(text: string): Readonly<Record<Purpose, string>> {
  const schemes = { ...defaultSchemes };
  for (const [index, entry] of text.split(",").entries()) {
    const [, name, scheme = ""] = /^\s*(\w+)\s*=\s*([a-z][a-z0-9+.-]*)\s*$/.exec(entry) ?? [];
    const purpose = purposes.find((known) => known === name);
    if (purpose === undefined || browserSchemes.has(scheme))
      throw new Problem(
        `entry ${index + 1} is not a purpose (${purposes.join(", ")}) with a scheme, like pid=haip-vp`,
      );
    schemes[purpose] = scheme;
  }
  return schemes;
}
