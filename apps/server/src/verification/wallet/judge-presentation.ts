import { X509Certificate } from "node:crypto";
import { serialize } from "node:v8";
import type { Environment } from "@assay/contract/facts";
import type { FailureCode } from "@assay/contract/sessions";
import type { HolderBinding } from "@assay/credential/holder-binding";
import type { JudgeContext } from "@assay/credential/judge-context";
import {
  type Accepted,
  type RefusalCause,
  type RefusalReason,
  refusalReasons,
  type Verdict,
} from "@assay/credential/verdict";
import type { Core } from "../../platform/core.ts";
import { tenantOf } from "../../platform/kernel/caller.ts";
import { dayMs } from "../../platform/kernel/clock.ts";
import { missingClaim } from "../evidence/wallet/claims.ts";
import {
  methodOfPurpose,
  type RevocationFound,
  type WalletContent,
  type WalletProof,
  type WalletWarning,
} from "../evidence/wallet/proof.ts";
import { walletAnchors } from "../trust/wallet-anchors.ts";
import { checkStatus } from "../wallet-status/check-status.ts";
import type { AgreedTerms } from "./wallet-request.store.ts";
import type { WalletRequest } from "./wallet-request.ts";
import { withoutMessage } from "./without-message.ts";

export type Judgement =
  | { kind: "passed"; proof: WalletProof }
  | { kind: "refused"; failureCode: FailureCode; reason: RefusalReason }
  /** Nothing is wrong with the credential, but no status list is available and the partner requires one. */
  | { kind: "revocation_unknown" };

const failureCodes = {
  authenticity: "document_authenticity_failed",
  holder: "holder_binding_failed",
  expired: "document_expired",
  data: "document_data_invalid",
} as const satisfies Record<RefusalCause, FailureCode>;

/** Judges a presentation, the status of its credential, and whether it has what the partner requires. */
export async function judgePresentation(
  core: Core,
  { request, terms, binding }: { request: WalletRequest; terms: AgreedTerms; binding: HolderBinding },
  judge: (context: Omit<JudgeContext, "asked">) => Promise<Verdict>,
): Promise<Judgement> {
  const now = core.clock.now();
  const { environment } = tenantOf(request);
  const anchors = await walletAnchors(core, environment, now);
  const verdict = await withoutMessage(() => judge({ binding, anchors, now, holderProof: "not_required" }));
  if (verdict.kind === "refused") return refused(verdict.reason);
  const content: WalletContent = { attributes: verdict.attributes, issuedIn: issuedIn(verdict) };
  const method = methodOfPurpose[verdict.purpose];
  const requiredKeys = terms.selectedFieldKeys.filter((key) => terms.shareFields[key]?.required);
  if (missingClaim(method, content, requiredKeys, now) !== null) return refused("claim_missing");
  const status = await statusOf(core, verdict, environment, now);
  if (status === "revoked" || status === "suspended") return refused(status);
  const isKnown = status.revocation === "checked" || status.revocation === "short_lived";
  if (terms.requirements.revocation === "required" && !isKnown) return { kind: "revocation_unknown" };
  const proof: WalletProof = {
    kind: "wallet",
    content: serialize(content),
    method,
    format: verdict.format,
    trust: verdict.anchor.list,
    holder: verdict.holder,
    revocation: status.revocation,
    binding: request.binding,
    warnings: [...warningsOf(verdict), ...status.warnings],
  };
  return { kind: "passed", proof };
}

function refused(reason: RefusalReason): Judgement {
  return { kind: "refused", failureCode: failureCodes[refusalReasons[reason]], reason };
}

function warningsOf({ attributes, anchor, disclosedMore }: Accepted): WalletWarning[] {
  const warnings: WalletWarning[] = [];
  if ((attributes.nationalities?.length ?? 0) > 1) warnings.push("more_nationalities");
  if (anchor.stale) warnings.push("trust_list_stale");
  if (disclosedMore) warnings.push("wallet_disclosed_more");
  return warnings;
}

type Status = { revocation: RevocationFound; warnings: readonly WalletWarning[] };

async function statusOf(
  core: Core,
  { status, purpose, validFrom, validUntil }: Accepted,
  environment: Environment,
  now: Date,
): Promise<Status | "revoked" | "suspended"> {
  const isShortLived = validUntil.getTime() - (validFrom ?? now).getTime() <= dayMs;
  if (status === null) return { revocation: isShortLived ? "short_lived" : "no_list", warnings: [] };
  const found = await checkStatus(core, status, { purpose, environment, now });
  switch (found) {
    case "revoked":
    case "suspended":
      return found;
    case "valid":
      return { revocation: "checked", warnings: [] };
    case "stale":
      return { revocation: isShortLived ? "short_lived" : "stale", warnings: ["status_list_stale"] };
    case "no_list":
      return { revocation: isShortLived ? "short_lived" : "no_list", warnings: ["status_list_missing"] };
  }
}

/** Country and state of the authority. A driving licence has a number of its state, not of its country. */
function issuedIn({ anchor }: Accepted): string {
  const { subject } = new X509Certificate(anchor.certificate);
  const parts = subject.split("\n").filter((line) => /^(C|ST)=/.test(line));
  return parts.sort().join(",");
}
