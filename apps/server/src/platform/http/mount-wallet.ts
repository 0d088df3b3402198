import { walletLimits } from "@assay/contract/wallet-facts";
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { isUnavailable } from "../db/errors.ts";
import { ApiError } from "../kernel/api-error.ts";
import { addressBlock } from "../lib/address-block.ts";
import { KeyedSlots } from "../lib/keyed-slots.ts";
import { describeError, type Log } from "../lib/log.ts";

type Form = Readonly<Record<string, string>>;

export type WalletEndpoints = {
  paths: { readonly request: string; readonly response: string; readonly testStatus: string };
  /** Null if the request does not exist or has ended. */
  serveRequest(
    requestId: string,
    fetched: { method: "GET" | "POST"; walletNonce: string | null },
  ): Promise<string | null>;
  /** Null if the form does not answer an open request. */
  receiveAnswer(requestId: string, form: Form): Promise<{ redirectUri: string } | null>;
  /** A status list of the test country; null if there is none with this name. */
  serveTestStatus(name: string): Promise<string | null>;
};

/**
 * Concurrent calls from one address. A judgement takes some 25 ms: fewer would delay an office, more would
 * fill a process.
 */
const maxAtOncePerAddress = 16;
const requestBodyBytes = 16 * 1024;
const maxWalletNonce = 1024;

/**
 * Endpoints for wallets: OAuth JSON, without the envelope and without cookies. Every invalid answer gets the
 * same refusal, so that it does not reveal which requests exist.
 */
export function mountWallet(app: FastifyInstance, endpoints: WalletEndpoints, log: Log): void {
  const { paths } = endpoints;
  const slots = new KeyedSlots<string>(maxAtOncePerAddress);
  const inTurn = async (request: FastifyRequest, reply: FastifyReply, work: () => Promise<FastifyReply>) => {
    const giveBack = slots.take(addressBlock(request.ip));
    if (giveBack === null) return refuse(reply.header("retry-after", "1"), 429, "temporarily_unavailable");
    try {
      return await work();
    } finally {
      giveBack();
    }
  };
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      "application/x-www-form-urlencoded",
      { parseAs: "string" },
      (_request, body, done) => done(null, readForm(body as string)),
    );
    scope.setErrorHandler((error: FastifyError, request, reply) => renderError(error, request, reply, log));

    const serve = (request: FastifyRequest, reply: FastifyReply) =>
      inTurn(request, reply, async () => {
        const method = request.method === "POST" ? "POST" : "GET";
        const walletNonce = (request.body as Form | null | undefined)?.wallet_nonce ?? null;
        if (walletNonce !== null && walletNonce.length > maxWalletNonce) return refuse(reply, 400);
        const signed = await endpoints.serveRequest(idOf(request), { method, walletNonce });
        if (signed === null) return refuse(reply, 404);
        return reply.header("content-type", "application/oauth-authz-req+jwt").send(signed);
      });
    scope.get(`${paths.request}/:request_id`, { exposeHeadRoute: false }, serve);
    scope.post(`${paths.request}/:request_id`, { bodyLimit: requestBodyBytes }, serve);
    scope.get(`${paths.testStatus}/:name`, { exposeHeadRoute: false }, (request: FastifyRequest, reply) =>
      inTurn(request, reply, async () => {
        const token = await endpoints.serveTestStatus((request.params as { name: string }).name);
        if (token === null) return refuse(reply, 404);
        return reply.header("content-type", "application/statuslist+jwt").send(token);
      }),
    );
    scope.post(
      `${paths.response}/:request_id`,
      { bodyLimit: walletLimits.answerBytes },
      (request: FastifyRequest, reply) =>
        inTurn(request, reply, async () => {
          const form = request.body as Form | null | undefined;
          const received = form ? await endpoints.receiveAnswer(idOf(request), form) : null;
          if (received === null) return refuse(reply, 400);
          return sendJson(reply, { redirect_uri: received.redirectUri });
        }),
    );
  });
}

function idOf({ params }: FastifyRequest): string {
  return (params as { request_id: string }).request_id;
}

/** Null if a field occurs twice or is not text. */
function readForm(body: string): Form | null {
  const fields = [...new URLSearchParams(body)];
  const form = Object.fromEntries(fields);
  if (fields.length !== Object.keys(form).length) return null;
  return Object.values(form).every((value) => value.isWellFormed() && !value.includes("\u0000"))
    ? form
    : null;
}

function refuse(reply: FastifyReply, status: number, error = "invalid_request"): FastifyReply {
  return sendJson(reply.code(status), { error });
}

function sendJson(reply: FastifyReply, body: object): FastifyReply {
  return reply.header("content-type", "application/json; charset=utf-8").send(JSON.stringify(body));
}

function renderError(
  error: FastifyError | ApiError,
  request: FastifyRequest,
  reply: FastifyReply,
  log: Log,
): FastifyReply {
  if (error instanceof ApiError && error.status >= 500)
    return refuse(reply.headers(error.headers), error.status, "temporarily_unavailable");
  if (error instanceof ApiError || error.code?.startsWith("FST_")) return refuse(reply, 400);
  if (isUnavailable(error)) return refuse(reply.header("retry-after", "2"), 503, "temporarily_unavailable");
  log.error("request failed", { requestId: request.id, ...describeError(error) });
  return refuse(reply, 500, "server_error");
}
