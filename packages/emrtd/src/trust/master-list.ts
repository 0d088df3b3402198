import { toBase64 } from "../base64.ts";
import { oids } from "../ber/oid.ts";
import { readWhole } from "../ber/read.ts";
import { tags } from "../ber/tag.ts";
import { toHex } from "../bytes.ts";
import { clockSkewMilliseconds } from "../clock-skew.ts";
import { readSignedData } from "../cms/signed-data.ts";
import { verifySignedData } from "../cms/verify-signed-data.ts";
import type { SignatureChecker } from "../crypto/signature.ts";
import { EmrtdError, isEmrtdError } from "../emrtd-error.ts";
import { type Certificate, readCertificate } from "../x509/certificate.ts";
import { findSigner, keyIdFits, listTolerance } from "./find-signer.ts";
import type { TrustSignature } from "./trust-record.ts";

const maxListBytes = 16 * 1024 * 1024;
const maxListCertificates = 20_000;

export type MasterListOptions = {
  readonly checker: SignatureChecker;
  /** Authorities that may vouch for the signer of a list. */
  readonly roots: readonly Certificate[];
  /** SHA-256 fingerprints, in hexadecimal, of signers or their authorities that the operator trusts. */
  readonly pinnedSha256: readonly string[];
  readonly now: Date;
};

/** When the signer of a list, or the authority that vouches for it, was revoked; null if it was not. */
export type SignerRevocation = (signer: Certificate, anchor: Certificate) => Date | null;

export type RejectedItem = {
  /** For example "certificate 17". */
  readonly item: string;
  readonly reason: string;
};

export type MasterList = {
  readonly certificates: readonly Uint8Array[];
  readonly rejected: readonly RejectedItem[];
  readonly signature: TrustSignature;
};

/**
 * Reads a CSCA master list. Throws unless a signer that the operator trusts to name authorities signed it.
 */
export function readMasterList(
  bytes: Uint8Array,
  options: MasterListOptions,
  revokedAt: SignerRevocation,
): MasterList {
  const signedData = readSignedData(bytes, { maxBytes: maxListBytes });
  if (signedData.contentType !== oids.cscaMasterList) {
    throw new EmrtdError("MASTER_LIST_INVALID", "The signed message is not a master list");
  }
  const verdict = verifySignedData(signedData, options.checker, listTolerance);
  if (!verdict.valid) {
    throw new EmrtdError(
      "MASTER_LIST_INVALID",
      `The signature of the master list does not hold: ${verdict.fault}`,
    );
  }
  const { signer, signingTime } = verdict;
  if (!(signer.extendedKeyUsage ?? []).includes(oids.cscaMasterListSigningKey)) {
    throw new EmrtdError("MASTER_LIST_INVALID", "The certificate of the signer is not for master lists");
  }
  if (signingTime !== null && signingTime > options.now) {
    throw new EmrtdError("MASTER_LIST_INVALID", "The master list was signed in the future");
  }
  if (!signer.isValidAt(signingTime ?? options.now)) {
    throw new EmrtdError("MASTER_LIST_INVALID", "The certificate of the signer was not valid when it signed");
  }
  const anchor = findAnchor(signer, signedData.certificates, options);
  checkAnchor(anchor, signer, signingTime ?? options.now);
  // A key that was stolen can put any date on a list, so when the signer was revoked does not matter.
  if (revokedAt(signer, anchor) !== null) {
    throw new EmrtdError("MASTER_LIST_INVALID", "The signer of the master list was revoked");
  }
  return {
    ...readContent(signedData.content),
    signature: {
      signer: signer.subject.display,
      signerSha256: toHex(options.checker.hash("SHA-256", signer.der)),
      anchorSha256: toHex(options.checker.hash("SHA-256", anchor.der)),
      signedAt: signingTime?.toISOString() ?? null,
      signerCertificate: toBase64(signer.der),
    },
  };
}

/**
 * An authority vouches for a list only while it may sign: an old leaked key must not name new authorities.
 */
function checkAnchor(anchor: Certificate, signer: Certificate, signedAt: Date): void {
  if (anchor === signer) return;
  const begin = anchor.notBefore.getTime() - clockSkewMilliseconds;
  for (const time of [signedAt, signer.notBefore]) {
    if (time.getTime() >= begin && time <= anchor.notAfter) continue;
    throw new EmrtdError(
      "MASTER_LIST_INVALID",
      `The authority that vouches for the signer was not valid when ${time === signedAt ? "the list was signed" : "it did so"}`,
    );
  }
}

function findAnchor(
  signer: Certificate,
  embedded: readonly Uint8Array[],
  options: MasterListOptions,
): Certificate {
  const pinned = new Set(options.pinnedSha256.map((sha256) => sha256.toLowerCase().replaceAll(":", "")));
  const isPinned = (der: Uint8Array) => pinned.has(toHex(options.checker.hash("SHA-256", der)));
  if (isPinned(signer.der)) return signer;
  const roots = [...options.roots, ...embedded.filter(isPinned).map(readCertificate)];
  const candidates = roots
    .filter((root) => root.subject.key === signer.issuer.key && keyIdFits(signer, root))
    .map((certificate) => ({ certificate }));
  const { signatureScheme: scheme, tbs: message, signature } = signer;
  const found = findSigner({ scheme, message, signature }, candidates, options.checker);
  if (found === null) {
    throw new EmrtdError(
      "MASTER_LIST_INVALID",
      `No trusted root vouches for the signer of the master list, whose issuer is ${signer.issuer.display}`,
    );
  }
  return found.candidates[0].certificate;
}

function readContent(content: Uint8Array): Pick<MasterList, "certificates" | "rejected"> {
  const list = readWhole(content, {
    maxBytes: maxListBytes,
    maxDepth: 4,
    maxNodes: maxListCertificates + 8,
  });
  list.expect(tags.sequence, "A master list").at(0, "The version of a master list", tags.integer);
  const certificates: Uint8Array[] = [];
  const rejected: RejectedItem[] = [];
  let position = 0;
  for (const item of list.at(1, "The certificates of a master list", tags.set).iterate()) {
    position++;
    try {
      readCertificate(item.bytes);
      certificates.push(item.bytes);
    } catch (error) {
      if (!isEmrtdError(error)) throw error;
      rejected.push({ item: `certificate ${position}`, reason: error.message });
    }
  }
  return { certificates, rejected };
}
