import type { Result } from "@assay/contract/client";
import { walletAddresses } from "@assay/contract/verify-addresses";
import type * as routes from "@assay/contract/wallet";
import type { WalletChannel, WalletMethod } from "@assay/contract/wallet-facts";
import { call, withCode } from "../session/api.ts";
import type { Kept } from "../session/kept.ts";

function at<Name extends keyof typeof walletAddresses>(name: Name): (typeof routes)[Name] {
  return walletAddresses[name] as unknown as (typeof routes)[Name];
}

export type WalletRequest = Result<typeof routes.startWalletRequest>["data"];
export type WalletOutcome = Result<typeof routes.completeWalletRequest>["data"];
/** The result of `navigator.credentials.get`. */
export type WalletAnswer = { protocol: string; data: Record<string, unknown> };

/**
 * Without a `method` the wallet is asked for each one that has the channel. A tab with the consent token may
 * take over from another device.
 */
export async function askWallet(
  sessionId: string,
  { channel, method }: { channel: WalletChannel; method: WalletMethod | null },
  { returnCode, cancelToken }: Pick<Kept, "returnCode" | "cancelToken">,
): Promise<WalletRequest> {
  const body = {
    channel,
    ...(method === null ? {} : { method }),
    ...withCode(returnCode),
    ...(cancelToken === null ? {} : { cancel_token: cancelToken }),
  };
  return (await call(at("startWalletRequest"), { params: { id: sessionId }, body })).data;
}

export async function answerWallet(
  sessionId: string,
  requestId: string,
  { protocol, data }: WalletAnswer,
): Promise<WalletOutcome> {
  const body = { request_id: requestId, protocol, data };
  return (await call(at("answerWalletRequest"), { params: { id: sessionId }, body })).data;
}

export async function completeWallet(sessionId: string, responseCode: string): Promise<WalletOutcome> {
  const body = { response_code: responseCode };
  return (await call(at("completeWalletRequest"), { params: { id: sessionId }, body })).data;
}
