import type { X509Certificate } from "@peculiar/x509";
import { type CryptoKey, importX509 } from "jose";
import { fromBase64, toBase64Url } from "../base64url.ts";
import { digest } from "../bytes.ts";
import { CredentialError, malformedIn } from "../credential-error.ts";
import { isJsonArray, isJsonObject, type Json, type JsonObject, readJson } from "../json.ts";
import { certificatesOf, claimsOf, hasSignature, readJws, type UncheckedJws } from "../jws/read-jws.ts";
import type { Purpose } from "../trust-anchor.ts";
import type { ListSigner, TrustedList } from "../trusted-list.ts";
import { parseAnyCertificate, trustedListSigner } from "./list-signer.ts";

const malformed = malformedIn("List");

export type LoteOptions = { signers: readonly ListSigner[]; now: Date };

const maxCharacters = 32 * 1024 * 1024;

/**
 * A list of trusted entities (ETSI TS 119 602), signed as JAdES: in compact form, or as JSON with one
 * signature. Lists of entities other than issuers give no anchors.
 */
export async function readLote(list: string | Uint8Array, options: LoteOptions): Promise<TrustedList> {
  const text = typeof list === "string" ? list : new TextDecoder("utf-8").decode(list);
  if (text.length > maxCharacters) throw new CredentialError("too_large", "List: too many characters");
  const jws = readJws(compactForm(text.trim()), maxCharacters);
  const signer = await checkSignature(jws, options);
  return { ...readLoteContent(claimsOf(jws)), signer: new Uint8Array(signer.rawData) };
}

/** Reads the signed content. */
export function readLoteContent(claims: JsonObject): Omit<TrustedList, "signer"> {
  const lote = membersOf(claims.LoTE, listMembers);
  const scheme = membersOf(lote.ListAndSchemeInformation, schemeMembers);
  if (scheme.LoTEVersionIdentifier !== 1) throw new CredentialError("not_supported", "List: another version");
  const sequence = scheme.LoTESequenceNumber;
  if (typeof sequence !== "number" || !Number.isSafeInteger(sequence) || sequence < 0)
    throw malformed("no sequence number");
  const services = arrayOf(lote.TrustedEntitiesList ?? []).flatMap(servicesOf);
  return {
    issuedAt: timeOf(scheme.ListIssueDateTime),
    nextUpdate: scheme.NextUpdate === undefined ? null : timeOf(scheme.NextUpdate),
    sequence,
    anchors: certificatesFor(services, "issuance"),
    statusAnchors: certificatesFor(services, "status"),
  };
}

/** The JSON serialisations of a JWS (RFC 7515, 7.2) with one signature, written as its compact form. */
function compactForm(text: string): string {
  if (!text.startsWith("{")) return text;
  const json = readJson(text);
  if (!isJsonObject(json)) throw malformed("not a signed list");
  const signatures = json.signatures === undefined ? [json] : arrayOf(json.signatures);
  const [signature] = signatures;
  if (signatures.length !== 1 || !isJsonObject(signature)) throw malformed("not one signature");
  const parts = [signature.protected, json.payload, signature.signature];
  if (!parts.every((part) => typeof part === "string")) throw malformed("not a signed list");
  return parts.join(".");
}

/** RSA or ECDSA, depending on the key. */
const algorithms = /^(?:ES(?:256|384|512)|[RP]S(?:256|384|512))$/;
/** JAdES parameters about time, place and purpose. They may be critical, but do not change what is signed. */
const understood = ["sigT", "sigPl", "srCms", "srAts", "x5t#o", "sigX5ts"];
const minRsaBits = 2048;

async function checkSignature(jws: UncheckedJws, { signers, now }: LoteOptions): Promise<X509Certificate> {
  const { alg, sigD } = jws.header;
  if (typeof alg !== "string" || !algorithms.test(alg) || sigD !== undefined)
    throw new CredentialError("not_supported", "List: another kind of signature");
  const carried = certificatesOf(jws);
  const thumbprint = jws.header["x5t#S256"];
  const chains =
    carried === null ? signers.filter((signer) => typeof signer !== "string").map((der) => [der]) : [carried];
  for (const chain of chains) {
    const signer = await trustedListSigner(chain, signers, now);
    if (signer === null) continue;
    if (
      thumbprint !== undefined &&
      thumbprint !== toBase64Url(await digest("SHA-256", chain[0] ?? new Uint8Array()))
    )
      continue;
    const key = await keyOf(signer, alg);
    if (key !== null && (await hasSignature(jws, key, alg, understood))) return signer;
  }
  throw new CredentialError("signature", "List: no trusted signer");
}

/** Null for a key that this algorithm cannot have, or that is too short. */
async function keyOf(signer: X509Certificate, alg: string): Promise<CryptoKey | null> {
  try {
    const key = await importX509(signer.toString("pem"), alg);
    const { modulusLength }: { name: string; modulusLength?: number } = key.algorithm;
    return modulusLength === undefined || modulusLength >= minRsaBits ? key : null;
  } catch {
    return null;
  }
}

