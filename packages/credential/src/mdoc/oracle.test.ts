import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CoseKey,
  DateOnly,
  DeviceKey,
  DeviceRequest,
  DocRequest,
  Holder,
  Issuer,
  ItemsRequest,
  SessionTranscript,
  SignatureAlgorithm,
  Verifier,
} from "@owf/mdoc";
import { owfContext } from "../../test/owf-context.ts";
import { makeCertificate } from "../../test/support/make-certificate.ts";
import type { HolderBinding } from "../holder-binding.ts";
import type { JudgeContext } from "../judge-context.ts";
import { fullDate, issueMdoc } from "./issue-mdoc.ts";
import { judgeMdoc } from "./judge-mdoc.ts";
import { presentMdoc } from "./present-mdoc.ts";
import { sessionTranscript } from "./session-transcript.ts";

const now = new Date("2026-11-18T12:00:00Z");
const validity = { notBefore: new Date("2026-01-01T00:00:00Z"), notAfter: new Date("2028-01-01T00:00:00Z") };
const pid = "eu.europa.ec.eudi.pid.1";
const times = {
  signed: new Date("2026-11-01T00:00:00Z"),
  validFrom: new Date("2026-11-01T00:00:00Z"),
  validUntil: new Date("2026-12-01T00:00:00Z"),
};
const redirect = {
  kind: "redirect",
  clientId: "x509_hash:abc",
  nonce: "n-0S6_WzA2Mj",
  responseUri: "https://assay.example/oid4vp/response/1",
  keyThumbprint: new Uint8Array(32).fill(7),
} as const satisfies HolderBinding;
const api = {
  kind: "dc_api",
  origin: "https://assay.example",
  nonce: "n",
  keyThumbprint: null,
} as const satisfies HolderBinding;

const owfRedirect = SessionTranscript.forOid4Vp(
  { ...redirect, jwkThumbprint: redirect.keyThumbprint },
  owfContext,
);
const owfApi = SessionTranscript.forOid4VpDcApi({ origin: api.origin, nonce: api.nonce }, owfContext);

async function parties() {
  const authority = await makeCertificate({ subject: "C=DE, CN=Authority", ...validity });
  const signer = await makeCertificate({ subject: "C=DE, CN=Signer", ...validity, issuer: authority });
  const device = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, [
    "sign",
    "verify",
  ]);
  const jwk = async (key: typeof device.privateKey) => {
    const { kty, crv, x, y, d } = await crypto.subtle.exportKey("jwk", key);
    return { kty, crv, x, y, alg: "ES256", ...(d === undefined ? {} : { d }) };
  };
  return { authority, signer, device, jwk };
}

const deviceRequest = DeviceRequest.create({
  docRequests: [
    DocRequest.create({
      itemsRequest: ItemsRequest.create({
        docType: pid,
        namespaces: { [pid]: { family_name: false, birth_date: false, nationality: false } },
      }),
    }),
  ],
});

test("what @owf/mdoc issues and presents is accepted, by redirect and by the Digital Credentials API", async () => {
  const { authority, signer, device, jwk } = await parties();
  const issuer = new Issuer(pid, owfContext);
  issuer.addIssuerNamespace(pid, {
    family_name: "Müller",
    given_name: "Ida",
    birth_date: new DateOnly("1990-02-28"),
    nationality: ["DE"],
  });
  const issuerSigned = await issuer.sign({
    signingKey: CoseKey.fromJwk(await jwk(signer.privateKey)),
    certificates: [signer.certificate],
    algorithm: SignatureAlgorithm.ES256,
    digestAlgorithm: "SHA-256",
    deviceKeyInfo: { deviceKey: DeviceKey.fromJwk(await jwk(device.publicKey)) },
    validityInfo: times,
  });
  for (const [binding, transcript] of [
    [redirect, await owfRedirect],
    [api, await owfApi],
  ] as const) {
    const response = await Holder.createDeviceResponseForDeviceRequest(
      {
        deviceRequest,
        issuerSigned: [issuerSigned],
        sessionTranscript: transcript,
        signature: { signingKey: CoseKey.fromJwk(await jwk(device.privateKey)) },
      },
      owfContext,
    );
    const context: JudgeContext = {
      asked: {
        id: "a",
        purpose: "pid",
        format: "mso_mdoc",
        claimSets: [["family_name", "birth_date", "nationality"].map((name) => [pid, name])],
      },
      binding,
      anchors: [{ purpose: "pid", certificate: authority.certificate, list: "operator", stale: false }],
      now,
      holderProof: "required",
    };
    const verdict = await judgeMdoc(response.encode(), context);
    assert.equal(verdict.kind, "accepted", JSON.stringify(verdict));
    assert.deepEqual(verdict.kind === "accepted" && verdict.attributes, {
      familyName: "Müller",
      birthDate: "1990-02-28",
      nationalities: ["DE"],
    });
    const other = await judgeMdoc(response.encode(), {
      ...context,
      binding: { ...binding, nonce: "another" },
    });
    assert.equal(other.kind === "refused" && other.reason, "holder_signature");
  }
});

test("what we issue and present is accepted by @owf/mdoc", async () => {
  const { authority, signer, device } = await parties();
  const mdoc = await issueMdoc({
    docType: pid,
    nameSpaces: { [pid]: { family_name: "Müller", birth_date: fullDate("1990-02-28"), nationality: ["DE"] } },
    signer: { ...signer, chain: [signer.certificate] },
    deviceKey: device.publicKey,
    ...times,
  });
  for (const [binding, transcript] of [
    [redirect, await owfRedirect],
    [api, await owfApi],
  ] as const) {
    assert.deepEqual(await sessionTranscript(binding), Uint8Array.from(transcript.encode()));
    const deviceResponse = await presentMdoc(mdoc, {
      transcript: await sessionTranscript(binding),
      disclose: "all",
      proof: { kind: "signature", privateKey: device.privateKey, algorithm: "ES256" },
    });
    const options = { deviceRequest, deviceResponse, trustedCertificates: [authority.certificate], now };
    await Verifier.verifyDeviceResponse({ ...options, sessionTranscript: transcript }, owfContext);
    const other = await SessionTranscript.forOid4VpDcApi(
      { origin: api.origin, nonce: "another" },
      owfContext,
    );
    await assert.rejects(Verifier.verifyDeviceResponse({ ...options, sessionTranscript: other }, owfContext));
  }
});
