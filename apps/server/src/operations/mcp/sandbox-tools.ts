import { describeTool, type ToolDeclaration } from "@assay/contract/agent-tools";
import type { SessionId as Id } from "@assay/contract/ids";
import { closed, Nullable, OneOf, open } from "@assay/contract/schema";
import {
  createSession,
  failureCodes,
  SessionId,
  sessionStatuses,
  shareLimits,
  UnmetRequirement,
} from "@assay/contract/sessions";
import { listTestDocuments } from "@assay/emrtd/node/test-country/catalogue";
import { Type } from "typebox";
import { ApiError } from "../../platform/kernel/api-error.ts";
import type { KeyCaller } from "../../platform/kernel/caller.ts";
import { createValidator } from "../../platform/kernel/validate.ts";
import type { SessionRow } from "../../verification/sessions/session.store.ts";
import type { Finish, SandboxDevices } from "./finish-sandbox-session.ts";

/** The same as `createSession`, for whoever must not make a live session by mistake. */
const createDeclaration: ToolDeclaration = {
  ...createSession,
  id: "createSandboxSession",
  summary: "Create a test session",
  description:
    "Like `createSession`, and refused where the key would make a live session. `finishSandboxSession` ends it without a person.",
};

const documents = listTestDocuments();
const defaultDocument = "passport-valid";

const finishDeclaration = {
  id: "finishSandboxSession",
  method: "POST",
  summary: "Finish a test session",
  description:
    "Agrees, reads a test document and shows a face, as a person would, until the session has its outcome. Sandbox sessions only. Events go to the webhook endpoints as always.",
  access: { scope: "sessions:write" },
  body: closed({
    session_id: SessionId,
    document: Type.Optional(
      OneOf(
        documents.map(({ id }) => id),
        {
          description: `The test document, which decides how the session ends; \`${defaultDocument}\` unless given. ${documents
            .map(({ id, expectedFailureCode }) => `\`${id}\`: ${expectedFailureCode ?? "succeeds"}.`)
            .join(" ")}`,
        },
      ),
    ),
    decline: Type.Optional(
      Type.Array(Type.String({ maxLength: 100 }), {
        maxItems: shareLimits.fields,
        description: "Keys of `share_fields` that are not required and that the person does not share.",
      }),
    ),
  }),
  reply: {
    // As of a write that takes nothing away: a test session is there to be finished.
    status: 202,
    data: open({
      session_id: SessionId,
      document: OneOf(documents.map(({ id }) => id)),
      status: OneOf(sessionStatuses),
      failure_code: Nullable(OneOf(failureCodes)),
      unmet_requirement: UnmetRequirement,
    }),
  },
  idempotent: false,
} as const satisfies ToolDeclaration;

export const createTool = describeTool(createDeclaration);
export const finishTool = describeTool(finishDeclaration);

/** Before anything is made: a session is in the environment of the key that creates it. */
export function refuseLive({ environment }: KeyCaller): void {
  if (environment === "sandbox") return;
  throw new ApiError("SANDBOX_KEY_REQUIRED", {
    message: "The key makes live sessions, in which test documents are not accepted.",
    hint: "Use a key of the sandbox; `createSession` makes a live session.",
  });
}

const checkFinish = createValidator(finishDeclaration.body, "body", { nullIsAbsent: true });

export async function finishSession(
  devices: SandboxDevices,
  caller: KeyCaller,
  given: unknown,
  gone: AbortSignal,
): Promise<object> {
  const { session_id, document, decline } = checkFinish(given) as {
    session_id: Id;
    document?: string;
    decline?: string[];
  };
  const finish: Finish = {
    sessionId: session_id,
    document: document ?? defaultDocument,
    decline: decline ?? [],
  };
  return viewFinished(await devices.finish(caller, finish, gone), finish.document);
}

function viewFinished(row: SessionRow, document: string): object {
  const { id, status, failureCode, unmetRequirement } = row;
  return { session_id: id, document, status, failure_code: failureCode, unmet_requirement: unmetRequirement };
}
