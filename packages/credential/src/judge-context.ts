import type { AskedCredential } from "./asked.ts";
import type { HolderBinding } from "./holder-binding.ts";
import type { TrustAnchor } from "./trust-anchor.ts";

/** The context in which a presentation is judged. None of it comes from the wallet. */
export type JudgeContext = {
  asked: AskedCredential;
  binding: HolderBinding;
  /** For every purpose; the judge selects those of the requested purpose. */
  anchors: readonly TrustAnchor[];
  now: Date;
  /**
   * Counts for purpose `age` only: a proof of age may come without the holder's signature.
   * A wrong one is refused all the same.
   */
  holderProof: "required" | "not_required";
};
