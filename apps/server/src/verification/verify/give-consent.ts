import type { PageLanguage } from "@assay/contract/facts";
import type { ConsentId, SessionId } from "@assay/contract/ids";
import type { Core } from "../../platform/core.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import { hashToken, newToken, newUuid } from "../../platform/kernel/ids.ts";
import { receiptKeyOf } from "../../platform/key-ring/receipt-key.store.ts";
import { openReceiptKey } from "../../platform/key-ring/receipt-key.ts";
import { findShownDomain } from "../../tenants/domains/domain.store.ts";
import { sessionChannel } from "../sessions/end-session.ts";
import { isBoundElsewhere } from "../sessions/return-code.ts";
import type { SessionRow } from "../sessions/session.store.ts";
import { type ConsentRow, putConsent } from "./consent.store.ts";
import { decideConsent } from "./consent.ts";
import { signConsentReceipt } from "./consent-receipt.ts";
import { type ConsentTexts, shownText } from "./consent-texts.ts";
import { deleteHandoffTokens } from "./handoff.store.ts";
import { lockOpenSessionOfPerson } from "./session-of-person.ts";

type Request = {
  sessionId: SessionId;
  selectedFieldKeys: readonly string[];
  termsVersion: string;
  language: PageLanguage | null;
  returnCode: string | undefined;
};
type Given = { consent: ConsentRow; session: SessionRow; cancelToken: string };

/** The person agrees, and may choose again until a device has claimed the session. */
export async function giveConsent(core: Core, texts: ConsentTexts, request: Request): Promise<Given> {
  for (;;) {
    const given = await storeConsent(core, texts, request);
    if (given !== "no_receipt_key") return given;
    // Created outside of the transaction, so that a rollback does not lose the key.
    await openReceiptKey(core, core.db, "consent-receipt");
  }
}

function storeConsent(core: Core, texts: ConsentTexts, request: Request): Promise<Given | "no_receipt_key"> {
  const { db, clock } = core;
  return db.transaction(async (tx) => {
    const now = clock.now();
    const {
      session,
      organization,
      answer: key,
    } = await lockOpenSessionOfPerson(tx, request.sessionId, now, receiptKeyOf("consent-receipt"));
    if (isBoundElsewhere(session, request.returnCode)) throw new ApiError("OTHER_BROWSER");
    if (session.status !== "created") throw new ApiError("CONSENT_FIXED");
    const choice = decideConsent(session.shareFields, request.selectedFieldKeys);
    if ("problem" in choice) throw badChoice(choice.problem);
    if (request.termsVersion !== texts.version) {
      throw new ApiError("CONSENT_TEXTS_CHANGED", {
        message: "`terms_version` is not the current version of the texts.",
        hint: "Show the person the current texts (GET /v1/verify/consent-texts) and ask again.",
      });
    }
    if (key === null) return "no_receipt_key";
    const id = newUuid<ConsentId>(now);
    const shown = shownText(texts, session.methods);
    const domain = await findShownDomain(tx, organization.id, session.redirectUrl);
    const receipt = await signConsentReceipt(core, key, core.publicUrl(), {
      jti: id,
      session_id: session.id,
      sandbox: session.sandbox,
      organization: { id: organization.id, name: organization.name, verified_domain: domain },
      asked: session.shareFields,
      agreed: choice.selected,
      declined: choice.declined,
      terms: {
        version: texts.version,
        hash: texts.hash,
        language: request.language,
        // Receipts of other sessions stay as they were.
        ...(shown === "paragraphs" ? {} : { text: shown }),
      },
      given_at: now.toISOString(),
    });
    const cancelToken = newToken();
    const consent = {
      sessionId: session.id,
      organizationId: organization.id,
      id,
      selectedFieldKeys: choice.selected,
      termsVersion: texts.version,
      termsHash: texts.hash,
      language: request.language,
      receipt,
      cancelTokenHash: hashToken(cancelToken),
      givenAt: now,
      withdrawnAt: null,
    };
    putConsent(tx, consent);
    // Tokens created under an earlier consent become void.
    await deleteHandoffTokens(tx, [session.id]);
    tx.notify(sessionChannel, session.id);
    return { consent, session, cancelToken };
  });
}

function badChoice(problem: { kind: "unknown" | "required"; key: string }): ApiError {
  return problem.kind === "unknown"
    ? new ApiError("FIELD_NOT_ASKED", {
        message: `\`selected_field_keys\` holds \`${problem.key.slice(0, 80)}\`, which was not asked for.`,
        hint: "Choose among the keys of `share_fields`.",
      })
    : new ApiError("REQUIRED_FIELD_DECLINED", {
        message: `\`selected_field_keys\` lacks \`${problem.key}\`, which is required.`,
        hint: "A required field cannot be left out; a person who does not want to share it cancels instead.",
      });
}