type Service = { purpose: Purpose; use: "issuance" | "status"; certificates: readonly Uint8Array[] };

/** The EU's lists name a service by its type: one issues, another says what no longer counts. */
const serviceTypes: Readonly<Record<string, Pick<Service, "purpose" | "use">>> = {
  "http://uri.etsi.org/19602/SvcType/PID/Issuance": { purpose: "pid", use: "issuance" },
  "http://uri.etsi.org/19602/SvcType/PID/Revocation": { purpose: "pid", use: "status" },
  "http://trust.ec.europa.eu/lists/mDL/SvcType/Issuance": { purpose: "mdl", use: "issuance" },
  "http://trust.ec.europa.eu/lists/mDL/SvcType/Revocation": { purpose: "mdl", use: "status" },
  "http://uri.etsi.org/19602/SvcType/mDL/Issuance": { purpose: "mdl", use: "issuance" },
  "http://uri.etsi.org/19602/SvcType/mDL/Revocation": { purpose: "mdl", use: "status" },
};

const listMembers = ["ListAndSchemeInformation", "TrustedEntitiesList"];
const schemeMembers = [
  "LoTEVersionIdentifier",
  "LoTESequenceNumber",
  "LoTEType",
  "SchemeOperatorName",
  "SchemeOperatorAddress",
  "SchemeName",
  "SchemeInformationURI",
  "StatusDeterminationApproach",
  "SchemeTypeCommunityRules",
  "SchemeTerritory",
  "PolicyOrLegalNotice",
  "HistoricalInformationPeriod",
  "PointersToOtherLoTE",
  "ListIssueDateTime",
  "NextUpdate",
  "DistributionPoints",
  "SchemeExtensions",
];
const entityMembers = ["TrustedEntityInformation", "TrustedEntityServices"];
const serviceMembers = ["ServiceInformation", "ServiceHistory"];
const informationMembers = [
  "ServiceName",
  "ServiceDigitalIdentity",
  "ServiceTypeIdentifier",
  "ServiceStatus",
  "StatusStartingTime",
  "SchemeServiceDefinitionURI",
  "ServiceSupplyPoints",
  "ServiceDefinitionURI",
  "ServiceInformationExtensions",
];
const identityMembers = ["X509Certificates", "X509SubjectNames", "PublicKeyValues", "X509SKIs", "OtherIds"];

function servicesOf(entity: Json): readonly Service[] {
  const { TrustedEntityServices: services } = membersOf(entity, entityMembers);
  return arrayOf(services).flatMap((service) => {
    const information = membersOf(membersOf(service, serviceMembers).ServiceInformation, informationMembers);
    const {
      ServiceTypeIdentifier: type,
      ServiceStatus: status,
      ServiceDigitalIdentity: identity,
    } = information;
    const known =
      typeof type === "string" && Object.hasOwn(serviceTypes, type) ? serviceTypes[type] : undefined;
    if (known === undefined || !isActive(status)) return [];
    const { X509Certificates: certificates = [] } = membersOf(identity, identityMembers);
    return [{ ...known, certificates: arrayOf(certificates).map(certificateOf) }];
  });
}

/** Lists of PID providers have no status: who is named counts. Where there is one, it has to be good. */
function isActive(status: Json | undefined): boolean {
  return status === undefined || (typeof status === "string" && /\/(?:granted|notified)$/.test(status));
}

function certificateOf(object: Json): Uint8Array {
  if (!isJsonObject(object) || typeof object.val !== "string") throw malformed("no certificate");
  const certificate = fromBase64(object.val.replaceAll(/\s/g, ""));
  parseAnyCertificate(certificate);
  return certificate;
}

function certificatesFor(services: readonly Service[], use: Service["use"]): TrustedList["anchors"] {
  const found = new Map<string, TrustedList["anchors"][number]>();
  for (const { purpose, certificates } of services.filter((service) => service.use === use)) {
    for (const certificate of certificates) {
      found.set(`${purpose} ${toBase64Url(certificate)}`, { purpose, certificate });
    }
  }
  return [...found.values()];
}

/** Closed: a member that is spelt otherwise would hide what it says, such as that a service was withdrawn. */
function membersOf(value: Json | undefined, names: readonly string[]): JsonObject {
  if (!isJsonObject(value)) throw malformed("an object is missing");
  if (Object.keys(value).some((name) => !names.includes(name))) throw malformed("unknown member");
  return value;
}

function arrayOf(value: Json | undefined): readonly Json[] {
  if (!isJsonArray(value)) throw malformed("an array is missing");
  return value;
}

function timeOf(value: Json | undefined): Date {
  const time =
    typeof value === "string" && /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/.test(value)
      ? new Date(value)
      : null;
  if (time === null || Number.isNaN(time.getTime())) throw malformed("no time");
  return time;
}
