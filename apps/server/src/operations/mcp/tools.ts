import { type AgentTool, toolsOf } from "@assay/contract/agent-tools";
import { routes } from "@assay/contract/routes";
import { createSession } from "@assay/contract/sessions";
import type { KeyCaller } from "../../platform/kernel/caller.ts";
import type { SandboxDevices } from "./finish-sandbox-session.ts";
import { createRouteCall, type RouteCall, readRouteAnswer } from "./route-call.ts";
import { createTool, finishSession, finishTool, refuseLive } from "./sandbox-tools.ts";

type Arguments = Readonly<Record<string, unknown>>;

/** What a call has to work with. */
export type ToolContext = {
  caller: KeyCaller;
  /** The text of the answer, envelope and all. */
  forward: (call: RouteCall) => Promise<{ text: string }>;
  letGo: () => void;
  gone: AbortSignal;
};

/** `null` where there is nothing to tell but that it was done. What fails with a code of ours throws, or is an `error`. */
export type ToolAnswer = { data: unknown; error?: unknown; pagination?: unknown } | null;

export type Tool = AgentTool & {
  call: (context: ToolContext, given: Arguments) => Promise<ToolAnswer>;
};

/** Every tool there is, whoever may use it, in an order that stays the same. */
export function createTools(devices: SandboxDevices): Tool[] {
  const ofRoutes = toolsOf(routes).map(({ route, ...tool }): Tool => {
    const callOf = createRouteCall(route);
    return {
      ...tool,
      call: async ({ forward }, given) => readRouteAnswer((await forward(callOf(given))).text),
    };
  });
  const createCallOf = createRouteCall(createSession);
  return [
    ...ofRoutes,
    {
      ...createTool,
      call: async ({ caller, forward }, given) => {
        refuseLive(caller);
        return readRouteAnswer((await forward(createCallOf(given))).text);
      },
    },
    {
      ...finishTool,
      call: async ({ caller, letGo, gone }, given) => {
        letGo();
        return { data: await finishSession(devices, caller, given, gone) };
      },
    },
  ];
}

export function isAllowed(tool: AgentTool, caller: KeyCaller): boolean {
  return caller.scopes.includes(tool.scope) && !isSwitchedOff(tool, caller);
}

/** A text that an agent reads may tell it to send results elsewhere (prompt injection), so owners allow such tools first. */
export function isSwitchedOff(tool: AgentTool, { agentsMayChangeWebhooks }: KeyCaller): boolean {
  return tool.changesDestination && !agentsMayChangeWebhooks;
}
