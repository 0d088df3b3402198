import type { WalletMethod } from "@assay/contract/wallet-facts";
import type { CredentialFormat } from "@assay/credential/asked";
import type { ListKind, Purpose } from "@assay/credential/trust-anchor";
import type { Attributes } from "@assay/credential/verdict";

/** What an accepted credential says about its holder. */
export type WalletContent = {
  attributes: Attributes;
  /** Country and, if present, state of the authority. With the number they identify the document. */
  issuedIn: string;
};

export type RevocationFound = "checked" | "short_lived" | "stale" | "no_list";
export type WalletBinding = "platform" | "same_browser" | "handed_over" | "cross_device";
export type WalletWarning =
  | "more_nationalities"
  | "trust_list_stale"
  | "wallet_disclosed_more"
  | "status_list_stale"
  | "status_list_missing";

/** A credential that was verified. */
export type WalletProof = {
  kind: "wallet";
  /** `WalletContent` in the form of a structured clone: bytes, so that they can be overwritten. */
  content: Uint8Array;
  method: WalletMethod;
  format: CredentialFormat;
  trust: ListKind;
  holder: "key_proven" | "not_proven";
  revocation: RevocationFound;
  binding: WalletBinding;
  warnings: readonly WalletWarning[];
};

export function overwriteProof(proof: WalletProof): void {
  proof.content.fill(0);
}

export const purposeOf = {
  wallet_pid: "pid",
  wallet_mdl: "mdl",
  wallet_age: "age",
} as const satisfies Record<WalletMethod, Purpose>;

export const methodOfPurpose = {
  pid: "wallet_pid",
  mdl: "wallet_mdl",
  age: "wallet_age",
} as const satisfies Record<Purpose, WalletMethod>;
