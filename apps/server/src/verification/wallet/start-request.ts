import { defaultMethods } from "@assay/contract/facts";
import type { SessionId } from "@assay/contract/ids";
import type { WalletChannel, WalletMethod } from "@assay/contract/wallet-facts";
import type { AskedCredential } from "@assay/credential/asked";
import { askedFor } from "@assay/credential/dcql/ask";
import { dcqlQuery } from "@assay/credential/dcql/query";
import { ageLink, registrationInfo, signRequest, walletLink } from "@assay/credential/openid4vp/request";
import type { TrustAnchor } from "@assay/credential/trust-anchor";
import type { Core } from "../../platform/core.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import { tenantOf } from "../../platform/kernel/caller.ts";
import { hashToken, newToken } from "../../platform/kernel/ids.ts";
import { putSocketToken } from "../attempts/attempt-socket.store.ts";
import type { Operator } from "../evidence/kind.ts";
import { purposeOf, type WalletBinding } from "../evidence/wallet/proof.ts";
import { isWalletMethod } from "../evidence/wallet/wallet.ts";
import { claimRefusals, claimSession } from "../sessions/claim-session.ts";
import { operatorOf } from "../sessions/operator.ts";
import { isBoundElsewhere, isFirstBrowser } from "../sessions/return-code.ts";
import { findSessionOfPerson, type SessionRow } from "../sessions/session.store.ts";
import { wayOf, waysToSatisfy } from "../sessions/ways.ts";
import { walletAnchors } from "../trust/wallet-anchors.ts";
import { consentOf } from "../verify/consent.store.ts";
import { lockOpenSessionOfPerson } from "../verify/session-of-person.ts";
import { currentWalletIdentity, type WalletIdentity } from "../wallet-identity/current-identity.ts";
import { isRegistered, onlyRegistered } from "../wallet-identity/registered-fields.ts";
import { requestUri, responseUri } from "./addresses.ts";
import { annexCRequests } from "./annex-c.ts";
import { newResponseKey, readResponseKey } from "./response-key.ts";
import { putRequest } from "./wallet-request.store.ts";
import { requestExpiry, type WalletRequest } from "./wallet-request.ts";

type Start = {
  sessionId: SessionId;
  channel: WalletChannel;
  method: WalletMethod | undefined;
  returnCode: string | undefined;
  cancelToken: string | undefined;
};

export type DcRequest = { requests: { protocol: string; data: Record<string, unknown> }[] };

type Started = {
  requestId: string;
  /** For the cookie of the browser. */
  browserSecret: string;
  expiresAt: Date;
  link: string | null;
  dcRequest: DcRequest | null;
};

/** Requests what the person agreed to, in a new or the open attempt. Retires the request before. */
export async function startRequest(core: Core, start: Start): Promise<Started> {
  const { db, clock, ring } = core;
  const found = await findSessionOfPerson(db, start.sessionId);
  if (found === null) throw new ApiError("SESSION_NOT_FOUND");
  const { environment } = tenantOf(found);
  const identity = await currentWalletIdentity(core, environment);
  if (identity === null && start.channel !== "age_link") throw new ApiError("WALLET_NOT_OFFERED");
  const operator = await operatorOf(core, found);
  const anchors = await walletAnchors(core, environment, clock.now());
  // Each is drawn separately, so that none can be derived from another.
  const requestId = newToken();
  const nonce = newToken();
  const browserSecret = newToken();
  const responseKey = newResponseKey();
  const idHash = hashToken(requestId);
  const request = await db.transaction(async (tx): Promise<WalletRequest> => {
    const now = clock.now();
    const { session, answer: consent } = await lockOpenSessionOfPerson(
      tx,
      start.sessionId,
      now,
      consentOf(start.sessionId),
    );
    if (consent === null) throw new ApiError("CONSENT_REQUIRED");
    if (isBoundElsewhere(session, start.returnCode)) throw new ApiError("OTHER_BROWSER");
    const mayTakeOver = start.cancelToken !== undefined;
    if (mayTakeOver && !consent.cancelTokenHash.equals(hashToken(start.cancelToken ?? "")))
      throw new ApiError("CANCEL_TOKEN_INVALID");
    const fields = consent.selectedFieldKeys.map((key) => ({
      key,
      required: session.shareFields[key]?.required ?? false,
    }));
    const ways = offered(operator, session, fields, start);
    const asked = ways.flatMap((method) => askedBy(method, fields, operator));
    if (asked.length === 0) throw new ApiError("WALLET_NOT_OFFERED");
    const claimed = await claimSession(tx, session, { deviceHash: null, mayTakeOver, now });
    if (claimed.kind === "refused") throw new ApiError(claimRefusals[claimed.why]);
    const { attemptId } = claimed;
    const { id: sessionId, organizationId, sandbox } = session;
    // No device connects to this attempt. The row holds the step that the page shows.
    const tokenHash = hashToken(newToken());
    putSocketToken(tx, { attemptId, sessionId, organizationId, tokenHash, step: "wallet", now });
    const made: WalletRequest = {
      idHash,
      sessionId,
      organizationId,
      sandbox,
      attemptId,
      channel: start.channel,
      asked,
      nonce,
      clientId: start.channel === "age_link" ? null : (identity?.clientId ?? null),
      responseKeySealed:
        start.channel === "age_link"
          ? null
          : ring.seal("wallet-response", responseKey, idHash.toString("hex")),
      browserHash: hashToken(browserSecret),
      binding: bindingOf(start, session),
      state: "made",
      expiresAt: requestExpiry(now, session.expiresAt),
      fetchedAt: null,
    };
    putRequest(tx, made, now);
    return made;
  });
  const asking = { core, request, requestId, anchors, responseKey };
  return {
    requestId,
    browserSecret,
    expiresAt: request.expiresAt,
    link: linkOf(asking),
    dcRequest: start.channel === "dc_api" && identity !== null ? await dcRequestOf(asking, identity) : null,
  };
}

