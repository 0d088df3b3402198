import { isEqual } from "../bytes.ts";
import { anyMap } from "../cbor/closed-map.ts";
import { decode } from "../cbor/decode.ts";
import { CborTag, type CborValue, isArray } from "../cbor/value.ts";
import { readSingle, type Single, x5chainOf } from "../cose/headers.ts";
import { verifySign1 } from "../cose/sign1.ts";
import { CredentialError, malformedIn } from "../credential-error.ts";
import { documentTypes } from "../dcql/ask.ts";
import { parseAnyCertificate, trustedListSigner } from "../lote/list-signer.ts";
import { readTime } from "../mdoc/mobile-security-object.ts";
import type { ListSigner, TrustedList } from "../trusted-list.ts";
import { parseCertificate, signingKeyOf } from "../x509/certificate.ts";

const malformed = malformedIn("VICAL");

const maxBytes = 16 * 1024 * 1024;
/** Some twenty data items for each of ten thousand authorities. */
const maxItems = 200_000;
/** Extended key usage of a signer of VICALs (ISO/IEC 18013-5, C.1.7.3). */
const vicalSignerUsage = "1.0.18013.5.1.8";

/**
 * A verified issuer certificate authority list (ISO/IEC 18013-5, C.1.7).
 * Its authorities for driving licences become anchors.
 */
export async function readVical(
  bytes: Uint8Array,
  { signers, now }: { signers: readonly ListSigner[]; now: Date },
): Promise<TrustedList> {
  const value = decode(bytes, { maxBytes, maxItems });
  const sign1 = readSingle(value instanceof CborTag && value.tag === 18 ? value.content : value);
  if (sign1.payload === null) throw malformed("no content");
  const signer = await checkSignature(sign1, sign1.payload, signers, now);
  return { ...readVicalContent(sign1.payload), signer };
}

/** Reads the signed content. */
export function readVicalContent(payload: Uint8Array): Omit<TrustedList, "signer"> {
  const vical = anyMap(decode(payload, { maxBytes, maxItems }));
  if (typeof vical.get("version") !== "string" || !/^1\./.test(String(vical.get("version")))) {
    throw new CredentialError("not_supported", "VICAL: another version");
  }
  const infos = vical.get("certificateInfos");
  if (!isArray(infos)) throw malformed("no certificates");
  const sequence = vical.get("vicalIssueID");
  return {
    issuedAt: readTime(vical.get("date")),
    nextUpdate: vical.has("nextUpdate") ? readTime(vical.get("nextUpdate")) : null,
    sequence: typeof sequence === "number" ? sequence : null,
    anchors: distinct(infos.flatMap(licenceAuthority)).map((certificate) => ({
      purpose: "mdl",
      certificate,
    })),
  };
}

async function checkSignature(
  sign1: Single,
  payload: Uint8Array,
  signers: readonly ListSigner[],
  now: Date,
): Promise<Uint8Array> {
  const chain = x5chainOf(sign1);
  const [leaf] = chain;
  if (leaf === undefined || (await trustedListSigner(chain, signers, now)) === null) {
    throw new CredentialError("signature", "VICAL: no trusted signer");
  }
  const certificate = parseCertificate(leaf);
  const mayList = certificate.extendedKeyUsage?.includes(vicalSignerUsage) ?? true;
  if (!mayList || certificate.hasUnknownCritical)
    throw new CredentialError("signature", "VICAL: key for another use");
  if (!(await verifySign1(sign1, await signingKeyOf(certificate), payload)))
    throw new CredentialError("signature", "VICAL: wrong signature");
  return leaf;
}

/**
 * Lists also name authorities of other documents.
 * An unreadable certificate vouches for nothing and is left out.
 */
function licenceAuthority(value: CborValue): readonly Uint8Array[] {
  const info = anyMap(value);
  const types = info.get("docType");
  const certificate = info.get("certificate");
  if (!isArray(types) || !(certificate instanceof Uint8Array)) throw malformed("certificate");
  if (!types.includes(documentTypes.mdl.mso_mdoc)) return [];
  try {
    parseAnyCertificate(certificate);
    return [certificate];
  } catch (error) {
    if (error instanceof CredentialError) return [];
    throw error;
  }
}

function distinct(certificates: readonly Uint8Array[]): readonly Uint8Array[] {
  return certificates.filter(
    (one, index) => certificates.findIndex((other) => isEqual(one, other)) === index,
  );
}
