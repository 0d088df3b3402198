import { codesOfNoRoute, errorTable } from "@assay/contract/errors";
import { findUndeclared, isKnownPath, type Operation, operationAt } from "./operations.ts";
import type { FuzzRequest } from "./requests.ts";
import type { WireAnswer } from "./wire.ts";

/** Texts that only our own code, the database or a library could have put into an answer. */
const inner =
  /\bat [^"\n]{1,200}:\d+:\d+\)|node_modules|\/src\/|SQLSTATE|\bsqlState\b|syntax error at|violates|duplicate key|\bpg_|FST_ERR|TypeError|\bundefined\b|\[object Object\]/;
const secretForm = /\bkk_[A-Za-z0-9]{32}\b|\bwhsec_[A-Za-z0-9+/]{43}=/;
const ownRequestId = /^req_[0-9a-f]{24}$/;
const statusesOfNoRoute: ReadonlySet<number> = new Set(codesOfNoRoute.map((code) => errorTable[code].status));

export type Judgement = {
  problem: string | null;
  operation: Operation | null;
  /** The value of a JSON body. */
  body: unknown;
};

/** What is wrong with an answer, by the document and by what holds for every answer. */
export function judge(
  operations: readonly Operation[],
  request: FuzzRequest,
  answer: WireAnswer | null,
  /** Texts of another organization. */
  foreign: readonly string[],
): Judgement {
  const operation = operationAt(operations, request.method, request.target);
  const nothing = { operation, body: undefined };
  if (answer === null) return { ...nothing, problem: "no answer" };
  const text = answer.body.toString("utf8");
  const isApi = request.target.startsWith("/v1/");
  const body = isJson(answer) && isApi ? parse(text) : undefined;
  const problem =
    ofStatus(answer) ??
    ofRequestId(request, answer) ??
    (isApi ? ofAnswer(operations, operation, request, answer, text, body) : null) ??
    ofText(operation, answer, text, body, foreign);
  return { operation, body, problem };
}

function isJson(answer: WireAnswer): boolean {
  return answer.headers.get("content-type") === "application/json; charset=utf-8";
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function ofStatus({ status, headers }: WireAnswer): string | null {
  if (status === 0) return "the answer is not HTTP";
  // A 503 with Retry-After is no fault; the run counts them.
  if (isBusy(status)) return headers.has("retry-after") ? null : "503 without Retry-After";
  return status >= 500 ? `status ${status}` : null;
}

export function isBusy(status: number): boolean {
  return status === 503;
}

function ofRequestId(request: FuzzRequest, { headers }: WireAnswer): string | null {
  const id = headers.get("x-request-id");
  if (id === undefined) return "no X-Request-Id";
  const given = request.headers.filter(([name]) => name === "x-request-id");
  const isPlain = request.requestId !== null && given.length === 1 && request.bare !== true;
  if (isPlain ? id !== request.requestId && !ownRequestId.test(id) : id.length < 8)
    return "X-Request-Id is neither the caller's nor one of the service's";
  if (headers.get("x-content-type-options") !== "nosniff") return "the standard headers are missing";
  return null;
}

function ofAnswer(
  operations: readonly Operation[],
  operation: Operation | null,
  request: FuzzRequest,
  answer: WireAnswer,
  text: string,
  body: unknown,
): string | null {
  const { status } = answer;
  if (request.method === "HEAD" && answer.body.length > 0) return "a body for HEAD";
  if (request.method === "OPTIONS" && operation === null && status === 204)
    return answer.body.length > 0 || !answer.headers.has("allow")
      ? "OPTIONS without Allow, or with a body"
      : null;
  const documented = operation?.answers.get(status);
  // The HTTP parser refuses before the route is known, so the answer of a list has no pagination either.
  const isUnparsed = request.bare === true && status === 400 && text.includes("is not valid HTTP");
  if (operation === null || documented === undefined || isUnparsed) {
    const ofNoRoute =
      isUnparsed ||
      statusesOfNoRoute.has(status) ||
      (operation === null && (status === 400 || status === 404));
    if (!ofNoRoute) return `status ${status} is not documented`;
    if (status === 405 && (operation !== null || !isKnownPath(operations, request.target)))
      return "405 for a method that the document has, or a path that it has not";
    if (status === 405 && !answer.headers.has("allow")) return "405 without Allow";
    return request.method === "HEAD" ? null : ofFailure(status, body);
  }
  if (documented.types === null) {
    return answer.body.length > 0 ? `a body with status ${status}` : null;
  }
  const type = (answer.headers.get("content-type") ?? "").split(";")[0] ?? "";
  const described = documented.types.get(type);
  if (described === undefined) return `the content type ${type} is not documented for status ${status}`;
  if (request.method === "HEAD") return null;
  if (type !== "application/json") return null;
  if (body === undefined) return `not JSON: ${text.slice(0, 100)}`;
  if (!described.fits(body)) return `the body does not fit the schema of status ${status}`;
  const undeclared = findUndeclared(described.schema, body);
  if (undeclared !== null) return `the field ${undeclared} is not documented for status ${status}`;
  if (status < 400) return null;
  const code = (body as { error: { code: string } }).error.code;
  if (!documented.codes.has(code)) return `the code ${code} is not documented for status ${status}`;
  if (status === 429 && !answer.headers.has("retry-after")) return "429 without Retry-After";
  return ofFailure(status, body);
}

/** The envelope of a failure. */
function ofFailure(status: number, body: unknown): string | null {
  const { data, error } = (body ?? {}) as { data?: unknown; error?: Record<string, unknown> };
  if (data !== null || typeof error !== "object" || error === null)
    return `status ${status} outside of the envelope`;
  if (Object.keys(error).sort().join() !== "code,docs,hint,message")
    return "the error lacks a part, or has one too many";
  const known = errorTable[error.code as keyof typeof errorTable];
  if (known?.status !== status) return `the code ${String(error.code)} does not belong to status ${status}`;
  return String(error.docs).endsWith(`/docs/errors#${String(error.code)}`) ? null : "`docs` leads nowhere";
}

function ofText(
  operation: Operation | null,
  { status }: WireAnswer,
  text: string,
  body: unknown,
  foreign: readonly string[],
): string | null {
  if (status >= 400) {
    const { message = "", hint = "" } =
      (body as { error?: { message?: string; hint?: string } })?.error ?? {};
    const found = inner.exec(`${message} ${hint}`);
    if (found !== null) return `an error speaks of the inside: ${found[0]}`;
  }
  if (operation?.method === "GET" && secretForm.test(text)) return "an answer to GET holds a secret";
  // Public data may be read by everyone who knows its identifier.
  if (operation !== null && operation.security.length === 0) return null;
  // The API log shows callers the paths that they called, with the ids that they sent.
  const shown = operation?.id === "listApiRequests" ? text.replace(/"path":"[^"]*"/g, "") : text;
  return foreign.some((word) => shown.includes(word))
    ? "an answer holds something of another organization"
    : null;
}