/** The wallet methods that the channel has, and that can give what the person agreed to. */
function offered(
  operator: Operator,
  session: SessionRow,
  fields: readonly { key: string; required: boolean }[],
  { channel, method: only }: Start,
): readonly WalletMethod[] {
  const { requirements } = session;
  const fieldKeys = fields.map(({ key }) => key);
  const shareFields = Object.fromEntries(fields.map(({ key, required }) => [key, { required }]));
  return waysToSatisfy({ shareFields, requirements }, session.methods ?? defaultMethods, operator)
    .filter(isWalletMethod)
    .filter((method) => only === undefined || method === only)
    .filter((method) => wayOf(method, { requirements, fieldKeys }, operator).channels.includes(channel));
}

/** Optional fields that the operator is not registered to ask for are left out. */
function askedBy(
  method: WalletMethod,
  fields: readonly { key: string; required: boolean }[],
  { registration }: Operator,
): readonly AskedCredential[] {
  const purpose = purposeOf[method];
  if (method === "wallet_age" || registration === null) return askedFor([purpose], fields);
  const registered = fields.filter(
    ({ key, required }) => required || isRegistered(registration, purpose, key),
  );
  return onlyRegistered(registration, askedFor([purpose], registered));
}

function bindingOf({ channel, returnCode }: Start, session: SessionRow): WalletBinding {
  if (channel === "dc_api") return "platform";
  if (channel === "age_link") return "cross_device";
  // If no page has opened the session, this browser is the first.
  const isFirst = session.returnCodeHash === null || isFirstBrowser(session, returnCode);
  return isFirst ? "same_browser" : "handed_over";
}

type Asking = {
  core: Core;
  request: WalletRequest;
  requestId: string;
  anchors: readonly TrustAnchor[];
  responseKey: string;
};

function linkOf({ core, request, requestId, anchors }: Asking): string | null {
  const { schemes } = core.config.wallet;
  const publicUrl = core.publicUrl();
  switch (request.channel) {
    case "redirect": {
      const scheme = schemes[request.asked[0]?.purpose ?? "pid"];
      const { clientId } = request;
      return clientId === null ? null : walletLink(scheme, clientId, requestUri(publicUrl, requestId));
    }
    case "age_link":
      return ageLink({
        scheme: schemes.age,
        responseUri: responseUri(publicUrl, requestId),
        nonce: request.nonce,
        state: requestId,
        query: dcqlQuery(request.asked, anchors),
      });
    case "dc_api":
      return null;
  }
}

/** Both protocols in one call. Licence and age proof are two Annex C requests; a wallet answers one. */
async function dcRequestOf(
  { core, request, anchors, responseKey }: Asking,
  identity: WalletIdentity,
): Promise<DcRequest> {
  const key = readResponseKey(responseKey);
  const { origin } = new URL(core.publicUrl());
  const signed = await signRequest(
    {
      clientId: identity.clientId,
      nonce: request.nonce,
      state: null,
      responseUri: null,
      responseMode: "dc_api.jwt",
      query: dcqlQuery(request.asked, anchors),
      encryptionKey: key.publicKey,
      verifierInfo: registrationInfo(identity.registration),
      walletNonce: null,
      expectedOrigins: [origin],
      issuedAt: core.clock.now(),
    },
    identity,
  );
  return {
    requests: [
      { protocol: "openid4vp-v1-signed", data: { request: signed } },
      ...(await annexCRequests(request, key, { identity, origin })),
    ],
  };
}
