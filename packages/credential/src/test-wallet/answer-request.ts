import { answerAsWallet } from "../openid4vp/answer-as-wallet.ts";
import { presentSpecimen } from "../test-country/present-specimen.ts";
import type { WalletOutcome } from "../test-country/wallet-outcomes.ts";
import { type Fetch, type ReadRequest, TestWalletError } from "./read-request.ts";

/**
 * Answers at the endpoint that the request names, with the first requested credential or the one of
 * `credentialId`. Returns the address for the person, or null if the service gives none.
 */
export async function answerRequest(
  request: ReadRequest,
  outcome: WalletOutcome,
  { fetch: send, now, credentialId }: { fetch: Fetch; now: Date; credentialId?: string },
): Promise<{ redirectUri: string | null }> {
  const credential = request.query.credentials.find(
    ({ id }) => credentialId === undefined || id === credentialId,
  );
  if (credential === undefined) throw new TestWalletError("The request does not ask for this credential.");
  const form = await answerAsWallet(
    outcome === "declines"
      ? { kind: "declined", error: "access_denied" }
      : {
          kind: "presented",
          id: credential.id,
          presentation: await presentSpecimen({ credential, request, outcome, now }),
        },
    request,
  );
  const response = await send(request.responseUri, { method: "POST", body: new URLSearchParams(form) });
  if (!response.ok)
    throw new TestWalletError(
      `The service did not take the answer (HTTP ${response.status}). Begin again on its page.`,
    );
  const { redirect_uri: redirectUri } = JSON.parse(await response.text()) as { redirect_uri?: unknown };
  return { redirectUri: typeof redirectUri === "string" ? redirectUri : null };
}
