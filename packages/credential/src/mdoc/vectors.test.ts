import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { AskedCredential } from "../asked.ts";
import { digest } from "../bytes.ts";
import { decode } from "../cbor/decode.ts";
import { encode } from "../cbor/encode.ts";
import type { CborValue } from "../cbor/value.ts";
import { x5chainOf } from "../cose/headers.ts";
import type { HolderBinding } from "../holder-binding.ts";
import type { JudgeContext } from "../judge-context.ts";
import type { Purpose } from "../trust-anchor.ts";
import type { Verdict } from "../verdict.ts";
import { judgeMdoc, judgeMdocFor } from "./judge-mdoc.ts";
import { readDeviceResponse, readEmbedded } from "./read-device-response.ts";

const vectors = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../test/vectors/${name}.json`, import.meta.url), "utf8"));
const bytes = (base64: string) => Uint8Array.from(Buffer.from(base64, "base64"));
const foreign = vectors("mdoc-ts").responses;

const nameSpaces = { pid: "eu.europa.ec.eudi.pid.1", mdl: "org.iso.18013.5.1", age: "eu.europa.ec.av.1" };
const noBinding: HolderBinding = { kind: "dc_api", origin: "", nonce: "", keyThumbprint: null };

function context(
  purpose: Purpose,
  day: string,
  anchors: readonly Uint8Array[],
  names: readonly string[],
): JudgeContext {
  const asked: AskedCredential = {
    id: "a",
    purpose,
    format: "mso_mdoc",
    claimSets: [names.map((name) => [nameSpaces[purpose], name])],
  };
  return {
    asked,
    binding: noBinding,
    anchors: anchors.map((certificate) => ({ purpose, certificate, list: "operator", stale: false })),
    now: new Date(`${day}T12:00:00Z`),
    holderProof: "required",
  };
}

const anchorsOf = (name: string): Uint8Array[] => foreign[name].anchors.map(bytes);
const transcriptOf = async (...handover: readonly CborValue[]) => encode([null, null, handover]);
const hashOf = (value: CborValue) => digest("SHA-256", encode(value));

function assertAccepted(verdict: Verdict, attributes: object) {
  assert.equal(verdict.kind, "accepted", JSON.stringify(verdict));
  if (verdict.kind !== "accepted") return;
  assert.deepEqual(verdict.attributes, attributes);
  assert.equal(verdict.holder, "key_proven");
}

test("a PID that Animo issued and the Paradym Wallet presented by OpenID4VP 1.0 is accepted for its request only", async () => {
  const binding: HolderBinding = {
    kind: "redirect",
    clientId: "x509_san_dns:playground.animo.id",
    nonce: "LMGPB6k--THpBUSkEBvLxmdMIi3Ee1fjHXXUUzBVa04",
    responseUri:
      "https://playground.animo.id/oid4vp/8caaebcc-d48c-471b-86b0-a534e15c4774/authorize?session=6c115dbc-1364-4e9f-a325-173eeec01a5a",
    keyThumbprint: Buffer.from("61a29f269176244d397cae26f7f80ab196bffcb65fe3052b540c78073dab7c1e", "hex"),
  };
  const root = anchorsOf("animo-mdoc-05").slice(1);
  const response = bytes(foreign["animo-mdoc-05"].deviceResponse);
  const given = { ...context("pid", "2026-01-12", root, ["given_name", "family_name"]), binding };
  assertAccepted(await judgeMdoc(response, given), { givenName: "Erika", familyName: "Mustermann" });
  const other = await judgeMdoc(response, { ...given, binding: { ...binding, keyThumbprint: null } });
  assert.equal(other.kind === "refused" && other.reason, "holder_signature");
});

test("driving licences from Google's, the French and Ubique's wallet are accepted with the transcripts of their drafts", async () => {
  const origin = "https://ellis-occurrence-ac-smoking.trycloudflare.com";
  const google = await transcriptOf(
    "OpenID4VPDCAPIHandover",
    await hashOf([origin, `web-origin:${origin}`, "UwQek7MemM55VM2Lc7UPPsdsxa-vejebSUo75B_G7vk"]),
  );
  assertAccepted(
    await judgeMdocFor(
      bytes(foreign.google.deviceResponse),
      context("mdl", "2025-02-20", anchorsOf("google"), ["family_name", "given_name"]),
      google,
    ),
    { familyName: "Smith", givenName: "Jon" },
  );
  const draft18 = async (clientId: string, uri: string, nonce: string, ours: string) =>
    transcriptOf(await hashOf([clientId, nonce]), await hashOf([uri, nonce]), ours);
  const french = await draft18("example.com", "https://example.com/12345/response", "", "abcdefgh1234567890");
  assertAccepted(
    await judgeMdocFor(
      bytes(foreign.france.deviceResponse),
      context("mdl", "2021-09-25", anchorsOf("france"), ["family_name", "expiry_date", "document_number"]),
      french,
    ),
    { familyName: "Doe", expiryDate: "2024-10-20", documentNumber: "123456789" },
  );
  const ubique = await draft18(
    "Cq1anPb8vZU5j5C0d7hcsbuJLBpIawUJIDQRi2Ebwb4",
    "http://localhost:4000/api/presentation_request/dc8999df-d6ea-4c84-9985-37a8b81a82ec/callback",
    "123456",
    "abcdefg",
  );
  assertAccepted(
    await judgeMdocFor(
      bytes(foreign.ubique.deviceResponse),
      context("mdl", "2025-02-01", anchorsOf("ubique"), ["family_name"]),
      ubique,
    ),
    { familyName: "Jones" },
  );
});

test("the response of ISO/IEC 18013-5, Annex D, is accepted by its MAC", async () => {
  const { deviceResponse, sessionTranscriptBytes, readerKey } = vectors("iso-18013-5-annex-d");
  const response = bytes(deviceResponse);
  const transcript = readEmbedded(decode(bytes(sessionTranscriptBytes), { maxBytes: 10_000 }));
  const signer = readDeviceResponse(response).documents.flatMap(({ issuerAuth }) => x5chainOf(issuerAuth));
  const given = context("mdl", "2021-09-25", signer, ["family_name", "document_number"]);
  const withKey = { ...given, binding: { ...noBinding, readerKey } };
  assertAccepted(await judgeMdocFor(response, withKey, transcript), {
    familyName: "Doe",
    documentNumber: "123456789",
  });
  const without = await judgeMdocFor(response, given, transcript);
  assert.equal(without.kind === "refused" && without.reason, "holder_signature");
});
