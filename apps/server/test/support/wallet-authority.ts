import "reflect-metadata";
import assert from "node:assert/strict";
import { createHash, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Environment } from "@assay/contract/facts";
import { encode } from "@assay/credential/cbor/encode";
import { type CborKey, CborTag, type CborValue } from "@assay/credential/cbor/value";
import { label } from "@assay/credential/cose/headers";
import { signSign1 } from "@assay/credential/cose/sign1";
import type { Purpose } from "@assay/credential/trust-anchor";
import { Pkcs10CertificateRequest } from "@peculiar/x509";
import { CompactSign } from "jose";
import {
  type Identity,
  makeCertificate,
} from "../../../../packages/credential/test/support/make-certificate.ts";
import { dayMs } from "../../src/platform/kernel/clock.ts";
import type { WalletListType } from "../../src/verification/trust/read-wallet-list.ts";
import { changeTrust } from "../../src/verification/trust/trust.store.ts";
import { insertWalletImport } from "../../src/verification/trust/wallet-trust.store.ts";
import type { TestService } from "./service.ts";

const subjectAlternativeName = "2.5.29.17";
const validity = { notBefore: new Date("2026-01-01T00:00:00Z"), notAfter: new Date("2040-01-01T00:00:00Z") };

/** An authority of wallet issuers, with a signer below it. */
export async function createWalletAuthority(name: string): Promise<{ root: Identity; signer: Identity }> {
  const root = await makeCertificate({ subject: `C=UT, CN=${name}`, ...validity });
  const signer = await makeCertificate({ subject: `C=UT, CN=${name} signer`, ...validity, issuer: root });
  return { root, signer };
}

/** Trusts an authority as an import does. */
export async function trustWalletAuthority(
  { core, clock }: Pick<TestService, "core" | "clock">,
  certificate: Uint8Array,
  {
    purpose,
    scope = "live",
    type = "certificates",
    nextUpdate = null,
  }: { purpose: Purpose; scope?: Environment; type?: WalletListType; nextUpdate?: Date | null },
): Promise<string> {
  const now = clock.now();
  const sha256 = createHash("sha256").update(certificate).update(`${type} ${nextUpdate}`).digest("hex");
  const list = {
    ...{
      sha256,
      purpose,
      scope,
      type,
      nextUpdate,
      label: `${type} of the test`,
      importedAt: now,
      signedBy: null,
    },
    certificates: [certificate],
    statusCertificates: [],
  };
  await changeTrust(core.db, now, "command", async (tx) => {
    await insertWalletImport(tx, list);
    return [{ act: "imported", subject: list.label, detail: "for a test" }];
  });
  return sha256;
}

export const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
export const pem = (...certificates: readonly Uint8Array[]) =>
  certificates.map((der) => new X509Certificate(der).toString()).join("");

/** A list of PID providers (ETSI TS 119 602). */
export function writeLote(
  publisher: Identity,
  at: string,
  certificates: readonly Uint8Array[],
  nextUpdate = "2027-01-01T00:00:00Z",
): Promise<string> {
  const list = {
    LoTE: {
      ListAndSchemeInformation: {
        LoTEVersionIdentifier: 1,
        LoTESequenceNumber: 1,
        LoTEType: "http://uri.etsi.org/19602/LoTEType/EUPIDProvidersList",
        SchemeOperatorName: [{ lang: "en", value: "Publisher" }],
        ListIssueDateTime: at,
        NextUpdate: nextUpdate,
      },
      TrustedEntitiesList: certificates.map((certificate) => ({
        TrustedEntityInformation: {
          TEName: [{ lang: "en", value: "Provider" }],
          TEAddress: {},
          TEInformationURI: [{ lang: "en", uriValue: "https://provider.example" }],
        },
        TrustedEntityServices: [
          {
            ServiceInformation: {
              ServiceName: [{ lang: "en", value: "Service" }],
              ServiceDigitalIdentity: { X509Certificates: [{ val: base64(certificate) }] },
              ServiceTypeIdentifier: "http://uri.etsi.org/19602/SvcType/PID/Issuance",
            },
          },
        ],
      })),
    },
  };
  return new CompactSign(Buffer.from(JSON.stringify(list)))
    .setProtectedHeader({ alg: "ES256", x5c: [base64(publisher.certificate)] })
    .sign(publisher.privateKey);
}

/** A list of driving licence authorities (ISO/IEC 18013-5, annex C). */
export async function writeVical(
  publisher: Identity,
  certificate: Uint8Array,
  nextUpdate = "2026-02-02T00:00:00Z",
): Promise<{ bytes: Uint8Array; pin: string }> {
  const signer = await makeCertificate({
    subject: "C=EU, CN=VICAL signer",
    ...validity,
    issuer: publisher,
    extendedKeyUsage: ["1.0.18013.5.1.8"],
  });
  const entry = new Map<CborKey, CborValue>([
    ["certificate", certificate],
    ["docType", ["org.iso.18013.5.1.mDL"]],
    ["ski", new Uint8Array(20)],
  ]);
  const payload = encode(
    new Map<CborKey, CborValue>([
      ["version", "1.0"],
      ["vicalProvider", "Publisher"],
      ["date", new CborTag(0, "2026-02-01T00:00:00Z")],
      ["nextUpdate", new CborTag(0, nextUpdate)],
      ["certificateInfos", [entry]],
    ]),
  );
  const unprotectedHeaders = new Map([[label.x5chain, signer.certificate]]);
  const bytes = encode(await signSign1({ key: signer, payload, unprotectedHeaders }));
  return { bytes, pin: sha256(signer.certificate) };
}

/** The authority's answer to a request: a leaf for its key, with the registered identifier. */
export async function certify(issuer: Identity, requestFile: string, days: number): Promise<Identity> {
  const request = new Pkcs10CertificateRequest(readFileSync(requestFile, "utf8"));
  assert.ok(await request.verify(), "the request is signed by its own key");
  const publicKey = await request.publicKey.export();
  const now = Date.now();
  return makeCertificate({
    subject: "C=DE, O=Example GmbH, 2.5.4.97=VATDE-123456789, CN=Example GmbH",
    // The service's clock is behind that of the commands.
    notBefore: validity.notBefore,
    notAfter: new Date(now + days * dayMs),
    keys: { publicKey, privateKey: issuer.privateKey },
    issuer,
    extensions: request.extensions.filter(({ type }) => type === subjectAlternativeName),
  });
}

/** A registration certificate (ETSI TS 119 475). Its signature is for wallets to check. */
export function registration(claims: Record<string, unknown>, typ = "rc-wrp+jwt"): string {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "ES256", typ })}.${part(claims)}.${Buffer.alloc(64, 1).toString("base64url")}`;
}
