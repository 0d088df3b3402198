import * as contract from "@assay/contract/wallet";
import { walletCookieNames, walletLimits } from "@assay/contract/wallet-facts";
import { testStatusToken } from "@assay/credential/test-country/test-status";
import { purposes } from "@assay/credential/trust-anchor";
import type { Core } from "../../platform/core.ts";
import { type Binding, bind } from "../../platform/http/mount.ts";
import type { WalletEndpoints } from "../../platform/http/mount-wallet.ts";
import { walletPaths } from "./addresses.ts";
import { answerByPage } from "./answer-by-page.ts";
import { completeRequest } from "./complete-request.ts";
import { receiveAnswer } from "./receive-answer.ts";
import { serveRequest } from "./serve-request.ts";
import { startRequest } from "./start-request.ts";

export function walletRoutes(core: Core): Binding[] {
  return [
    bind(contract.startWalletRequest, async ({ params, body, request }) => {
      const started = await startRequest(core, {
        sessionId: params.id,
        channel: body.channel,
        method: body.method,
        returnCode: body.return_code,
        cancelToken: body.cancel_token,
      });
      const { browserSecret: token } = started;
      request.setCookie(walletCookieNames(params.id), {
        token,
        maxAgeSeconds: walletLimits.cookieMinutes * 60,
      });
      return {
        request_id: started.requestId,
        expires_at: started.expiresAt.toISOString(),
        link: started.link,
        dc_request: started.dcRequest,
      };
    }),

    bind(contract.answerWalletRequest, ({ params, body, request }) =>
      answerByPage(core, {
        sessionId: params.id,
        requestId: body.request_id,
        protocol: body.protocol,
        data: body.data,
        browserSecret: request.cookie(walletCookieNames(params.id)),
      }),
    ),

    bind(contract.completeWalletRequest, ({ params, body, request }) =>
      completeRequest(core, {
        sessionId: params.id,
        responseCode: body.response_code,
        browserSecret: request.cookie(walletCookieNames(params.id)),
      }),
    ),
  ];
}

/** What wallets themselves call. */
export function walletEndpoints(core: Core): WalletEndpoints {
  return {
    paths: walletPaths,
    serveRequest: (requestId, fetched) => serveRequest(core, requestId, fetched),
    receiveAnswer: (requestId, form) => receiveAnswer(core, requestId, form),
    serveTestStatus: async (name) => {
      const purpose = purposes.find((known) => known === name);
      return purpose === undefined ? null : testStatusToken(core.publicUrl(), purpose, core.clock.now());
    },
  };
}
