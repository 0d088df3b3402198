import { oids } from "../ber/oid.ts";
import { readTlv, type Tlv } from "../ber/read.ts";
import { tags } from "../ber/tag.ts";
import { fromLatin1, toHex } from "../bytes.ts";
import { isInFuture } from "../clock-skew.ts";
import { readSignedData } from "../cms/signed-data.ts";
import { EmrtdError, isEmrtdError } from "../emrtd-error.ts";
import { type Certificate, readCertificate } from "../x509/certificate.ts";
import { type CertificateRevocationList, readCrl } from "../x509/crl.ts";
import { deviationListType, readDeviations } from "./deviation-list.ts";
import { findSigner, isOwnIssuer } from "./find-signer.ts";
import { readLdif } from "./ldif.ts";
import { type MasterListOptions, type RejectedItem, readMasterList } from "./master-list.ts";
import { readPem } from "./pem.ts";
import type { TrustRecord, TrustSignature, TrustSource, TrustSourceType } from "./trust-record.ts";
import { TrustStore } from "./trust-store.ts";

const maxImportBytes = 64 * 1024 * 1024;

type TrustImportOptions = MasterListOptions & {
  /**
   * The current trust.
   * Its revocation lists, and those of the same file, can revoke the signer of a master list.
   */
  readonly trust?: TrustStore;
  /** The name of the import in the list of sources, usually that of the file. */
  readonly label: string;
};

export type TrustImport = {
  /** One for each master list inside, and one for everything the operator alone vouches for. */
  readonly records: readonly TrustRecord[];
  readonly rejected: readonly RejectedItem[];
};

const nobody: TrustSignature = {
  signer: "",
  signerSha256: "",
  anchorSha256: "",
  signedAt: null,
  signerCertificate: null,
};

/** Reads a master list, an LDIF or PEM file, or a single certificate, revocation list or deviation list. */
export function importTrust(bytes: Uint8Array, options: TrustImportOptions): TrustImport {
  if (bytes.length > maxImportBytes) throw new EmrtdError("TRUST_IMPORT_INVALID", "The file is too large");
  const collector = new Collector(bytes, options);
  if (bytes[0] === tags.sequence) {
    collector.addEncoded(bytes, "the file", "der");
  } else {
    const text = fromLatin1(bytes);
    if (text.includes("-----BEGIN ")) {
      readPem(text).forEach((block, index) => {
        collector.addEncoded(block.bytes, `block ${index + 1}`, "pem");
      });
    } else {
      for (const item of readLdif(text))
        collector.addEncoded(item.bytes, `the value in line ${item.line}`, "ldif");
    }
  }
  return collector.finish();
}

class Collector {
  readonly #options: TrustImportOptions;
  readonly #sha256: string;
  readonly #records: TrustRecord[] = [];
  readonly #rejected: RejectedItem[] = [];
  readonly #certificates: Uint8Array[] = [];
  readonly #revocationLists: Uint8Array[] = [];
  readonly #deviationLists: Uint8Array[] = [];
  readonly #masterLists: { readonly bytes: Uint8Array; readonly item: string }[] = [];
  #type: TrustSourceType = "der";

  constructor(bytes: Uint8Array, options: TrustImportOptions) {
    this.#options = options;
    this.#sha256 = toHex(options.checker.hash("SHA-256", bytes));
  }

