import type { CryptoKey } from "jose";
import { type MdocElements, readMdocAttributes } from "../attributes/read-attributes.ts";
import { digest, isEqual } from "../bytes.ts";
import type { CborValue } from "../cbor/value.ts";
import { type CoseKey, importCoseKey } from "../cose/cose-key.ts";
import { algorithmOf, x5chainOf } from "../cose/headers.ts";
import { verifyMac0 } from "../cose/mac0.ts";
import { verifySign1 } from "../cose/sign1.ts";
import { CredentialError } from "../credential-error.ts";
import { documentTypes } from "../dcql/ask.ts";
import type { HolderBinding } from "../holder-binding.ts";
import type { JudgeContext } from "../judge-context.ts";
import { isInFuture } from "../jws/numeric-date.ts";
import { type RefusalReason, refuse, type Verdict } from "../verdict.ts";
import { type ChainVerdict, checkChain } from "../x509/chain.ts";
import { deviceAuthenticationBytes, deviceMacKey } from "./device-authentication.ts";
import { type MobileSecurityObject, readMobileSecurityObject } from "./mobile-security-object.ts";
import { type IssuerSignedItem, type MdocDocument, readDeviceResponse } from "./read-device-response.ts";
import { sessionTranscript } from "./session-transcript.ts";

/**
 * Whether a DeviceResponse of ISO/IEC 18013-5 answers what was asked. Never throws for what a wallet sent.
 */
export async function judgeMdoc(deviceResponse: Uint8Array, context: JudgeContext): Promise<Verdict> {
  return judgeMdocFor(deviceResponse, context, await sessionTranscript(context.binding));
}

/** The same for a transcript that comes from elsewhere. */
export async function judgeMdocFor(
  deviceResponse: Uint8Array,
  context: JudgeContext,
  transcript: Uint8Array,
): Promise<Verdict> {
  try {
    return await judge(deviceResponse, context, transcript);
  } catch (error) {
    if (!(error instanceof CredentialError)) throw error;
    return refuse(error.code === "not_supported" ? "algorithm_not_allowed" : "malformed");
  }
}

async function judge(bytes: Uint8Array, context: JudgeContext, transcript: Uint8Array): Promise<Verdict> {
  const { asked, now } = context;
  const response = readDeviceResponse(bytes);
  if (response.status !== 0) return refuse("status_not_ok");
  const [document, ...others] = response.documents;
  if (document === undefined) return refuse("no_documents");
  // One credential was requested, and each mdoc comes in a separate response (HAIP 1.0, 5).
  if (others.length > 0) return refuse("malformed");
  if (document.docType !== documentTypes[asked.purpose].mso_mdoc) return refuse("wrong_type");
  if (isRepeated(document.items)) return refuse("repeated_element");
  const issued = await judgeIssuer(document, context);
  if (issued.kind === "refused") return refuse(issued.reason);
  const { mso, chain } = issued;
  const holder = await judgeHolder(document, mso.deviceKey, context, transcript);
  if (holder.kind === "refused") return refuse(holder.reason);
  const read = readMdocAttributes(asked, elementsOf(document.items), now);
  if (read.kind === "refused") return read;
  if (asked.purpose === "mdl" && isForeign(read.attributes.issuingCountry, chain.leaf.country)) {
    return refuse("issuer_not_valid");
  }
  return {
    kind: "accepted",
    id: asked.id,
    purpose: asked.purpose,
    format: "mso_mdoc",
    anchor: chain.anchor,
    holder: holder.kind,
    attributes: read.attributes,
    status: mso.status,
    validFrom: mso.validFrom,
    validUntil: mso.validUntil,
    // Device claims have no issuer behind them and are dropped.
    disclosedMore: read.disclosedMore || document.hasDeviceClaims,
  };
}

function isRepeated(items: readonly IssuerSignedItem[]): boolean {
  const names = new Set(items.map((item) => JSON.stringify([item.nameSpace, item.element])));
  const ids = new Set(items.map((item) => JSON.stringify([item.nameSpace, item.digestId])));
  return names.size < items.length || ids.size < items.length;
}

type Refusal = { kind: "refused"; reason: RefusalReason };
type TrustedChain = Extract<ChainVerdict, { kind: "trusted" }>;
const refused = (reason: RefusalReason): Refusal => ({ kind: "refused", reason });

