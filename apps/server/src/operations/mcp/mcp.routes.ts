import { apiVersion } from "@assay/contract/openapi";
import type { Core } from "../../platform/core.ts";
import { admit } from "../../platform/http/access.ts";
import { writeFailure } from "../../platform/http/error-handler.ts";
import type { McpAnswer, McpRequest } from "../../platform/http/mount-mcp.ts";
import { parseBody } from "../../platform/http/parse-body.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import { hourMs, minuteMs } from "../../platform/kernel/clock.ts";
import type { SandboxDevices } from "./finish-sandbox-session.ts";
import {
  type Generation,
  isFields,
  type Message,
  type RpcId,
  readMessage,
  rpcCodes,
  versions,
} from "./message.ts";
import { listResources, readResource } from "./resources.ts";
import { createTools, isAllowed, isSwitchedOff, type Tool, type ToolAnswer } from "./tools.ts";

type Request = Extract<Message, { kind: "request" }>;
type Result = Readonly<Record<string, unknown>>;
type RpcError = { code: number; message: string; data?: object };
/** The outcome of a method, before it is rendered for the generation of the client. */
type Outcome = { result: Result } | { error: RpcError };
type Methods = Readonly<Record<string, (request: McpRequest, message: Request) => Promise<Outcome>>>;

const serverInfo = { name: "assay", title: "Assay", version: apiVersion };
const instructions =
  "Assay verifies identities. Create a session, send the person to its `verification_url`, and read the session for the outcome. These tools never return personal data: it goes to webhook endpoints, encrypted to their keys. For a test, `createSession` with `sandbox: true` and `finishSandboxSession` need no person. The guides are resources; begin with `first-verification`.";

/** Tools and resources do not change during a connection, and there are no prompts. */
const capabilities = { tools: {}, resources: {} };

/**
 * How long a client may cache the list of tools. A stale list is harmless, because the call is refused. With
 * a longer time, clients would notice a new scope late.
 */
const listKeptMs = minuteMs;
/** Guides change only with a new release. */
const guidesKeptMs = hourMs;

/** Answers agents. No state is kept between messages, so any process can answer. */
export function mcpEndpoint(
  { metrics, publicUrl }: Pick<Core, "metrics" | "publicUrl">,
  devices: SandboxDevices,
): (request: McpRequest) => Promise<McpAnswer> {
  const tools = new Map(createTools(devices).map((tool) => [tool.name, tool]));
  const calls = metrics.counter("assay_mcp_calls_total", "Tool calls by agents, by tool and result.");

  const callTool = async (request: McpRequest, { params }: Request): Promise<Outcome> => {
    const { name, arguments: given = {} } = params;
    const tool = typeof name === "string" ? tools.get(name) : undefined;
    if (tool === undefined) return invalid("There is no such tool; `tools/list` lists the tools.");
    if (!isFields(given)) return invalid("`arguments` must be an object.");
    const answer = await settle(async () => {
      // The route of a tool checks the scope, too. A tool without a route has only this check.
      admit({ access: { scope: tool.scope }, method: "POST" }, request.caller, undefined);
      if (isSwitchedOff(tool, request.caller)) throw new ApiError("AGENTS_MAY_NOT_CHANGE_WEBHOOKS");
      return tool.call(request, given);
    }, publicUrl());
    const failed = answer !== null && isFields(answer.error);
    calls({ tool: tool.name, result: failed ? "error" : "done" });
    return { result: failed ? failureOf(answer.error, request.requestId) : successOf(answer) };
  };

  const ofBoth: Methods = {
    "tools/list": async ({ caller }, message) =>
      hasCursor(message) ?? listTools([...tools.values()].filter((tool) => isAllowed(tool, caller))),
    "tools/call": callTool,
    "resources/list": async (_request, message) =>
      hasCursor(message) ?? {
        result: { resources: listResources(publicUrl()), ...keptFor(guidesKeptMs) },
      },
    "resources/templates/list": async (_request, message) =>
      hasCursor(message) ?? { result: { resourceTemplates: [], ...keptFor(guidesKeptMs) } },
    "resources/read": async (_request, { params }) => {
      const content = readResource(params.uri, publicUrl());
      return content === null
        ? invalid("There is no such resource; `resources/list` lists the resources.")
        : { result: { contents: [content], ...keptFor(guidesKeptMs) } };
    },
  };
  const methods: Readonly<Record<Generation, Methods>> = {
    stateless: {
      "server/discover": async () => ({
        result: { supportedVersions: versions.stateless, capabilities, instructions, ...keptFor(listKeptMs) },
      }),
      ...ofBoth,
    },
    withHandshake: {
      initialize: async (_request, { params }) => ({
        result: {
          protocolVersion:
            versions.withHandshake.find((known) => known === params.protocolVersion) ??
            versions.withHandshake[0],
          capabilities,
          serverInfo,
          instructions,
        },
      }),
      ping: async () => ({ result: {} }),
      ...ofBoth,
    },
  };

  return async (request) => {
    const message = read(request);
    if (message.kind === "notification") return { status: 202, body: null };
    if (message.kind === "refusal")
      return { status: message.status, body: render(message.id, { error: message.error }) };
    const { id, method, generation } = message;
    const own = methods[generation];
    if (!Object.hasOwn(own, method)) {
      const error = { code: rpcCodes.methodNotFound, message: "There is no such method." };
      // Since 2026-07-28 the protocol defines this status. Before, 404 means that a session has ended.
      return { status: generation === "stateless" ? 404 : 200, body: render(id, { error }) };
    }
    const outcome = await own[method]?.(request, message);
    return { status: 200, body: render(id, withEnvelope(outcome ?? { result: {} }, generation)) };
  };
}

