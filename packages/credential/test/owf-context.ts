import "reflect-metadata";
import { CoseKey, type MdocContext } from "@owf/mdoc";
import { X509Certificate } from "@peculiar/x509";
import { ownBytes } from "../src/bytes.ts";

const p256 = { name: "ECDSA", namedCurve: "P-256" } as const;
const ecdsa = { name: "ECDSA", hash: "SHA-256" } as const;

function notUsed(): never {
  throw new Error("not used in these tests");
}

/** WebCrypto for `@owf/mdoc`, the oracle of these tests. Chains are not its subject here. */
export const owfContext: MdocContext = {
  crypto: {
    random: (length) => crypto.getRandomValues(new Uint8Array(length)),
    digest: async ({ digestAlgorithm, bytes }) =>
      new Uint8Array(await crypto.subtle.digest(digestAlgorithm, ownBytes(bytes))),
    calculateEphemeralMacKey: notUsed,
  },
  cose: {
    sign1: {
      sign: async ({ key, toBeSigned }) => {
        const { kty, crv, x, y, d } = key.jwk as Record<string, string>;
        const imported = await crypto.subtle.importKey(
          "jwk",
          { kty: kty ?? "", crv: crv ?? "", x: x ?? "", y: y ?? "", d: d ?? "" },
          p256,
          false,
          ["sign"],
        );
        return new Uint8Array(await crypto.subtle.sign(ecdsa, imported, ownBytes(toBeSigned)));
      },
      verify: async ({ key, sign1 }) => {
        const imported = await crypto.subtle.importKey("raw", ownBytes(key.publicKey), p256, false, [
          "verify",
        ]);
        return crypto.subtle.verify(ecdsa, imported, ownBytes(sign1.signature), ownBytes(sign1.toBeSigned));
      },
    },
    mac0: { sign: notUsed, verify: notUsed },
  },
  x509: {
    getIssuerNameField: ({ certificate, field }) =>
      new X509Certificate(ownBytes(certificate)).issuerName.getField(field),
    getPublicKey: async ({ certificate }) => {
      const key = await new X509Certificate(ownBytes(certificate)).publicKey.export();
      return CoseKey.fromJwk({ ...(await crypto.subtle.exportKey("jwk", key)) });
    },
    verifyCertificateChain: () => {},
    getCertificateData: async ({ certificate }) => {
      const x509 = new X509Certificate(ownBytes(certificate));
      return {
        issuerName: x509.issuer,
        subjectName: x509.subject,
        serialNumber: x509.serialNumber,
        thumbprint: "",
        notBefore: x509.notBefore,
        notAfter: x509.notAfter,
        pem: x509.toString("pem"),
      };
    },
  },
};
