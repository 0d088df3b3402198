import { type AgentTool, sandboxArgument, toolsOf } from "@assay/contract/agent-tools";
import { routes } from "@assay/contract/routes";
import { badField } from "../../platform/kernel/api-error.ts";
import type { KeyCaller } from "../../platform/kernel/caller.ts";
import type { SandboxDevices } from "./finish-sandbox-session.ts";
import { createRouteCall, type RouteCall, readRouteAnswer } from "./route-call.ts";
import { finishSession, finishTool, refuseLive } from "./sandbox-tools.ts";

type Arguments = Readonly<Record<string, unknown>>;

export type ToolContext = {
  caller: KeyCaller;
  /** The text of the answer, including the envelope. */
  forward: (call: RouteCall) => Promise<{ text: string }>;
  releaseSlot: () => void;
  gone: AbortSignal;
};

/** `null` if there is nothing to return. A failure with a code of ours throws, or is an `error`. */
export type ToolAnswer = { data: unknown; error?: unknown; pagination?: unknown } | null;

export type Tool = AgentTool & {
  call: (context: ToolContext, given: Arguments) => Promise<ToolAnswer>;
};

/** All tools, regardless of who may use them, in a stable order. */
export function createTools(devices: SandboxDevices): Tool[] {
  const ofRoutes = toolsOf(routes).map(({ route, ...tool }): Tool => {
    const callOf = createRouteCall(route);
    return {
      ...tool,
      call: async ({ caller, forward }, given) => {
        const rest = tool.name === "createSession" ? withoutSandbox(caller, given) : given;
        return readRouteAnswer((await forward(callOf(rest))).text);
      },
    };
  });
  return [
    ...ofRoutes,
    {
      ...finishTool,
      call: async ({ caller, releaseSlot, gone }, given) => {
        releaseSlot();
        return { data: await finishSession(devices, caller, given, gone) };
      },
    },
  ];
}

/** The arguments of the route, after a check that the key creates the requested kind of session. */
function withoutSandbox(caller: KeyCaller, given: Arguments): Arguments {
  const { [sandboxArgument]: sandbox, ...rest } = given;
  if (sandbox !== undefined && sandbox !== null && typeof sandbox !== "boolean")
    throw badField(sandboxArgument, "must be true or false");
  if (sandbox === true) refuseLive(caller);
  return rest;
}

export function isAllowed(tool: AgentTool, caller: KeyCaller): boolean {
  return caller.scopes.includes(tool.scope) && !isSwitchedOff(tool, caller);
}

/**
 * A text that an agent reads may ask it to send results elsewhere (prompt injection). So owners must allow
 * such tools first.
 */
export function isSwitchedOff(tool: AgentTool, { agentsMayChangeWebhooks }: KeyCaller): boolean {
  return tool.changesDestination && !agentsMayChangeWebhooks;
}
