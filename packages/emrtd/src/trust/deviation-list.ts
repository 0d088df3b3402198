import { readWhole, type Tlv } from "../ber/read.ts";
import { contextConstructed, contextPrimitive, tags } from "../ber/tag.ts";
import { fromLatin1, toHex } from "../bytes.ts";
import { readSignedData } from "../cms/signed-data.ts";
import { verifySignedData } from "../cms/verify-signed-data.ts";
import { type DigestName, digestForOid } from "../crypto/digests.ts";
import type { SignatureChecker } from "../crypto/signature.ts";
import { EmrtdError } from "../emrtd-error.ts";
import type { Certificate } from "../x509/certificate.ts";
import { readName } from "../x509/name.ts";
import { listTolerance, signerAmong } from "./find-signer.ts";
import type { TrustStore } from "./trust-store.ts";

/** A list of Italy names 346,275 documents one by one. */
const limits = { maxBytes: 32 * 1024 * 1024, maxDepth: 10, maxNodes: 2_000_000 } as const;
const maxDescriptionCharacters = 500;

export const deviationListType = "2.23.136.1.1.7";
export const deviationListSigningKey = "2.23.136.1.1.8";

/** The kinds of Doc 9303 part 3, by what follows the name of the list. */
const kinds = {
  "1": "certificate_or_key",
  "1.1": "signer_signature",
  "1.2": "signer_encoding",
  "1.3": "authority_encoding",
  "1.4": "active_authentication_key_compromised",
  "2": "files",
  "2.1": "group_malformed",
  "2.2": "group_hash_wrong",
  "2.3": "security_object_signature_wrong",
  "2.4": "com_inconsistent",
  "3": "zone",
  "3.1": "zone_wrong_data",
  "3.2": "zone_wrong_check_digit",
  "4": "chip",
  "5": "national_use",
} as const;

export type DeviationKind = (typeof kinds)[keyof typeof kinds] | "unknown";

export type DeviationDescription = {
  readonly kind: DeviationKind;
  /** The kind as the list names it. */
  readonly oid: string;
  /** The number of the group or field that is meant; null when none is. */
  readonly part: number | null;
  readonly text: string | null;
};

/** Which documents are meant: those for which everything holds that is not null. */
export type DeviatingDocuments = {
  /** Without fillers. */
  readonly documentType: string | null;
  readonly signer: DeviatingSigner | null;
  readonly issued: { readonly first: Date; readonly last: Date } | null;
  readonly documentNumbers: ReadonlySet<string> | null;
};

export type DeviatingSigner =
  | { readonly kind: "issuer_and_serial"; readonly issuerKey: string; readonly serial: string }
  | { readonly kind: "key_id"; readonly keyId: string }
  | { readonly kind: "digest"; readonly digest: string };

export type Deviation = {
  readonly documents: DeviatingDocuments;
  readonly descriptions: readonly DeviationDescription[];
};

/** A state's report about faults of its documents. */
export type DeviationList = {
  /** Upper case. A list covers only the documents of this state. */
  readonly country: string;
  readonly signer: string;
  readonly signedAt: Date | null;
  /** The hash of signer digests; null if the list does not say. */
  readonly digest: DigestName | null;
  readonly deviations: readonly Deviation[];
};

export type DeviationListOptions = {
  readonly checker: SignatureChecker;
  readonly trust: TrustStore;
  readonly now: Date;
};

/**
 * Reads a deviation list. Throws unless a signer for such lists, certified by a trusted authority, signed it.
 */
export function readDeviationList(bytes: Uint8Array, options: DeviationListOptions): DeviationList {
  const { checker, trust, now } = options;
  const signedData = readSignedData(bytes, { maxBytes: limits.maxBytes });
  if (signedData.contentType !== deviationListType)
    throw invalid("The signed message is not a deviation list");
  const verdict = verifySignedData(signedData, checker, listTolerance);
  if (!verdict.valid) throw invalid(`The signature of the deviation list does not hold: ${verdict.fault}`);
  const { signer, signingTime } = verdict;
  if (!(signer.extendedKeyUsage ?? []).includes(deviationListSigningKey))
    throw invalid("The certificate of the signer is not for deviation lists");
  if (signingTime !== null && signingTime > now) throw invalid("The deviation list was signed in the future");
  if (!signer.isValidAt(signingTime ?? now))
    throw invalid("The certificate of the signer was not valid when it signed");
  const authority = signerAmong(signer, trust.issuersOf(signer).authorities, checker);
  if (authority === null) throw invalid("No trusted authority vouches for the signer of the deviation list");
  if (trust.revokedAt(signer, checker, now) !== null)
    throw invalid("The signer of the deviation list was revoked");
  const country = authority.certificate.subject.country?.toUpperCase();
  if (country === undefined) throw invalid("The authority behind the deviation list names no state");
  return {
    country,
    signer: signer.subject.display,
    signedAt: signingTime,
    ...readDeviations(signedData.content),
  };
}

/** The content of a list, without a look at who signed it. */
export function readDeviations(content: Uint8Array): Pick<DeviationList, "digest" | "deviations"> {
  const list = readWhole(content, limits).expect(tags.sequence, "A deviation list");
  const [version, second, third] = list.children();
  if (version?.expect(tags.integer, "The version of a deviation list").smallInteger() !== 0)
    throw invalid("The deviation list has an unknown version");
  const algorithm = second?.tag === tags.sequence ? second : null;
  const deviations = algorithm === null ? second : third;
  if (deviations === undefined) throw invalid("The deviation list lacks its deviations");
  return {
    digest: algorithm === null ? null : digestForOid(algorithm.at(0, "The hash of a deviation list").oid()),
    deviations: [...deviations.expect(tags.set, "The deviations").iterate()].map(readDeviation),
  };
}

