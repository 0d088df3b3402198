import type { Core } from "../../platform/core.ts";
import { admit } from "../../platform/http/access.ts";
import { writeFailure } from "../../platform/http/error-handler.ts";
import type { McpAnswer, McpRequest } from "../../platform/http/mount-mcp.ts";
import { parseBody } from "../../platform/http/parse-body.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import { createAgentAnswers } from "./answer-agent.ts";
import type { SandboxDevices } from "./finish-sandbox-session.ts";
import { type Message, readMessage, rpcCodes } from "./message.ts";

export function mcpEndpoint(
  core: Pick<Core, "metrics" | "publicUrl">,
  devices: SandboxDevices,
): (request: McpRequest) => Promise<McpAnswer> {
  const answer = createAgentAnswers({
    devices,
    metrics: core.metrics,
    publicUrl: core.publicUrl,
    admit: (scope, caller) => void admit({ access: { scope }, method: "POST" }, caller, undefined),
    writeFailure: (failure) => writeFailure(failure, core.publicUrl()),
  });
  return (request) => answer(read(request), request);
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
