import { dcqlQuery } from "@assay/credential/dcql/query";
import { registrationInfo, signRequest } from "@assay/credential/openid4vp/request";
import type { Core } from "../../platform/core.ts";
import { tenantOf } from "../../platform/kernel/caller.ts";
import { hashToken } from "../../platform/kernel/ids.ts";
import { walletAnchors } from "../trust/wallet-anchors.ts";
import { walletIdentityByClientId } from "../wallet-identity/current-identity.ts";
import { responseUri } from "./addresses.ts";
import { openResponseKey } from "./response-key.ts";
import { findRequest, markFetched } from "./wallet-request.store.ts";
import { mayFetch } from "./wallet-request.ts";

/** The signed request object. Null if the request does not exist or is over. */
export async function serveRequest(
  core: Core,
  requestId: string,
  fetched: { method: "GET" | "POST"; walletNonce: string | null },
): Promise<string | null> {
  const { db, clock } = core;
  const now = clock.now();
  const request = await findRequest(db, hashToken(requestId));
  if (request === null || request.clientId === null || !mayFetch(request, fetched.method, now)) return null;
  const { environment } = tenantOf(request);
  const responseKey = openResponseKey(core, request);
  const identity = await walletIdentityByClientId(core, request.clientId);
  if (identity === null || responseKey === null || !(await markFetched(db, request, now))) return null;
  return signRequest(
    {
      clientId: request.clientId,
      nonce: request.nonce,
      state: requestId,
      responseUri: responseUri(core.publicUrl(), requestId),
      responseMode: "direct_post.jwt",
      query: dcqlQuery(request.asked, await walletAnchors(core, environment, now)),
      encryptionKey: responseKey.publicKey,
      verifierInfo: registrationInfo(identity.registration),
      walletNonce: fetched.walletNonce,
      expectedOrigins: null,
      issuedAt: now,
    },
    identity,
  );
}
