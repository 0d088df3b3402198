import { fromBase64, toBase64 } from "../base64.ts";
import { EmrtdError } from "../emrtd-error.ts";

export type TrustSourceType = "master_list" | "ldif" | "pem" | "der";

/** Where a certificate or revocation list came from, and why it was accepted. */
export type TrustSource = {
  readonly type: TrustSourceType;
  /** The operator's name for it, usually that of a file. */
  readonly label: string;
  /** SHA-256 of the imported file, in hexadecimal. */
  readonly sha256: string;
  /** ISO 8601, UTC. */
  readonly importedAt: string;
  /** The signer of a master list; null if the operator's import is the reason to trust it. */
  readonly signedBy: TrustSignature | null;
};

export type TrustSignature = {
  readonly signer: string;
  readonly signerSha256: string;
  /** The root that vouches for the signer, or the signer itself when that was pinned. */
  readonly anchorSha256: string;
  /** ISO 8601; null when the signer did not say. */
  readonly signedAt: string | null;
  /** Base64, so that a later revocation of the signer is noticed; null in records of before it was kept. */
  readonly signerCertificate: string | null;
};

/** One import, as stored. A store is the sum of its records, so imports never overwrite each other. */
export type TrustRecord = {
  readonly source: TrustSource;
  readonly certificates: readonly Uint8Array[];
  readonly revocationLists: readonly Uint8Array[];
  /** Reports of states about faults of their documents; absent if the import had none. */
  readonly deviationLists?: readonly Uint8Array[];
};

const recordFormat = "assay-trust-record-1";

export function serialiseTrustRecord(record: TrustRecord): string {
  return `${JSON.stringify(
    {
      format: recordFormat,
      source: record.source,
      certificates: record.certificates.map(toBase64),
      revocation_lists: record.revocationLists.map(toBase64),
      ...(record.deviationLists === undefined
        ? {}
        : { deviation_lists: record.deviationLists.map(toBase64) }),
    },
    null,
    1,
  )}\n`;
}

export function deserialiseTrustRecord(text: string): TrustRecord {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new EmrtdError("TRUST_IMPORT_INVALID", "A trust record is not JSON");
  }
  const record = asObject(value, "A trust record");
  if (record.format !== recordFormat)
    throw new EmrtdError("TRUST_IMPORT_INVALID", "A trust record has an unknown format");
  return {
    source: readSource(asObject(record.source, "The source of a trust record")),
    certificates: readEncoded(record.certificates, "The certificates of a trust record"),
    revocationLists: readEncoded(record.revocation_lists, "The revocation lists of a trust record"),
    ...(record.deviation_lists === undefined
      ? {}
      : { deviationLists: readEncoded(record.deviation_lists, "The deviation lists of a trust record") }),
  };
}

function readSource(source: Record<string, unknown>): TrustSource {
  const type = source.type;
  if (type !== "master_list" && type !== "ldif" && type !== "pem" && type !== "der") {
    throw new EmrtdError("TRUST_IMPORT_INVALID", "The source of a trust record has an unknown type");
  }
  return {
    type,
    label: asText(source.label, "label"),
    sha256: asText(source.sha256, "sha256"),
    importedAt: asText(source.importedAt, "importedAt"),
    signedBy: source.signedBy === null ? null : readSignature(asObject(source.signedBy, "signedBy")),
  };
}

function readSignature(signature: Record<string, unknown>): TrustSignature {
  return {
    signer: asText(signature.signer, "signer"),
    signerSha256: asText(signature.signerSha256, "signerSha256"),
    anchorSha256: asText(signature.anchorSha256, "anchorSha256"),
    signedAt: signature.signedAt === null ? null : asText(signature.signedAt, "signedAt"),
    signerCertificate:
      signature.signerCertificate == null ? null : asText(signature.signerCertificate, "signerCertificate"),
  };
}

function asObject(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new EmrtdError("TRUST_IMPORT_INVALID", `${what} is not an object`);
  }
  return value as Record<string, unknown>;
}

function asText(value: unknown, field: string): string {
  if (typeof value !== "string") {
    throw new EmrtdError("TRUST_IMPORT_INVALID", `The field ${field} of a trust record is not text`);
  }
  return value;
}

function readEncoded(value: unknown, what: string): readonly Uint8Array[] {
  if (!Array.isArray(value)) throw new EmrtdError("TRUST_IMPORT_INVALID", `${what} are not a list`);
  return value.map((item) => fromBase64(asText(item, what)));
}
