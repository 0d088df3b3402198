import type { CryptoKey } from "jose";
import "reflect-metadata";
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsageExtension,
  type Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from "@peculiar/x509";
import { type EcAlgorithm, ecAlgorithms } from "../../src/ec-algorithm.ts";

export type IssuerKeys = { algorithm: EcAlgorithm; privateKey: CryptoKey; publicKey: CryptoKey };

/** A certificate with the keys that belong to it. */
export type Identity = IssuerKeys & { certificate: Uint8Array<ArrayBuffer>; subject: string };

export type CertificateOrder = {
  /** As in `C=UT, CN=Signer`. */
  subject: string;
  notBefore: Date;
  notAfter: Date;
  algorithm?: EcAlgorithm;
  /** Made for this certificate where they are left out. */
  keys?: { privateKey: CryptoKey; publicKey: CryptoKey };
  /** Without it the certificate signs itself. */
  issuer?: Identity;
  isAuthority?: boolean;
  pathLength?: number;
  extendedKeyUsage?: readonly string[];
  extensions?: readonly Extension[];
};

/** For tests and for the test country. */
export async function makeCertificate(order: CertificateOrder): Promise<Identity> {
  const algorithm = order.algorithm ?? "ES256";
  const keys =
    order.keys ??
    (await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: ecAlgorithms[algorithm].curve }, true, [
      "sign",
      "verify",
    ]));
  const isAuthority = order.isAuthority ?? order.issuer === undefined;
  const signer = order.issuer ?? { ...keys, algorithm, subject: order.subject };
  const certificate = await X509CertificateGenerator.create({
    subject: order.subject,
    issuer: signer.subject,
    notBefore: order.notBefore,
    notAfter: order.notAfter,
    publicKey: keys.publicKey,
    signingKey: signer.privateKey,
    signingAlgorithm: { name: "ECDSA", hash: ecAlgorithms[signer.algorithm].hash },
    extensions: [
      new BasicConstraintsExtension(isAuthority, isAuthority ? order.pathLength : undefined, true),
      new KeyUsagesExtension(
        isAuthority ? KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign : KeyUsageFlags.digitalSignature,
        true,
      ),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
      await AuthorityKeyIdentifierExtension.create(signer.publicKey),
      ...(order.extendedKeyUsage === undefined
        ? []
        : [new ExtendedKeyUsageExtension([...order.extendedKeyUsage], true)]),
      ...(order.extensions ?? []),
    ],
  });
  return {
    algorithm,
    privateKey: keys.privateKey,
    publicKey: keys.publicKey,
    certificate: new Uint8Array(certificate.rawData),
    subject: order.subject,
  };
}
