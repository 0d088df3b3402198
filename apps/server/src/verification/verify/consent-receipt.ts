import type { PageLanguage } from "@assay/contract/facts";
import type { SessionId } from "@assay/contract/ids";
import type { ConsentVariant } from "@assay/contract/verify";
import type { Core } from "../../platform/core.ts";
import type { ReceiptKeyRow } from "../../platform/key-ring/receipt-key.store.ts";
import { signReceipt } from "../../platform/key-ring/receipt-key.ts";
import type { ShareFields } from "../sessions/share-contract.ts";

/** What was asked and agreed, on which texts, and when. It does not identify the person. */
type ConsentReceipt = {
  jti: string;
  session_id: SessionId;
  sandbox: boolean;
  organization: { id: string; name: string; verified_domain: string | null };
  asked: ShareFields;
  agreed: string[];
  declined: string[];
  terms: { version: string; hash: string; language: PageLanguage | null; text?: ConsentVariant };
  given_at: string;
};

export function signConsentReceipt(
  core: Pick<Core, "ring">,
  key: ReceiptKeyRow,
  issuer: string,
  receipt: ConsentReceipt,
): Promise<string> {
  return signReceipt(core, "consent-receipt", key, {
    iss: issuer,
    iat: Math.floor(Date.parse(receipt.given_at) / 1000),
    ...receipt,
  });
}