  addEncoded(bytes: Uint8Array, item: string, type: TrustSourceType): void {
    this.#type = type;
    this.#orReject(item, () => {
      const kind = kindOf(bytes);
      // Judged at the end, when all revocation lists of the file are known.
      if (kind === "master_list") this.#masterLists.push({ bytes, item });
      else if (kind === "deviation_list") this.#deviationLists.push(acceptDeviationList(bytes));
      else if (kind === "revocation_list") this.#revocationLists.push(this.#acceptList(readCrl(bytes)).der);
      else this.#certificates.push(this.#acceptCertificate(readCertificate(bytes)).der);
    });
  }

  #orReject(item: string, add: () => void): void {
    try {
      add();
    } catch (error) {
      if (!isEmrtdError(error)) throw error;
      this.#rejected.push({ item, reason: error.message });
    }
  }

  #addMasterList(bytes: Uint8Array, item: string): void {
    const list = readMasterList(bytes, this.#options, (signer, anchor) => this.#revokedAt(signer, anchor));
    for (const { item: inner, reason } of list.rejected)
      this.#rejected.push({ item: `${inner} of ${item}`, reason });
    const source = this.#source("master_list", list.signature);
    this.#records.push({ source, certificates: list.certificates, revocationLists: [] });
  }

  #revokedAt(signer: Certificate, anchor: Certificate): Date | null {
    const { trust, roots, checker, now } = this.#options;
    const before = trust?.revokedAt(signer, checker, now) ?? null;
    if (before !== null || this.#revocationLists.length === 0) return before;
    const certificates = [...roots, anchor].map(({ der }) => der);
    // Named, as roots are the operator's choice and need not be their own issuers.
    const source = this.#source("der", { ...nobody, signer: anchor.subject.display });
    const record = { source, certificates, revocationLists: this.#revocationLists };
    return new TrustStore([record], checker).revokedAt(signer, checker, now);
  }

  /** The store checks the signer: the authority may come with a later import. */
  #acceptList(list: CertificateRevocationList): CertificateRevocationList {
    if (isInFuture(list.thisUpdate, this.#options.now)) {
      throw new EmrtdError(
        "TRUST_IMPORT_INVALID",
        `The revocation list of ${list.issuer.display} is dated in the future, ${list.thisUpdate.toISOString()}`,
      );
    }
    return list;
  }

  /**
   * Only the operator vouches for a single certificate, so its marks and its self-signature must be right.
   */
  #acceptCertificate(certificate: Certificate): Certificate {
    const { basicConstraints, keyUsage } = certificate;
    if (basicConstraints?.ca !== true && keyUsage?.keyCertSign !== true) {
      throw new EmrtdError(
        "TRUST_IMPORT_INVALID",
        `${certificate.subject.display} is not a signing authority`,
      );
    }
    if (isOwnIssuer(certificate)) {
      const { signatureScheme: scheme, tbs: message, signature } = certificate;
      if (findSigner({ scheme, message, signature }, [{ certificate }], this.#options.checker) === null) {
        throw new EmrtdError(
          "TRUST_IMPORT_INVALID",
          `The signature of ${certificate.subject.display} does not hold`,
        );
      }
    }
    return certificate;
  }

  #source(type: TrustSourceType, signedBy: TrustSignature | null): TrustSource {
    const { label, now } = this.#options;
    return { type, label, sha256: this.#sha256, importedAt: now.toISOString(), signedBy };
  }

  finish(): TrustImport {
    for (const { bytes, item } of this.#masterLists) {
      this.#orReject(item, () => this.#addMasterList(bytes, item));
    }
    const loose = [this.#certificates, this.#revocationLists, this.#deviationLists];
    if (loose.some(({ length }) => length > 0)) {
      this.#records.push({
        source: this.#source(this.#type, null),
        certificates: this.#certificates,
        revocationLists: this.#revocationLists,
        ...(this.#deviationLists.length === 0 ? {} : { deviationLists: this.#deviationLists }),
      });
    }
    if (this.#records.length === 0 && this.#rejected.length === 0) {
      throw new EmrtdError(
        "TRUST_IMPORT_INVALID",
        "The file holds no master list, certificate, revocation list or deviation list in DER, PEM or LDIF",
      );
    }
    return { records: this.#records, rejected: this.#rejected };
  }
}

function isDeviationList(signedMessage: Tlv | undefined): boolean {
  const [, , content] = signedMessage?.children()[0]?.children() ?? [];
  const type = content?.constructed === true ? content.children()[0] : undefined;
  return type?.tag === tags.oid && type.oid() === deviationListType;
}

/** The signer is checked on use, as for revocation lists: the authority may come with a later import. */
function acceptDeviationList(bytes: Uint8Array): Uint8Array {
  readDeviations(readSignedData(bytes, { maxBytes: maxImportBytes }).content);
  return bytes;
}

function kindOf(bytes: Uint8Array): "master_list" | "deviation_list" | "revocation_list" | "certificate" {
  const [first, second] = readTlv(bytes, 0, { maxBytes: maxImportBytes })
    .expect(tags.sequence, "The value")
    .children();
  if (first?.tag === tags.oid && first.oid() === oids.signedData)
    return isDeviationList(second) ? "deviation_list" : "master_list";
  if (first?.tag !== tags.sequence || second === undefined) {
    throw new EmrtdError(
      "TRUST_IMPORT_INVALID",
      "The value is neither a certificate nor a revocation or master list",
    );
  }
  // A revocation list has its time where a certificate has the pair of times, and no public key.
  const times = first.children().filter(({ tag }) => tag === tags.utcTime || tag === tags.generalizedTime);
  return times.length > 0 ? "revocation_list" : "certificate";
}
