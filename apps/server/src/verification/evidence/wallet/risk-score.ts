import type { WalletProof } from "./proof.ts";

/** Residual doubts after every check passed, as independent probabilities. */
const holderNotProven = 0.3;
const revocationDoubts = { checked: 0, short_lived: 0, stale: 0.05, no_list: 0.1 } as const;
const bindingDoubts = { platform: 0, same_browser: 0, handed_over: 0.1, cross_device: 0.2 } as const;
const trustListStale = 0.05;
const failedTry = 0.05;

export type WalletDoubts = {
  /** Null for a presentation that was refused. */
  proof: Pick<WalletProof, "holder" | "revocation" | "binding" | "warnings"> | null;
  /** Presentations of this session that were refused before. */
  failedTries: number;
};

/** 0 to 1, with three decimals; 1 minus the product of (1 - doubt), as for a document. */
export function riskScore({ proof, failedTries }: WalletDoubts): number {
  if (proof === null) return 1;
  const doubts = [
    proof.holder === "not_proven" ? holderNotProven : 0,
    revocationDoubts[proof.revocation],
    bindingDoubts[proof.binding],
    proof.warnings.includes("trust_list_stale") ? trustListStale : 0,
    ...Array.from({ length: failedTries }, () => failedTry),
  ];
  const trust = doubts.reduce((left, doubt) => left * (1 - doubt), 1);
  return Math.round((1 - trust) * 1000) / 1000;
}
