import { deviceRequest, newEncryptionInfo, openAnnexC } from "@assay/credential/annex-c/annex-c";
import type { AskedCredential } from "@assay/credential/asked";
import { CredentialError } from "@assay/credential/credential-error";
import type { HolderBinding } from "@assay/credential/holder-binding";
import type { JudgeContext } from "@assay/credential/judge-context";
import { judgeMdoc } from "@assay/credential/mdoc/judge-mdoc";
import { sessionTranscript } from "@assay/credential/mdoc/session-transcript";
import { refuse, type Verdict } from "@assay/credential/verdict";
import type { WalletIdentity } from "../wallet-identity/current-identity.ts";
import type { ResponseKey } from "./response-key.ts";
import type { WalletRequest } from "./wallet-request.ts";

type Asking = Pick<WalletRequest, "nonce" | "asked">;

/** ISO/IEC 18013-7, Annex C. It follows from the request, so it is not stored. */
function bindingOf(
  { nonce }: Asking,
  { publicKey }: ResponseKey,
  origin: string,
): Extract<HolderBinding, { kind: "annex_c" }> {
  const encryptionInfo = newEncryptionInfo(Uint8Array.from(Buffer.from(nonce)), publicKey);
  return { kind: "annex_c", origin, encryptionInfo };
}

function mdocsOf({ asked }: Asking): readonly AskedCredential[] {
  return asked.filter(({ format }) => format === "mso_mdoc");
}

/** One entry for each document: a wallet would have to present all documents of one entry. */
export async function annexCRequests(
  request: Asking,
  key: ResponseKey,
  { identity, origin }: { identity: WalletIdentity; origin: string },
): Promise<{ protocol: string; data: { deviceRequest: string; encryptionInfo: string } }[]> {
  const binding = bindingOf(request, key, origin);
  const transcript = await sessionTranscript(binding);
  const entries = mdocsOf(request).map(async (asked) => ({
    protocol: "org-iso-mdoc",
    data: {
      deviceRequest: await deviceRequest(asked, identity, transcript),
      encryptionInfo: binding.encryptionInfo,
    },
  }));
  return Promise.all(entries);
}

/** Null for what was not encrypted for this request. */
export async function readAnnexC(request: Asking, key: ResponseKey, origin: string, response: unknown) {
  if (typeof response !== "string") return null;
  const binding = bindingOf(request, key, origin);
  try {
    const deviceResponse = await openAnnexC(response, key.privateKey, binding);
    return {
      binding,
      judge: (context: Omit<JudgeContext, "asked">) => judgeOneOf(deviceResponse, mdocsOf(request), context),
    };
  } catch (error) {
    if (error instanceof CredentialError) return null;
    throw error;
  }
}

/** The answer does not name its request; its document shows which one it was. */
async function judgeOneOf(
  deviceResponse: Uint8Array,
  asked: readonly AskedCredential[],
  context: Omit<JudgeContext, "asked">,
): Promise<Verdict> {
  let verdict: Verdict = refuse("wrong_type");
  for (const credential of asked) {
    verdict = await judgeMdoc(deviceResponse, { ...context, asked: credential });
    if (verdict.kind === "accepted" || verdict.reason !== "wrong_type") return verdict;
  }
  return verdict;
}
