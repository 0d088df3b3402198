import { type ReceivedRequest, receiveLink, receiveRequest } from "../openid4vp/answer-as-wallet.ts";

/** The wallet cannot continue. The message is for the person at the keyboard. */
export class TestWalletError extends Error {}

export type ReadRequest = ReceivedRequest & {
  responseUri: string;
  /** The recipient of the answer. */
  verifier: string;
};

/** The part of `fetch` that a wallet needs. */
export type Fetch = (
  url: string,
  init: { method: string; body?: URLSearchParams },
) => Promise<{ ok: boolean; status: number; text(): Promise<string> }>;

/** Reads a link as a wallet on the same device does: the request by reference, or by value. */
export async function readRequest(link: string, send: Fetch): Promise<ReadRequest> {
  // Wallets have custom schemes, which browsers parse differently.
  const at = link.indexOf("?");
  if (at < 0) throw new TestWalletError("This is not the link of a request.");
  const parameters = new URLSearchParams(link.slice(at));
  const uri = parameters.get("request_uri");
  const request =
    uri === null
      ? receiveLink(link)
      : receiveRequest(await fetched(uri, parameters.get("request_uri_method") === "post", send));
  if (request.clientId !== parameters.get("client_id"))
    throw new TestWalletError("The request comes from another verifier than the link names.");
  const { responseUri } = request;
  if (responseUri === null) throw new TestWalletError("The request does not say where the answer goes.");
  return { ...request, responseUri, verifier: new URL(responseUri).host };
}

async function fetched(uri: string, isPost: boolean, send: Fetch): Promise<string> {
  const response = await send(
    uri,
    isPost ? { method: "POST", body: new URLSearchParams() } : { method: "GET" },
  );
  if (response.ok) return await response.text();
  throw new TestWalletError(`The request cannot be fetched (HTTP ${response.status}). It may have expired.`);
}
