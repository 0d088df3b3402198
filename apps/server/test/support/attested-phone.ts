import { tags } from "@assay/emrtd/ber/tag";
import { boolean, contextTag, integer, octetString, sequence, setOf, tlv } from "@assay/emrtd/ber/write";
import { fromHex, utf8 } from "@assay/emrtd/bytes";
import {
  type CertificateRequest,
  type Issuer,
  issueCertificate,
} from "@assay/emrtd/node/test-country/issue-certificate";
import { ecSigningKey } from "@assay/emrtd/node/test-country/signing-key";
import type { Attestation } from "../../src/verification/device-attestation/verify-attestation.ts";

/** A maker of phones for tests, whose secure hardware attests what a test wants. */

const day = 24 * 3600_000;
export const madeAt = new Date("2026-03-01T09:30:00.000Z");
const validity = {
  notBefore: new Date(madeAt.getTime() - day),
  notAfter: new Date(madeAt.getTime() + 900 * day),
};
const scheme = { kind: "ecdsa", hash: "SHA-256" } as const;

function issuer(label: string): Issuer {
  return {
    name: { country: "UT", organization: "Phones", commonName: label },
    key: ecSigningKey("attested phones", label, "secp256r1", { explicitParameters: false }),
    scheme,
  };
}

const [root, intermediate, phone] = [issuer("Root"), issuer("Factory"), issuer("Keystore key")];
export const digest = "ab".repeat(32);
export const app = { packageName: "org.example.verify", certificateDigests: [digest.toUpperCase()] };

/** How it may differ from a good phone. */
export type Said = {
  challenge: Uint8Array;
  level?: number;
  purpose?: number;
  origin?: number;
  locked?: boolean;
  bootState?: number;
  packages?: readonly string[];
  digests?: readonly string[];
  /** Only software states the root of trust. */
  rootOfTrustInSoftware?: boolean;
};

const enumerated = (value: number) => tlv(tags.enumerated, Uint8Array.of(value));

export function keyDescription(said: Said): Uint8Array {
  const { level = 1, purpose = 2, origin = 0, locked = true, bootState = 0 } = said;
  const { packages = [app.packageName], digests = [digest] } = said;
  const rootOfTrust = contextTag(
    704,
    sequence(
      octetString(new Uint8Array(32)),
      boolean(locked),
      enumerated(bootState),
      octetString(new Uint8Array(32)),
    ),
  );
  const application = sequence(
    setOf(...packages.map((name) => sequence(octetString(utf8(name)), integer(1)))),
    setOf(...digests.map((hex) => octetString(fromHex(hex)))),
  );
  const inSoftware = said.rootOfTrustInSoftware === true;
  return sequence(
    integer(300),
    enumerated(level),
    integer(300),
    enumerated(level),
    octetString(said.challenge),
    octetString(new Uint8Array()),
    sequence(
      contextTag(701, integer(1_700_000_000_000)),
      ...(inSoftware ? [rootOfTrust] : []),
      contextTag(709, octetString(application)),
    ),
    sequence(
      contextTag(1, setOf(integer(purpose))),
      contextTag(2, integer(3)),
      contextTag(702, integer(origin)),
      ...(inSoftware ? [] : [rootOfTrust]),
    ),
  );
}

const describing = (value: Uint8Array) => [{ type: "1.3.6.1.4.1.11129.2.1.17", critical: false, value }];

function certificate(
  from: Issuer,
  to: Issuer,
  serial: number,
  more: Partial<CertificateRequest> = {},
): Uint8Array {
  return issueCertificate({
    issuer: from,
    subject: to.name,
    subjectKey: to.key,
    serial: Uint8Array.of(serial),
    validity,
    use: "authority",
    ...more,
  });
}

export const rootCertificate = certificate(root, root, 1);
export const rootPem = `-----BEGIN CERTIFICATE-----\n${Buffer.from(rootCertificate).toString("base64")}\n-----END CERTIFICATE-----\n`;
export const rootKey = root.key.subjectPublicKeyInfo;
export const factorySerial = "2";

export function attest(said: Said, message: Uint8Array): Attestation {
  const leaf = certificate(intermediate, phone, 3, {
    use: "document_signer",
    extensions: describing(keyDescription(said)),
  });
  return {
    certificates: [leaf, certificate(root, intermediate, 2), rootCertificate],
    signature: phone.key.sign(scheme, message),
  };
}

/** A good phone's key signs a certificate with any content for another key. */
export function attestThroughAnAttestedKey(said: Said, message: Uint8Array): Attestation {
  const forged = issuer("Forged");
  const [leaf, ...above] = attest({ ...said, packages: ["org.evil.app"] }, message).certificates;
  if (leaf === undefined) throw new Error("no certificate");
  const asAuthority = certificate(intermediate, phone, 3, {
    extensions: describing(keyDescription({ ...said, packages: ["org.evil.app"] })),
  });
  return {
    certificates: [
      certificate(phone, forged, 4, { use: "document_signer", extensions: describing(keyDescription(said)) }),
      asAuthority,
      ...above,
    ],
    signature: forged.key.sign(scheme, message),
  };
}

export function expiredFactory(said: Said, message: Uint8Array): Attestation {
  const { certificates, signature } = attest(said, message);
  const expired = certificate(root, intermediate, 2, {
    validity: { notBefore: validity.notBefore, notAfter: new Date(madeAt.getTime() - 1000) },
  });
  return { certificates: [...certificates.slice(0, 1), expired, rootCertificate], signature };
}

/** The certificate above the phone's is not that of an authority. */
export function withoutAuthority(said: Said, message: Uint8Array): Attestation {
  const { certificates, signature } = attest(said, message);
  const plain = certificate(root, intermediate, 2, { use: "document_signer" });
  return { certificates: [...certificates.slice(0, 1), plain, rootCertificate], signature };
}