/** Steps 1 to 5 of ISO/IEC 18013-5, 9.3.1. */
async function judgeIssuer(
  document: MdocDocument,
  { asked, anchors, now }: JudgeContext,
): Promise<Refusal | { kind: "issued"; mso: MobileSecurityObject; chain: TrustedChain }> {
  const { issuerAuth } = document;
  if (issuerAuth.payload === null) return refused("malformed");
  const chain = await checkChain(x5chainOf(issuerAuth), anchors, {
    purpose: asked.purpose,
    now,
    leaf: asked.purpose === "mdl" ? "mdl_signer" : "credential_signer",
  });
  if (chain.kind === "untrusted") return refused(chain.reason);
  if (algorithmOf(issuerAuth) !== chain.algorithm) return refused("algorithm_not_allowed");
  if (!(await verifySign1(issuerAuth, chain, issuerAuth.payload))) return refused("issuer_signature");
  const mso = readMobileSecurityObject(issuerAuth.payload);
  if (mso.docType !== document.docType) return refused("wrong_type");
  if (!(await areDigestsRight(document.items, mso))) return refused("digest_mismatch");
  const { signed, validFrom, validUntil } = mso;
  if (isInFuture(signed, now) || isInFuture(validFrom, now)) return refused("not_yet_valid");
  if (validUntil < now) return refused("credential_expired");
  if (signed < chain.leaf.notBefore || signed > chain.leaf.notAfter) return refused("issuer_not_valid");
  return { kind: "issued", mso, chain };
}

async function areDigestsRight(
  items: readonly IssuerSignedItem[],
  { digests, digestAlgorithm }: MobileSecurityObject,
): Promise<boolean> {
  const right = await Promise.all(
    items.map(async ({ nameSpace, digestId, received }) => {
      const expected = digests.get(nameSpace)?.get(digestId);
      return expected !== undefined && isEqual(expected, await digest(digestAlgorithm, received));
    }),
  );
  return right.every(Boolean);
}

/** ISO/IEC 18013-5, 9.3.1: a licence names the state of its signer. */
function isForeign(issuingCountry: string | undefined, signerCountry: string | null): boolean {
  return (
    issuingCountry !== undefined && signerCountry !== null && issuingCountry !== signerCountry.toUpperCase()
  );
}

async function judgeHolder(
  { deviceAuth, deviceNameSpaces, docType }: MdocDocument,
  deviceKey: CoseKey | null,
  { asked, binding, holderProof }: JudgeContext,
  transcript: Uint8Array,
): Promise<Refusal | { kind: "key_proven" | "not_proven" }> {
  if (deviceAuth.kind === "none" || deviceNameSpaces === null) {
    const isTolerated = asked.purpose === "age" && holderProof === "not_required";
    return isTolerated ? { kind: "not_proven" } : refused("holder_proof_missing");
  }
  if (deviceKey === null) return refused("holder_signature");
  const content = deviceAuthenticationBytes(transcript, docType, deviceNameSpaces);
  const { cose } = deviceAuth;
  if (deviceAuth.kind === "mac") {
    const key = await macKey(deviceKey, binding, transcript);
    const isRight = key !== null && (await verifyMac0(cose, key, content));
    return isRight ? { kind: "key_proven" } : refused("holder_signature");
  }
  const publicKey = await importCoseKey(deviceKey, "ECDSA");
  const isRight = await verifySign1(cose, { publicKey, algorithm: deviceKey.algorithm }, content);
  return isRight ? { kind: "key_proven" } : refused("holder_signature");
}

/** Null where we have no key that the device could have agreed on one with. */
async function macKey(
  deviceKey: CoseKey,
  { readerKey }: HolderBinding,
  transcript: Uint8Array,
): Promise<CryptoKey | null> {
  if (readerKey === undefined || deviceKey.algorithm !== "ES256") return null;
  const { kty = "", crv = "", x = "", y = "", d = "" } = readerKey;
  const algorithm = { name: "ECDH", namedCurve: "P-256" };
  const privateKey = await crypto.subtle.importKey("jwk", { kty, crv, x, y, d }, algorithm, false, [
    "deriveBits",
  ]);
  return deviceMacKey(privateKey, await importCoseKey(deviceKey, "ECDH"), transcript);
}

function elementsOf(items: readonly IssuerSignedItem[]): MdocElements {
  const elements = new Map<string, Map<string, CborValue>>();
  for (const { nameSpace, element, value } of items) {
    const names = elements.get(nameSpace) ?? new Map<string, CborValue>();
    elements.set(nameSpace, names.set(element, value));
  }
  return elements;
}
