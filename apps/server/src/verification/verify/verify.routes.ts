import type { SessionId } from "@assay/contract/ids";
import type { DataOf } from "@assay/contract/route";
import * as contract from "@assay/contract/verify";
import type { Core } from "../../platform/core.ts";
import { type Binding, bind } from "../../platform/http/mount.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import { hashToken, newToken } from "../../platform/kernel/ids.ts";
import { openReceiptKey } from "../../platform/key-ring/receipt-key.ts";
import { publicJwk } from "../../platform/lib/jws.ts";
import { findLogo } from "../../tenants/organizations/logo.store.ts";
import { needsReturnCode } from "../sessions/return-code.ts";
import { findSessionOfPerson, putReturnCode, type SessionRow } from "../sessions/session.store.ts";
import { cancelByPerson } from "./cancel-by-person.ts";
import { findConsent, knowsCancelToken } from "./consent.store.ts";
import type { ConsentTexts } from "./consent-texts.ts";
import { declineByPerson } from "./decline-by-person.ts";
import { giveConsent } from "./give-consent.ts";
import { findWhoAsks, readDetails } from "./given-to-page.ts";
import { claimHandoff, createHandoff } from "./hand-over.ts";
import type { LogoCache } from "./logo-cache.ts";
import { readStatus } from "./read-status.ts";
import type { StatusFeed } from "./status-feed.ts";
import { serialisedTestDocuments } from "./test-documents.ts";
import { closingPage, shownLogo, viewConsent } from "./verify.view.ts";

export function verifyRoutes(core: Core, texts: ConsentTexts, feed: StatusFeed, logos: LogoCache): Binding[] {
  const { db, clock, publicUrl } = core;

  const findSession = async (id: SessionId): Promise<SessionRow> => {
    const session = await findSessionOfPerson(db, id);
    if (session === null) throw new ApiError("SESSION_NOT_FOUND");
    return session;
  };

  return [
    bind(contract.getVerifyDetails, async ({ params }) => {
      const details = await readDetails(core, texts, params.id);
      if (details === null) throw new ApiError("SESSION_NOT_FOUND");
      return details;
    }),

    bind(contract.getVerifyLogo, async ({ params }) => {
      const who = await findWhoAsks(core, await findSession(params.id));
      if (who === null) throw new ApiError("SESSION_NOT_FOUND");
      const { organization, domain } = who;
      const shown = shownLogo(organization, domain);
      const logo =
        shown === "uploaded"
          ? await findLogo(db, organization.id)
          : shown && (await logos.find(organization.id, shown.url));
      if (logo === null) throw new ApiError("LOGO_NOT_FOUND");
      return logo;
    }),

    // The code proves to the partner that the returning browser opened the session first. A script requests
    // it, so that programs which only fetch the link, such as mail scanners, do not take it from the person.
    bind(contract.openSession, async ({ params }) => {
      const session = await findSession(params.id);
      const code = newToken();
      const isGiven =
        needsReturnCode(session) && (await putReturnCode(db, session.id, hashToken(code), clock.now()));
      return { return_code: isGiven ? code : null };
    }),

    bind(contract.giveConsent, async ({ params, body }) => {
      const { consent, session, cancelToken } = await giveConsent(core, texts, {
        sessionId: params.id,
        selectedFieldKeys: body.selected_field_keys,
        termsVersion: body.terms_version,
        language: body.language ?? null,
        returnCode: body.return_code,
      });
      return {
        consent: viewConsent(consent, session),
        cancel_token: cancelToken,
        receipt: consent.receipt,
      };
    }),

    bind(contract.getConsentReceipt, async ({ params, request }) => {
      const session = await findSession(params.id);
      const known =
        request.bearer !== null && (await knowsCancelToken(db, session.id, hashToken(request.bearer)));
      if (!known) {
        throw new ApiError("CANCEL_TOKEN_INVALID", {
          message: "The bearer token is not a cancel token of this session.",
        });
      }
      const consent = await findConsent(db, session.id);
      if (consent === null) throw new ApiError("CONSENT_REQUIRED");
      return { consent: viewConsent(consent, session), receipt: consent.receipt };
    }),

    bind(contract.createHandoff, async ({ params, body }) => {
      const { token, expiresAt, now } = await createHandoff(core, params.id, body.cancel_token);
      return {
        handoff_token: token,
        handoff_url: `${publicUrl()}/verify/${params.id}#handoff=${token}`,
        expires_at: expiresAt.toISOString(),
        server_time: now.toISOString(),
      };
    }),

    bind(contract.claimHandoff, async ({ params, body }) => {
      const claimed = await claimHandoff(core, {
        sessionId: params.id,
        handoffToken: body.handoff_token,
        deviceId: body.device_id,
        returnCode: body.return_code,
      });
      return {
        attempt_id: claimed.attemptId,
        socket_token: claimed.socketToken,
        resumed: claimed.resumed,
        expires_at: claimed.expiresAt.toISOString(),
        server_time: claimed.now.toISOString(),
      };
    }),

    bind(contract.getVerifyStatus, async ({ params }) => {
      const status = await readStatus(core, params.id);
      if (status === null) throw new ApiError("SESSION_NOT_FOUND");
      return status;
    }),

    bind(contract.streamVerifyEvents, async ({ params, request }) => {
      await findSession(params.id);
      return feed.open(params.id, request.address);
    }),

    bind(contract.declineByPerson, async ({ params }) => {
      const { status, returnUrl } = await declineByPerson(core, params.id);
      return { status, redirect_url: returnUrl ?? closingPage(publicUrl(), params.id) };
    }),

    bind(contract.cancelByPerson, ({ params, body }) => cancelByPerson(core, params.id, body.cancel_token)),

    bind(contract.openVerifySocket, async () => {
      throw new ApiError("WEBSOCKET_REQUIRED", { headers: { upgrade: "websocket" } });
    }),

    bind(contract.getConsentTexts, async () => texts),

    bind(contract.listConsentReceiptKeys, async () => {
      const key = await openReceiptKey(core, db, "consent-receipt");
      return { keys: [publicJwk(key)] };
    }),

    bind(contract.listTestDocuments, async () => ({
      documents: serialisedTestDocuments(clock.now()) as DataOf<
        typeof contract.listTestDocuments
      >["documents"],
    })),
  ];
}
