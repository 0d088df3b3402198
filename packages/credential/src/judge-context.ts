import type { AskedCredential } from "./asked.ts";
import type { HolderBinding } from "./holder-binding.ts";
import type { TrustAnchor } from "./trust-anchor.ts";

/** What a presentation is judged by. None of it comes from the wallet. */
export type JudgeContext = {
  asked: AskedCredential;
  binding: HolderBinding;
  /** Of every purpose; the judge takes those of the purpose that is asked for. */
  anchors: readonly TrustAnchor[];
  now: Date;
  /**
   * Counts for purpose `age` only: a proof of age may come without the holder's signature.
   * A wrong one is refused all the same.
   */
  holderProof: "required" | "not_required";
};