function readDeviation(deviation: Tlv): Deviation {
  deviation.expect(tags.sequence, "A deviation");
  const descriptions = deviation.at(1, "The descriptions of a deviation", tags.set).children();
  return {
    documents: readDocuments(deviation.at(0, "The documents of a deviation", tags.sequence)),
    descriptions: descriptions.map(readDescription),
  };
}

/**
 * The tags are implicit by the standard.
 * An additional universal tag inside, as some makers write, is read too.
 */
function readDocuments(documents: Tlv): DeviatingDocuments {
  const field = (number: number) =>
    documents.find(contextPrimitive(number)) ?? documents.find(contextConstructed(number));
  const only = (node: Tlv): Tlv => (node.constructed ? node.at(0, "A criterion of a deviation") : node);
  const list = (node: Tlv): readonly Tlv[] => {
    const children = node.children();
    const [first] = children;
    return children.length === 1 && first?.constructed === true ? first.children() : children;
  };
  const [type, period, numbers] = [field(0), field(4), field(5)];
  const [first, last] = period === null ? [] : list(period);
  if (period !== null && (first === undefined || last === undefined))
    throw invalid("The period of a deviation is not complete");
  return {
    documentType: type === null ? null : plain(fromLatin1(only(type).value.subarray(0, 8))),
    signer: readSigner(field(1), field(2), field(3), only, list),
    issued: first === undefined || last === undefined ? null : { first: first.time(), last: last.time() },
    documentNumbers: numbers === null ? null : new Set(list(numbers).map((number) => plain(number.text()))),
  };
}

function readSigner(
  issuerAndSerial: Tlv | null,
  keyId: Tlv | null,
  digest: Tlv | null,
  only: (node: Tlv) => Tlv,
  list: (node: Tlv) => readonly Tlv[],
): DeviatingSigner | null {
  if (issuerAndSerial !== null) {
    const [issuer, serial] = list(issuerAndSerial);
    if (issuer === undefined || serial === undefined)
      throw invalid("The signer of a deviation is not complete");
    return { kind: "issuer_and_serial", issuerKey: readName(issuer).key, serial: toHex(serial.value) };
  }
  if (keyId !== null) return { kind: "key_id", keyId: toHex(only(keyId).value) };
  return digest === null ? null : { kind: "digest", digest: toHex(only(digest).value) };
}

function readDescription(description: Tlv): DeviationDescription {
  const parts = description.expect(tags.sequence, "The description of a deviation").children();
  const type = parts.find(({ tag }) => tag === tags.oid);
  if (type === undefined) throw invalid("The description of a deviation has no kind");
  const text = parts[0] === type ? undefined : parts[0];
  const parameter = description.find(contextConstructed(0))?.children()[0];
  const oid = type.oid();
  return {
    kind: kindOf(oid),
    oid,
    part: parameter?.tag === tags.integer ? parameter.smallInteger() : null,
    text: text?.text().slice(0, maxDescriptionCharacters) ?? null,
  };
}

function kindOf(oid: string): DeviationKind {
  const rest = oid.startsWith(`${deviationListType}.`) ? oid.slice(deviationListType.length + 1) : "";
  return Object.hasOwn(kinds, rest) ? kinds[rest as keyof typeof kinds] : "unknown";
}

function plain(text: string): string {
  return text.replaceAll("<", "").trim();
}

function invalid(message: string): EmrtdError {
  return new EmrtdError("DEVIATION_LIST_INVALID", message);
}

/** The properties of a document that select its deviations. */
export type DocumentInQuestion = {
  /** Country of its authority; upper case. */
  readonly country: string | null;
  readonly documentCode: string;
  readonly documentNumber: string;
  readonly signer: Certificate;
  readonly signedAt: Date | null;
};

/**
 * What the lists of its state say about a document.
 * If its date is unknown, periods do not exclude deviations.
 */
export function deviationsOf(
  lists: readonly DeviationList[],
  document: DocumentInQuestion,
  checker: SignatureChecker,
): readonly DeviationDescription[] {
  return lists
    .filter(({ country }) => country === document.country)
    .flatMap(({ deviations, digest }) =>
      deviations
        .filter(({ documents }) => isMeant(documents, document, digest, checker))
        .flatMap(({ descriptions }) => descriptions),
    );
}

function isMeant(
  { documentType, signer, issued, documentNumbers }: DeviatingDocuments,
  document: DocumentInQuestion,
  digest: DigestName | null,
  checker: SignatureChecker,
): boolean {
  const { documentCode, documentNumber, signedAt } = document;
  if (documentType !== null && documentType !== documentCode && documentType !== documentCode.slice(0, 1))
    return false;
  if (documentNumbers !== null && !documentNumbers.has(documentNumber)) return false;
  if (issued !== null && signedAt !== null && (signedAt < issued.first || signedAt > issued.last))
    return false;
  return signer === null || isSigner(signer, document.signer, digest, checker);
}

function isSigner(
  meant: DeviatingSigner,
  signer: Certificate,
  digest: DigestName | null,
  checker: SignatureChecker,
): boolean {
  switch (meant.kind) {
    case "issuer_and_serial":
      return signer.issuer.key === meant.issuerKey && signer.serial === meant.serial;
    case "key_id":
      return signer.subjectKeyId !== null && toHex(signer.subjectKeyId) === meant.keyId;
    case "digest":
      return digest !== null && toHex(checker.hash(digest, signer.der)) === meant.digest;
  }
}
