import { apiVersion } from "@assay/contract/openapi";
import type { Scope } from "@assay/contract/route";
import type { Core } from "../../platform/core.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import type { KeyCaller } from "../../platform/kernel/caller.ts";
import { hourMs, minuteMs } from "../../platform/kernel/clock.ts";
import type { SandboxDevices } from "./finish-sandbox-session.ts";
import { type Generation, isFields, type Message, type RpcId, rpcCodes, versions } from "./message.ts";
import { listResources, readResource } from "./resources.ts";
import {
  createTools,
  isAllowed,
  isSwitchedOff,
  type Tool,
  type ToolAnswer,
  type ToolContext,
} from "./tools.ts";

type Request = Extract<Message, { kind: "request" }>;
type Result = Readonly<Record<string, unknown>>;
type RpcError = { code: number; message: string; data?: object };
/** What a method gives, before it is put into the form of the generation. */
type Outcome = { result: Result } | { error: RpcError };
type Methods = Readonly<Record<string, (request: AgentRequest, message: Request) => Promise<Outcome>>>;

const serverInfo = { name: "assay", title: "Assay", version: apiVersion };
const instructions =
  "Assay verifies identities. Create a session, send the person to its `verification_url`, and read the session for the outcome. Who the person is never comes through these tools: it goes to webhook endpoints, encrypted to their keys. For a test, `createSession` with `sandbox: true` and `finishSandboxSession` need no person. The guides are resources; begin with `partner-guide`.";

/** Neither tools nor resources come and go while a connection lasts; prompts there are none. */
const capabilities = { tools: {}, resources: {} };

/**
 * For how long a client may keep a list of tools. A list that is older than the key's scopes does no harm, because the call is
 * refused; longer, a new scope would be noticed late.
 */
const listKeptMs = minuteMs;
/** Guides change with a new release only. */
const guidesKeptMs = hourMs;

/** Whose message it is, and what its call has to work with; `requestId` names the answer in the logs. */
type AgentRequest = ToolContext & { requestId: string };
/** What leaves: a status, and a message where there is one. */
type AgentAnswer = { status: number; body: object | null };

type AgentNeeds = {
  devices: SandboxDevices;
  metrics: Core["metrics"];
  publicUrl: Core["publicUrl"];
  /** Throws where the key lacks the scope. */
  admit: (scope: Scope, caller: KeyCaller) => void;
  /** The envelope of a failure. */
  writeFailure: (failure: ApiError) => string;
};

/** Answers agents. Nothing is kept from one message to the next, so it does not matter which process gets them. */
export function createAgentAnswers(
  needs: AgentNeeds,
): (message: Message, request: AgentRequest) => Promise<AgentAnswer> {
  const { metrics, devices } = needs;
  const tools = new Map(createTools(devices).map((tool) => [tool.name, tool]));
  const calls = metrics.counter("assay_mcp_calls_total", "Calls of tools by agents, by tool and result.");

  const callTool = async (request: AgentRequest, { params }: Request): Promise<Outcome> => {
    const { name, arguments: given = {} } = params;
    const tool = typeof name === "string" ? tools.get(name) : undefined;
    if (tool === undefined) return invalid("There is no such tool; `tools/list` tells which there are.");
    if (!isFields(given)) return invalid("`arguments` must be an object.");
    const answer = await settle(async () => {
      // The route of the tool asks for the scope, too; a tool without a route has only this.
      needs.admit(tool.scope, request.caller);
      if (isSwitchedOff(tool, request.caller)) throw new ApiError("AGENTS_MAY_NOT_CHANGE_WEBHOOKS");
      return tool.call(request, given);
    }, needs.writeFailure);
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
        result: { resources: listResources(needs.publicUrl()), ...keptFor(guidesKeptMs) },
      },
    "resources/templates/list": async (_request, message) =>
      hasCursor(message) ?? { result: { resourceTemplates: [], ...keptFor(guidesKeptMs) } },
    "resources/read": async (_request, { params }) => {
      const content = readResource(params.uri, needs.publicUrl());
      return content === null
        ? invalid("There is no such resource; `resources/list` has those that there are.")
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

  return async (message, request) => {
    if (message.kind === "notification") return { status: 202, body: null };
    if (message.kind === "refusal")
      return { status: message.status, body: render(message.id, { error: message.error }) };
    const { id, method, generation } = message;
    const own = methods[generation];
    if (!Object.hasOwn(own, method)) {
      const error = { code: rpcCodes.methodNotFound, message: "There is no such method here." };
      // The status belongs to the protocol from 2026-07-28 on; before, 404 means that a session is gone.
      return { status: generation === "stateless" ? 404 : 200, body: render(id, { error }) };
    }
    const outcome = await own[method]?.(request, message);
    return { status: 200, body: render(id, withEnvelope(outcome ?? { result: {} }, generation)) };
  };
}

/** What was raised on purpose becomes the failure that the API would have answered with. */
async function settle(
  work: () => Promise<ToolAnswer>,
  writeFailure: AgentNeeds["writeFailure"],
): Promise<ToolAnswer> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ApiError) return JSON.parse(writeFailure(error)) as ToolAnswer;
    throw error;
  }
}

/** The refusal of a cursor; null where there is none. */
function hasCursor({ params }: Request): Outcome | null {
  return params.cursor === undefined || params.cursor === null
    ? null
    : invalid("`cursor` is none of ours: the list comes whole.");
}

function listTools(allowed: readonly Tool[]): Outcome {
  // Without the schemas of answers: hosts put the whole list into the context of a model, which reads an answer without them.
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

/** Only as text: what is structured would have to fit the schema of a success. */
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