function read({ body, header }: McpRequest): Message {
  try {
    return readMessage(parseBody(body), header);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return {
      kind: "refusal",
      status: 400,
      id: null,
      error: { code: rpcCodes.parseError, message: error.message },
    };
  }
}

/** Turns an expected error into the failure that the API would have answered. */
async function settle(work: () => Promise<ToolAnswer>, publicUrl: string): Promise<ToolAnswer> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ApiError) return JSON.parse(writeFailure(error, publicUrl)) as ToolAnswer;
    throw error;
  }
}

/** The refusal of a cursor; null without a cursor. */
function hasCursor({ params }: Request): Outcome | null {
  return params.cursor === undefined || params.cursor === null
    ? null
    : invalid("`cursor` is not supported: the list has only one page.");
}

function listTools(allowed: readonly Tool[]): Outcome {
  // Leaves the output schemas out: hosts put the whole list into the model's context, and the model does not
  // need them.
  const tools = allowed.map(({ name, title, description, inputSchema, annotations }) => ({
    name,
    title,
    description,
    inputSchema,
    annotations,
  }));
  return { result: { tools, ...keptFor(listKeptMs) } };
}

function successOf(answer: ToolAnswer): Result {
  if (answer === null) return { content: [{ type: "text", text: "Done." }] };
  const { error: _, ...rest } = answer;
  return { content: [{ type: "text", text: JSON.stringify(rest) }], structuredContent: rest };
}

/** Text only: structured content would have to match the schema of a success. */
function failureOf(error: unknown, requestId: string): Result {
  const text = JSON.stringify({ error: { ...(error as object), request_id: requestId } });
  return { content: [{ type: "text", text }], isError: true };
}

function keptFor(ttlMs: number) {
  return { ttlMs, cacheScope: "private" };
}

function invalid(message: string): Outcome {
  return { error: { code: rpcCodes.invalidParams, message } };
}

function withEnvelope(outcome: Outcome, generation: Generation): Outcome {
  if ("error" in outcome || generation === "withHandshake") return outcome;
  return {
    result: {
      resultType: "complete",
      ...outcome.result,
      _meta: { "io.modelcontextprotocol/serverInfo": serverInfo },
    },
  };
}

function render(id: RpcId | null, outcome: Outcome): object {
  return { jsonrpc: "2.0", ...(id === null ? {} : { id }), ...outcome };
}
