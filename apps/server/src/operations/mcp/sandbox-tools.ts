import { describeTool, type ToolDeclaration } from "@assay/contract/agent-tools";
import type { SessionId as Id } from "@assay/contract/ids";
import { closed, Nullable, OneOf, open } from "@assay/contract/schema";
import {
  failureCodes,
  SessionId,
  sessionStatuses,
  shareLimits,
  UnmetRequirement,
} from "@assay/contract/sessions";
import {
  type WalletOutcome,
  walletOutcomeNames,
  walletOutcomes,
} from "@assay/credential/test-country/wallet-outcomes";
import { type TestWallet, testWallets } from "@assay/device/run-wallet";
import { listTestDocuments } from "@assay/emrtd/node/test-country/catalogue";
import { Type } from "typebox";
import { ApiError, badField } from "../../platform/kernel/api-error.ts";
import type { KeyCaller } from "../../platform/kernel/caller.ts";
import { createValidator } from "../../platform/kernel/validate.ts";
import type { SessionRow } from "../../verification/sessions/session.store.ts";
import type { Finish, SandboxDevices } from "./finish-sandbox-session.ts";

const documents = listTestDocuments();
const defaultDocument = "passport-valid";
const defaultOutcome: WalletOutcome = "valid";

const finishDeclaration = {
  id: "finishSandboxSession",
  method: "POST",
  summary: "Finish a test session",
  description:
    "Acts as the person in a test, after `createSession` with `sandbox: true`. It agrees, reads a test document and shows a face, or answers with the test wallet. Sandbox sessions only. Then call `getSession`. Webhook endpoints get the events as usual.",
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
    wallet: Type.Optional(
      OneOf(testWallets, {
        description: "Instead of `document`: the credential that the test wallet presents.",
      }),
    ),
    outcome: Type.Optional(
      OneOf(walletOutcomeNames, {
        description: `How the test wallet answers; \`${defaultOutcome}\` unless given. ${walletOutcomeNames
          .map((name) => `\`${name}\`: ${walletOutcomes[name].description}`)
          .join(" ")}`,
      }),
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
      document: Nullable(OneOf(documents.map(({ id }) => id))),
      wallet: Nullable(OneOf(testWallets)),
      status: OneOf(sessionStatuses),
      failure_code: Nullable(OneOf(failureCodes)),
      unmet_requirement: UnmetRequirement,
    }),
  },
  idempotent: false,
} as const satisfies ToolDeclaration;

export const finishTool = describeTool(finishDeclaration);

/** Before anything is made: a session is in the environment of the key that creates it. */
export function refuseLive({ environment }: KeyCaller): void {
  if (environment === "sandbox") return;
  throw new ApiError("SANDBOX_KEY_REQUIRED", {
    message: "The key makes live sessions, in which test documents are not accepted.",
    hint: "Use a key of the sandbox, or leave `sandbox` out to make a live session.",
  });
}

const checkFinish = createValidator(finishDeclaration.body, "body", { nullIsAbsent: true });

export async function finishSession(
  devices: SandboxDevices,
  caller: KeyCaller,
  given: unknown,
  gone: AbortSignal,
): Promise<object> {
  const { session_id, document, wallet, outcome, decline } = checkFinish(given) as {
    session_id: Id;
    document?: string;
    wallet?: TestWallet;
    outcome?: WalletOutcome;
    decline?: string[];
  };
  if (wallet !== undefined && document !== undefined)
    throw badField("wallet", "cannot be combined with document");
  if (wallet === undefined && outcome !== undefined) throw badField("outcome", "goes with wallet");
  const finish: Finish = {
    sessionId: session_id,
    by:
      wallet === undefined
        ? { kind: "document", id: document ?? defaultDocument }
        : { kind: "wallet", credential: wallet, outcome: outcome ?? defaultOutcome },
    decline: decline ?? [],
  };
  return viewFinished(await devices.finish(caller, finish, gone), finish);
}

function viewFinished(row: SessionRow, { by }: Finish): object {
  const { id, status, failureCode, unmetRequirement } = row;
  return {
    session_id: id,
    document: by.kind === "document" ? by.id : null,
    wallet: by.kind === "wallet" ? by.credential : null,
    status,
    failure_code: failureCode,
    unmet_requirement: unmetRequirement,
  };
}
