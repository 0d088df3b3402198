import { readWhole, type Tlv } from "@assay/emrtd/ber/read";
import { contextConstructed, tags } from "@assay/emrtd/ber/tag";
import { fromUtf8, toHex } from "@assay/emrtd/bytes";
import type { Certificate } from "@assay/emrtd/x509/certificate";
import { findExtension } from "@assay/emrtd/x509/find-extension";

/** The extension by which Android's secure hardware describes a key that it made. */
const keyDescriptionOid = "1.3.6.1.4.1.11129.2.1.17";

/** Those of real phones have under 1 kB. */
const limits = { maxBytes: 16 * 1024, maxDepth: 16, maxNodes: 2048 } as const;

/** Tags of an authorization list, of which there are some eighty. */
const authorizations = {
  purpose: 1,
  algorithm: 2,
  origin: 702,
  rootOfTrust: 704,
  applicationId: 709,
} as const;

/** The relevant part of a key's description. Null: not stated. */
export type KeyDescription = {
  /** 0: software, 1: a trusted execution environment, 2: a secure element (StrongBox). */
  attestationLevel: number;
  keyLevel: number;
  challenge: Uint8Array;
  /** From the list that the secure hardware enforces. What software states about these does not count. */
  purposes: readonly number[];
  algorithm: number | null;
  origin: number | null;
  rootOfTrust: { deviceLocked: boolean; bootState: number } | null;
  /** Stated by the operating system, which is as reliable as the boot state that the hardware attests. */
  application: { packages: readonly string[]; certificateDigests: readonly string[] } | null;
};

/** The description in a certificate, or null if it has none. Throws if it cannot be read. */
export function findKeyDescription(certificate: Certificate): KeyDescription | null {
  const extension = findExtension(certificate, keyDescriptionOid);
  return extension === null ? null : readKeyDescription(extension);
}

export function readKeyDescription(bytes: Uint8Array): KeyDescription {
  const description = readWhole(bytes, limits).expect(tags.sequence, "A key description");
  const software = description.at(6, "What software enforces", tags.sequence);
  const hardware = description.at(7, "What hardware enforces", tags.sequence);
  const purposes = findIn(hardware, authorizations.purpose)?.expect(tags.set, "The purposes of a key");
  return {
    attestationLevel: description.at(1, "The level of the attestation", tags.enumerated).smallInteger(),
    keyLevel: description.at(3, "The level of the key", tags.enumerated).smallInteger(),
    challenge: description.at(4, "The challenge").octetString(),
    purposes: purposes?.children().map((purpose) => purpose.smallInteger()) ?? [],
    algorithm: findIn(hardware, authorizations.algorithm)?.smallInteger() ?? null,
    origin: findIn(hardware, authorizations.origin)?.smallInteger() ?? null,
    rootOfTrust: readRootOfTrust(findIn(hardware, authorizations.rootOfTrust)),
    application: readApplication(findIn(software, authorizations.applicationId)),
  };
}

function findIn(list: Tlv, number: number): Tlv | null {
  return list.find(contextConstructed(number))?.at(0, "The value of an authorization") ?? null;
}

function readRootOfTrust(value: Tlv | null): KeyDescription["rootOfTrust"] {
  if (value === null) return null;
  value.expect(tags.sequence, "A root of trust");
  return {
    deviceLocked: value.at(1, "Whether the device is locked").boolean(),
    bootState: value.at(2, "The state of the verified boot", tags.enumerated).smallInteger(),
  };
}

function readApplication(value: Tlv | null): KeyDescription["application"] {
  if (value === null) return null;
  const application = readWhole(value.octetString(), limits).expect(tags.sequence, "An application id");
  const packages = application.at(0, "The packages of an application", tags.set).children();
  const digests = application.at(1, "The certificates of an application", tags.set).children();
  return {
    packages: packages.map((info) => fromUtf8(info.at(0, "The name of a package").octetString())),
    certificateDigests: digests.map((digest) => toHex(digest.octetString())),
  };
}
