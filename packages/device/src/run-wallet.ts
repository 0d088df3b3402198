import type { FailureCode } from "@assay/contract/sessions";
import { getVerifyStatus } from "@assay/contract/verify";
import { completeWalletRequest, startWalletRequest } from "@assay/contract/wallet";
import type { WalletOutcome } from "@assay/credential/test-country/wallet-outcomes";
import { answerRequest } from "@assay/credential/test-wallet/answer-request";
import { readRequest, TestWalletError } from "@assay/credential/test-wallet/read-request";
import { agreeToShare, type ConsentOptions } from "./agree-to-share.ts";
import { DeviceError } from "./verification-url.ts";

/** Values of the simulator's `--wallet`. */
export const testWallets = ["pid", "mdl", "age"] as const;
export type TestWallet = (typeof testWallets)[number];

type WalletRun = Omit<ConsentOptions, "consent"> & {
  wallet: TestWallet;
  outcome: WalletOutcome;
  now: () => Date;
};

export type WalletRunOutcome =
  | { kind: "succeeded"; sessionId: string }
  | { kind: "failed"; sessionId: string; failureCode: FailureCode | null }
  /** The wallet declined. The session stays open. */
  | { kind: "declined"; sessionId: string };

/** A session that takes more refusals than this does not count them. */
const maxPresentations = 10;

/**
 * A person with the test wallet and one browser, without a screen: agrees, opens the wallet, returns.
 * Presents again after a refusal until the session has its outcome.
 */
export async function runWallet(run: WalletRun): Promise<WalletRunOutcome> {
  const send = run.fetch ?? fetch;
  const browser = { ...run, fetch: withCookies(send) };
  const { baseUrl, sessionId, params, details, ask } = await agreeToShare(browser);
  const method = `wallet_${run.wallet}` as const;
  const channel = run.wallet === "age" ? "age_link" : "redirect";
  if (!details.sandbox) throw new DeviceError("The test wallet is for sandbox sessions only.");
  if (!details.ways.some((way) => way.method === method && way.channels.includes(channel)))
    throw new DeviceError(`The session does not offer ${method}.`);
  // The public address may be out of reach from here; the address that the session was opened by is not.
  const wallet: typeof fetch = (url, init) => send(String(url).replace(/^.*?(?=\/oid4vp\/)/, baseUrl), init);
  try {
    for (let presentation = 0; presentation < maxPresentations; presentation++) {
      const { link } = await ask(startWalletRequest, { params, body: { channel, method } });
      const request = await readRequest(link ?? "", wallet);
      run.onStep?.(`${request.verifier} asks`);
      const { redirectUri } = await answerRequest(request, run.outcome, { fetch: wallet, now: run.now() });
      run.onStep?.("answer");
      if (run.outcome === "declines") return { kind: "declined", sessionId };
      const code = responseCodeOf(redirectUri);
      if (code !== null) await ask(completeWalletRequest, { params, body: { response_code: code } });
      const { status, failure_code: failureCode } = await ask(getVerifyStatus, { params });
      if (status === "succeeded") return { kind: "succeeded", sessionId };
      if (status !== "in_progress") return { kind: "failed", sessionId, failureCode };
    }
  } catch (error) {
    if (error instanceof TestWalletError) throw new DeviceError(error.message);
    throw error;
  }
  throw new DeviceError("The session does not come to an end.");
}

export function describeWalletOutcome(outcome: WalletRunOutcome): string {
  switch (outcome.kind) {
    case "succeeded":
      return "Succeeded.";
    case "failed":
      return `Failed: ${outcome.failureCode}.`;
    case "declined":
      return "The wallet declined. The session stays open.";
  }
}

function responseCodeOf(redirectUri: string | null): string | null {
  const url = URL.parse(redirectUri ?? "");
  return url === null ? null : new URLSearchParams(url.hash.slice(1)).get("response_code");
}

/** Like a browser: sends the cookie of the request back to the service. */
function withCookies(send: typeof fetch): typeof fetch {
  const cookies = new Map<string, string>();
  return async (url, init) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await send(url, {
      ...init,
      headers: { ...(init?.headers as Record<string, string>), ...(cookie === "" ? {} : { cookie }) },
    });
    for (const header of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=;]+)=([^;]*)/.exec(header) ?? [];
      cookies.set(name, value);
    }
    return response;
  };
}
