import assert from "node:assert/strict";
import { test } from "node:test";
import { testIssuer } from "@assay/credential/test-country/test-signer";
import { testStatusIndexes, testStatusUri } from "@assay/credential/test-country/test-status";
import type { Purpose } from "@assay/credential/trust-anchor";
import { DataItem, DateOnly } from "@owf/mdoc";
import { decodeJwt } from "jose";
import { dayMs, minuteMs } from "../../../src/platform/kernel/clock.ts";
import { createPartner, expectData, expectError } from "../../support/api.ts";
import { createAuthority } from "../../support/certificate.ts";
import {
  changeResponse,
  issueMdoc,
  issueSdJwt,
  mapOf,
  newHolderKey,
  presentMdoc,
  presentSdJwt,
} from "../../support/foreign-credentials.ts";
import {
  answerBrowser,
  readBrowserRequest,
  readRequest,
  type Sent,
  sendAnswer,
  sendError,
  transcriptOf,
  type WalletRequest,
} from "../../support/foreign-wallet.ts";
import { createReceivingEndpoint, decrypt, startReceiver } from "../../support/receiver.ts";
import { startTestService } from "../../support/service.ts";
import { tally } from "../../support/tally.ts";
import {
  askWallet,
  type Begun,
  beginWithWallet,
  comeBack,
  responseCodeOf,
} from "../../support/wallet-person.ts";

/**
 * A wallet that shares no code with the service: requests and answers by `@openid4vc/openid4vp`, documents by
 * `@owf/mdoc`, SD-JWT by `@sd-jwt/core`. Only the keys of the test country are ours.
 */

const authority = createAuthority();
const service = await startTestService({
  env: { WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1" },
  webhooks: { ca: authority.certificate },
});
const { api, clock, url } = service;
const partner = await createPartner(api);
const receiver = await startReceiver(authority);
await createReceivingEndpoint(partner.api, receiver.url);

const born = "1988-02-29";
const expires = "2031-06-30";
const [holder, otherHolder] = [await newHolderKey(), await newHolderKey()];

/** What a credential says of the person, by the names of an mdoc and of an SD-JWT VC. */
const person = {
  family_name: "Øster-Lindqvist",
  given_name: "Zoë Ana",
  document_number: "UT-4711",
  issuing_country: "UT",
  issuing_authority: "Registry of Utopia",
  sex: 2,
};
const mdocPerson = { ...person, birth_date: new DateOnly(born), expiry_date: new DateOnly(expires) };

type Document = { purpose: Purpose; docType: string; namespace: string; elements: Record<string, unknown> };
const documents = {
  wallet_pid: {
    purpose: "pid",
    docType: "eu.europa.ec.eudi.pid.1",
    namespace: "eu.europa.ec.eudi.pid.1",
    elements: { ...mdocPerson, nationality: ["UT"], birth_place: "Amaurot" },
  },
  wallet_mdl: {
    purpose: "mdl",
    docType: "org.iso.18013.5.1.mDL",
    namespace: "org.iso.18013.5.1",
    elements: { ...mdocPerson, nationality: "UT", age_over_18: true, age_over_21: true },
  },
  wallet_age: {
    purpose: "age",
    docType: "eu.europa.ec.av.1",
    namespace: "eu.europa.ec.av.1",
    elements: { age_over_16: true, age_over_18: true },
  },
} as const satisfies Record<string, Document>;
type Method = keyof typeof documents;

const pidClaims = {
  ...person,
  birthdate: born,
  date_of_expiry: expires,
  nationalities: ["UT"],
  place_of_birth: { locality: "Amaurot" },
};

/** How the wallet misbehaves. */
type Fault = {
  signer?: Purpose | "unknown";
  status?: keyof typeof testStatusIndexes;
  validity?: { from: Date; until: Date };
  /** Of the issued credential. */
  claims?: Record<string, unknown>;
  type?: string;
  presentedBy?: "other";
  leavesOut?: string;
  adds?: string;
  transcript?: Parameters<typeof transcriptOf>[1];
  proof?: { nonce?: string; audience?: string; at?: Date } | null;
  alters?: (response: Map<string, unknown>, document: Map<string, unknown>) => void;
  /** The issuer's part of another credential of the same holder takes the place of the right one. */
  swapsIn?: Fault;
  altersCompact?: (compact: string) => string;
};

function validity(): { from: Date; until: Date } {
  const now = clock.now().getTime();
  return { from: new Date(now - dayMs), until: new Date(now + 10 * dayMs) };
}

function statusOf(purpose: Purpose, { status }: Fault) {
  return status === undefined
    ? {}
    : { status: { idx: testStatusIndexes[status], uri: testStatusUri(url, purpose) } };
}

/** The names of the first set of claims, which a wallet that has them all takes. */
function askedNames({ query }: WalletRequest, format: string): { id: string; names: string[] } {
  const credential = query.credentials.find((each) => each.format === format);
  assert.ok(credential?.claims, `nothing is asked for as ${format}`);
  const [first] = credential.claim_sets ?? [];
  const claims = credential.claims.filter(({ id }) => first === undefined || first.includes(id ?? ""));
  const names = claims.map(({ path }) => String(path[format === "mso_mdoc" ? 1 : 0]));
  return { id: credential.id, names: [...new Set(names)] };
}

function withFault(names: readonly string[], { leavesOut, adds }: Fault): string[] {
  return [...names.filter((name) => name !== leavesOut), ...(adds === undefined ? [] : [adds])];
}

async function asMdoc(request: WalletRequest, method: Method, fault: Fault = {}) {
  const { purpose, docType: usual, namespace, elements }: Document = documents[method];
  const { id, names } = askedNames(request, "mso_mdoc");
  const docType = fault.type ?? usual;
  const issued = await issueMdoc({
    docType,
    namespace,
    elements: { ...elements, ...fault.claims },
    holder,
    signer: await testIssuer(fault.signer ?? purpose),
    validity: fault.validity ?? validity(),
    ...statusOf(purpose, fault),
  });
  const response = await presentMdoc({
    issued,
    docType,
    namespace,
    elements: withFault(names, fault),
    holder: fault.presentedBy === "other" ? otherHolder : holder,
    transcript: await transcriptOf(request, fault.transcript),
  });
  const { swapsIn } = fault;
  const other = swapsIn === undefined ? null : readSent(await asMdoc(request, method, swapsIn));
  const sent = changeResponse(response, (whole, document) => {
    if (other !== null) document.set("issuerSigned", other.get("issuerSigned"));
    fault.alters?.(whole, document);
  });
  return { [id]: [Buffer.from(sent).toString("base64url")] };
}

/** The document of an answer that was made. */
function readSent(answer: Record<string, string[]>): Map<string, unknown> {
  const [[text] = []] = Object.values(answer);
  let found = new Map<string, unknown>();
  changeResponse(Buffer.from(text ?? "", "base64url"), (_, document) => {
    found = document;
  });
  return found;
}

async function asSdJwt(request: WalletRequest, fault: Fault = {}) {
  const { id, names } = askedNames(request, "dc+sd-jwt");
  const issued = await issueSdJwt({
    vct: fault.type ?? "urn:eudi:pid:1",
    claims: { ...pidClaims, ...fault.claims },
    holder,
    signer: await testIssuer(fault.signer ?? "pid"),
    validity: fault.validity ?? validity(),
    ...statusOf("pid", fault),
  });
  const { nonce, client_id: audience } = request.payload;
  const compact = await presentSdJwt(
    issued,
    withFault(names, fault),
    fault.presentedBy === "other" ? otherHolder : holder,
    fault.proof === null ? null : { nonce, audience, at: clock.now(), ...fault.proof },
  );
  return { [id]: [fault.altersCompact?.(compact) ?? compact] };
}

const identity = {
  family_name: true,
  given_names: true,
  date_of_birth: true,
  document_number: true,
  issuing_country_code: true,
  nationality_code: false,
};
const begin = (method: Method, fields: Record<string, boolean> = identity) =>
  beginWithWallet(partner.api, api, { method, fields });

async function finish({ path, cookie }: Begun, sent: Sent) {
  assert.equal(sent.status, 200, sent.error ?? "");
  return expectData(await comeBack(api, path, sent.redirectUri, cookie));
}

async function eventOf(sessionId: string) {
  for (;;) {
    for (const { body } of receiver.received) {
      const { event } = await decrypt(body);
      if (event.metadata.verification_session_id === sessionId) return event;
    }
    await receiver.until(receiver.received.length + 1);
  }
}

const statusOfSession = async ({ path }: Begun) => expectData(await api.get(`${path}/status`));

// --- what finishes -----------------------------------------------------------------------------------------

const shared = {
  family_name: person.family_name,
  given_names: person.given_name,
  date_of_birth: born,
  document_number: person.document_number,
  issuing_country_code: "UTO",
  nationality_code: "UTO",
};

test("a foreign wallet finishes with the identity as an mdoc", async () => {
  const begun = await begin("wallet_pid");
  const outcome = await finish(
    begun,
    await sendAnswer(begun.request, await asMdoc(begun.request, "wallet_pid")),
  );
  assert.deepEqual([outcome.status, outcome.failure_code], ["succeeded", null]);
  const { data } = await eventOf(begun.id);
  assert.deepEqual(
    { ...data.claims, service_document_id: undefined },
    { ...shared, service_document_id: undefined },
  );
  const { verified_at: _, ...evidence } = data.evidence;
  assert.deepEqual(evidence, {
    method: "wallet",
    credential: "eudi_pid",
    format: "mso_mdoc",
    trust: "sandbox",
    holder: "key_proven",
    revocation: "no_list",
    binding: "same_browser",
    level: null,
    warnings: [],
  });
});

test("a foreign wallet finishes with the identity as an SD-JWT VC, of a type that a country made of it", async () => {
  const begun = await begin("wallet_pid");
  const answer = await asSdJwt(begun.request, { type: "urn:eudi:pid:ut:1", status: "valid" });
  const outcome = await finish(begun, await sendAnswer(begun.request, answer, { enc: "A256GCM" }));
  assert.equal(outcome.status, "succeeded");
  const { data } = await eventOf(begun.id);
  assert.deepEqual(
    { ...data.claims, service_document_id: undefined },
    { ...shared, service_document_id: undefined },
  );
  assert.equal(data.evidence.format, "dc+sd-jwt");
  assert.equal(data.evidence.revocation, "checked");
});

test("a foreign wallet finishes with a driving licence, which says the age without the date of birth", async () => {
  const begun = await begin("wallet_mdl", { family_name: true, age_over_18: true });
  const outcome = await finish(
    begun,
    await sendAnswer(begun.request, await asMdoc(begun.request, "wallet_mdl")),
  );
  assert.equal(outcome.status, "succeeded");
  const { data } = await eventOf(begun.id);
  assert.deepEqual(data.claims, {
    family_name: person.family_name,
    age_over_18: true,
    service_document_id: null,
  });
  assert.equal(data.evidence.credential, "mdl");
});

test("a foreign wallet finishes with a proof of age, without coming back", async () => {
  const begun = await begin("wallet_age", { age_over_18: true });
  assert.equal(begun.request.encryptionKey, null);
  const sent = await sendAnswer(begun.request, await asMdoc(begun.request, "wallet_age"));
  assert.deepEqual([sent.status, responseCodeOf(sent.redirectUri)], [200, null]);
  assert.equal((await statusOfSession(begun)).status, "succeeded");
  const { data } = await eventOf(begun.id);
  assert.deepEqual(data.claims, { age_over_18: true, service_document_id: null });
  assert.deepEqual([data.evidence.credential, data.evidence.binding], ["age_proof", "cross_device"]);
});

test("a proof of age may come without its holder's signature, and the evidence says so", async () => {
  const begun = await begin("wallet_age", { age_over_18: true });
  const answer = await asMdoc(begun.request, "wallet_age", {
    alters: (_, document) => void document.delete("deviceSigned"),
  });
  assert.equal((await sendAnswer(begun.request, answer)).status, 200);
  const { data } = await eventOf(begun.id);
  assert.deepEqual([data.claims.age_over_18, data.evidence.holder], [true, "not_proven"]);
});

test("a wallet may fetch the request with POST, and gets its nonce back", async () => {
  const { path } = await begin("wallet_pid");
  const started = await api.post(`${path}/wallet`, { channel: "redirect" });
  const { link } = expectData(started, 201);
  const { payload } = await readRequest(link, "post");
  const body = new URLSearchParams({ wallet_nonce: "of-the-wallet" });
  const uri = new URL(link).searchParams.get("request_uri") ?? "";
  const repeated = decodeJwt(await (await fetch(uri, { method: "POST", body })).text());
  assert.deepEqual([repeated.nonce, repeated.wallet_nonce], [payload.nonce, "of-the-wallet"]);
});

test("a newer request retires the one before", async () => {
  const begun = await begin("wallet_pid");
  await askWallet(api, begun.path, "wallet_pid");
  await assert.rejects(readRequest(begun.link, "post"), /404/);
  expectNoAnswer(await sendAnswer(begun.request, await asSdJwt(begun.request)));
});

test("what a wallet discloses beyond the request is dropped, with a warning", async () => {
  const begun = await begin("wallet_pid", { family_name: true });
  const answer = await asMdoc(begun.request, "wallet_pid", { adds: "given_name" });
  await finish(begun, await sendAnswer(begun.request, answer));
  const { data } = await eventOf(begun.id);
  assert.deepEqual(data.claims, { family_name: person.family_name, service_document_id: null });
  assert.deepEqual(data.evidence.warnings, ["wallet_disclosed_more"]);
});

/** The page hands the request to the browser's API, and what comes back to the service. */
async function beginInBrowser() {
  const begun = await begin("wallet_pid");
  const started = await api.post(`${begun.path}/wallet`, { channel: "dc_api" });
  const { request_id, dc_request } = expectData(started, 201);
  const cookie = started.headers.getSetCookie()[0]?.split(";")[0] ?? "";
  const [signed] = dc_request.requests;
  assert.equal(signed.protocol, "openid4vp-v1-signed");
  const request = await readBrowserRequest(signed.data, url);
  const handIn = async (vpToken: Record<string, string[]>) =>
    expectData(
      await api.post(
        `${begun.path}/wallet/answer`,
        { request_id, ...(await answerBrowser(request, vpToken, url)) },
        { cookie },
      ),
    );
  return { ...begun, request, handIn };
}

test("over the browser's API a foreign wallet finishes in both formats, bound to the origin of the page", async () => {
  const asDocument = await beginInBrowser();
  const mdoc = await asMdoc(asDocument.request, "wallet_pid", { transcript: { origin: url } });
  assert.equal((await asDocument.handIn(mdoc)).status, "succeeded");
  const asJwt = await beginInBrowser();
  const sdJwt = await asSdJwt(asJwt.request, { proof: { audience: `origin:${url}` } });
  assert.equal((await asJwt.handIn(sdJwt)).status, "succeeded");
  for (const { id } of [asDocument, asJwt])
    assert.equal((await eventOf(id)).data.evidence.binding, "platform");
});

test("over the browser's API a presentation for another origin, or for a link, is refused", async () => {
  const origin = "https://elsewhere.example";
  const faults: ((request: WalletRequest) => Promise<Record<string, string[]>>)[] = [
    (request) => asMdoc(request, "wallet_pid", { transcript: { origin } }),
    (request) => asMdoc(request, "wallet_pid", { transcript: { responseUri: `${url}/oid4vp/response/x` } }),
    (request) => asSdJwt(request, { proof: { audience: `origin:${origin}` } }),
    (request) => asSdJwt(request),
  ];
  for (const fault of faults) {
    const { request, handIn } = await beginInBrowser();
    const { status, failure_code } = await handIn(await fault(request));
    assert.deepEqual([status, failure_code], ["in_progress", "holder_binding_failed"]);
  }
});

// --- what is refused ---------------------------------------------------------------------------------------

const libraryCard = "org.example.library-card";
const authenticity = "document_authenticity_failed";
const binding = "holder_binding_failed";
const invalid = "document_data_invalid";
const expired = "document_expired";
const past = () => ({
  from: new Date(clock.now().getTime() - 9 * dayMs),
  until: new Date(clock.now().getTime() - dayMs),
});
const ahead = () => ({
  from: new Date(clock.now().getTime() + dayMs),
  until: new Date(clock.now().getTime() + 9 * dayMs),
});
const later = (milliseconds: number) => new Date(clock.now().getTime() + milliseconds);

const documentFaults: readonly [what: string, fault: () => Fault, code: string][] = [
  ["another nonce", () => ({ transcript: { nonce: "another-nonce-of-22-chars" } }), binding],
  ["another audience", () => ({ transcript: { clientId: "x509_hash:another" } }), binding],
  ["another transcript", () => ({ transcript: { responseUri: "https://other.example/response" } }), binding],
  ["another holder's key", () => ({ presentedBy: "other" }), binding],
  [
    "no signature of the holder",
    () => ({ alters: (_, document) => void document.delete("deviceSigned") }),
    binding,
  ],
  ["a broken signature of the issuer", () => ({ alters: breakIssuerSignature }), authenticity],
  ["an unknown issuer", () => ({ signer: "unknown" }), authenticity],
  ["an issuer of another purpose", () => ({ signer: "age" }), authenticity],
  ["a credential whose time is over", () => ({ validity: past() }), expired],
  ["a credential whose time has not begun", () => ({ validity: ahead() }), authenticity],
  ["a document that has expired", () => ({ claims: { expiry_date: new DateOnly("2020-01-31") } }), expired],
  ["a revoked credential", () => ({ status: "revoked" }), authenticity],
  ["a suspended credential", () => ({ status: "suspended" }), authenticity],
  ["a required claim left out", () => ({ leavesOut: "family_name" }), invalid],
  ["another type", () => ({ type: libraryCard }), invalid],
  [
    "another type under the name of the right one",
    () => ({ alters: (_, document) => void document.set("docType", libraryCard) }),
    invalid,
  ],
  ["a library card under the name of a licence", () => ({ swapsIn: { type: libraryCard } }), invalid],
  ["a value that the issuer did not sign", () => ({ alters: changeElement }), authenticity],
  [
    "a second document",
    () => ({ alters: (response, document) => void response.set("documents", [document, document]) }),
    invalid,
  ],
  ["no documents at all", () => ({ alters: (response) => void response.delete("documents") }), invalid],
  ["a list of no documents", () => ({ alters: (response) => void response.set("documents", []) }), invalid],
  ["a status that is not 0", () => ({ alters: (response) => void response.set("status", 10) }), invalid],
  ["an element that stands twice", () => ({ alters: repeatElement }), invalid],
  ["an unknown key", () => ({ alters: (response) => void response.set("extra", 1) }), invalid],
  ["nameSpaces under another name", () => ({ alters: renameNameSpaces }), invalid],
];

const sdJwtFaults: readonly [what: string, fault: () => Fault, code: string][] = [
  ["another nonce", () => ({ proof: { nonce: "another-nonce-of-22-chars" } }), binding],
  ["another audience", () => ({ proof: { audience: "x509_hash:another" } }), binding],
  ["another sd_hash", () => ({ altersCompact: dropOneDisclosure }), binding],
  ["a broken signature of the key binding", () => ({ altersCompact: breakLastSignature }), binding],
  ["a key binding that is too old", () => ({ proof: { at: later(-10 * minuteMs) } }), binding],
  ["a key binding of the future", () => ({ proof: { at: later(10 * minuteMs) } }), binding],
  ["no key binding", () => ({ proof: null }), binding],
  ["another holder's key", () => ({ presentedBy: "other" }), binding],
  ["a broken signature of the issuer", () => ({ altersCompact: breakFirstSignature }), authenticity],
  ["an unknown issuer", () => ({ signer: "unknown" }), authenticity],
  ["an issuer of another purpose", () => ({ signer: "mdl" }), authenticity],
  ["a credential whose time is over", () => ({ validity: past() }), expired],
  ["a document that has expired", () => ({ claims: { date_of_expiry: "2020-01-31" } }), expired],
  ["a revoked credential", () => ({ status: "revoked" }), authenticity],
  ["a suspended credential", () => ({ status: "suspended" }), authenticity],
  ["a required claim left out", () => ({ leavesOut: "family_name" }), invalid],
  ["another type", () => ({ type: "urn:example:library-card" }), invalid],
  ["a disclosure that the issuer did not sign", () => ({ altersCompact: addDisclosure }), authenticity],
];

function issuerSigned(document: Map<string, unknown>): Map<string, unknown> {
  return mapOf(document.get("issuerSigned"));
}

function breakIssuerSignature(_: unknown, document: Map<string, unknown>): void {
  const issuerAuth = issuerSigned(document).get("issuerAuth") as Uint8Array[];
  const signature = issuerAuth[3];
  if (signature !== undefined) signature[5] = (signature[5] ?? 0) ^ 1;
}

function repeatElement(_: unknown, document: Map<string, unknown>): void {
  for (const items of mapOf(issuerSigned(document).get("nameSpaces")).values())
    (items as unknown[]).push((items as unknown[])[0]);
}

function changeElement(_: unknown, document: Map<string, unknown>): void {
  for (const items of mapOf(issuerSigned(document).get("nameSpaces")).values()) {
    const [first] = items as DataItem<Map<string, unknown>>[];
    if (first === undefined) continue;
    const changed = new Map(first.data).set("elementValue", "Somebody-Else");
    (items as unknown[])[0] = new DataItem({ data: changed });
  }
}

function renameNameSpaces(_: unknown, document: Map<string, unknown>): void {
  const signed = issuerSigned(document);
  signed.set("nameSpacez", signed.get("nameSpaces"));
  signed.delete("nameSpaces");
}

function dropOneDisclosure(compact: string): string {
  const parts = compact.split("~");
  return [...parts.slice(0, 1), ...parts.slice(2)].join("~");
}

/** Added outside of the key binding, which covers what the wallet meant to disclose. */
function addDisclosure(compact: string): string {
  const made = Buffer.from(JSON.stringify(["salt", "given_name", "Somebody Else"])).toString("base64url");
  const parts = compact.split("~");
  return [...parts.slice(0, -1), made, parts.at(-1)].join("~");
}

function breakFirstSignature(compact: string): string {
  const [jwt = "", ...rest] = compact.split("~");
  return [broken(jwt), ...rest].join("~");
}

function breakLastSignature(compact: string): string {
  const parts = compact.split("~");
  return [...parts.slice(0, -1), broken(parts.at(-1) ?? "")].join("~");
}

function broken(jwt: string): string {
  const [header, payload, signature = ""] = jwt.split(".");
  const bytes = Buffer.from(signature, "base64url");
  bytes[5] = (bytes[5] ?? 0) ^ 1;
  return [header, payload, bytes.toString("base64url")].join(".");
}

async function expectRefusal(begun: Begun, sent: Sent, code: string): Promise<void> {
  assert.equal(sent.status, 200, sent.error ?? "");
  assert.equal(responseCodeOf(sent.redirectUri), null, "a refusal has nothing to release");
  const status = await statusOfSession(begun);
  assert.equal(status.status, "in_progress");
  assert.equal(status.attempt.refused.failure_code, code);
  tally("wallet presentations refused");
}

for (const [what, fault, code] of documentFaults)
  test(`as an mdoc, ${what} is refused`, async () => {
    const begun = await begin("wallet_mdl");
    const answer = await asMdoc(begun.request, "wallet_mdl", fault());
    await expectRefusal(begun, await sendAnswer(begun.request, answer), code);
  });

for (const [what, fault, code] of sdJwtFaults)
  test(`as an SD-JWT VC, ${what} is refused`, async () => {
    const begun = await begin("wallet_pid");
    const answer = await asSdJwt(begun.request, fault());
    await expectRefusal(begun, await sendAnswer(begun.request, answer), code);
  });

test("three refusals end the session", async () => {
  const begun = await begin("wallet_mdl");
  let { request } = begun;
  for (const left of [2, 1, 0]) {
    await sendAnswer(request, await asMdoc(request, "wallet_mdl", { signer: "unknown" }));
    if (left > 0) ({ request } = await askWallet(api, begun.path, "wallet_mdl"));
  }
  const { status, failure_code } = await statusOfSession(begun);
  assert.deepEqual([status, failure_code], ["failed", authenticity]);
});

// --- answers that are none ---------------------------------------------------------------------------------

function expectNoAnswer(sent: Sent): void {
  assert.deepEqual([sent.status, sent.error, sent.redirectUri], [400, "invalid_request", null]);
}

async function expectNoTry(begun: Begun): Promise<void> {
  const status = await statusOfSession(begun);
  assert.deepEqual([status.status, status.attempt?.refused ?? null], ["in_progress", null]);
}

test("an answer that is not encrypted, where that was asked for, counts for nothing", async () => {
  const begun = await begin("wallet_mdl");
  const answer = await asMdoc(begun.request, "wallet_mdl");
  expectNoAnswer(await sendAnswer(begun.request, answer, { encryptionKey: null }));
  await expectNoTry(begun);
  assert.equal((await finish(begun, await sendAnswer(begun.request, answer))).status, "succeeded");
});

test("an answer that is encrypted to the key of another request counts for nothing", async () => {
  const [begun, other] = [await begin("wallet_mdl"), await begin("wallet_mdl")];
  const answer = await asMdoc(begun.request, "wallet_mdl");
  const { encryptionKey } = other.request;
  expectNoAnswer(await sendAnswer(begun.request, answer, { encryptionKey }));
  await expectNoTry(begun);
});

test("a presentation that was made for another request is refused", async () => {
  const [begun, other] = [await begin("wallet_mdl"), await begin("wallet_mdl")];
  const answer = await asMdoc(other.request, "wallet_mdl");
  await expectRefusal(begun, await sendAnswer(begun.request, answer), binding);
});

test("an answer that comes once more counts for nothing", async () => {
  const begun = await begin("wallet_mdl");
  const answer = await asMdoc(begun.request, "wallet_mdl");
  const sent = await sendAnswer(begun.request, answer);
  expectNoAnswer(await sendAnswer(begun.request, answer));
  assert.equal((await finish(begun, sent)).status, "succeeded");
  expectNoAnswer(await sendAnswer(begun.request, answer));
});

test("an answer after the request has expired counts for nothing", async () => {
  const begun = await begin("wallet_mdl");
  const answer = await asMdoc(begun.request, "wallet_mdl");
  clock.advance(5 * minuteMs + 1000);
  expectNoAnswer(await sendAnswer(begun.request, answer));
  await expectNoTry(begun);
});

test("of two answers at once, one is recorded", async () => {
  const begun = await begin("wallet_age", { age_over_18: true });
  const answer = await asMdoc(begun.request, "wallet_age");
  const sent = await Promise.all([sendAnswer(begun.request, answer), sendAnswer(begun.request, answer)]);
  assert.deepEqual(sent.map(({ status }) => status).sort(), [200, 400]);
  assert.equal((await statusOfSession(begun)).status, "succeeded");
});

test("a wallet that declines leaves the session open, and no try is used", async () => {
  const begun = await begin("wallet_mdl");
  assert.equal((await sendError(begun.request, "access_denied")).status, 200);
  await expectNoTry(begun);
  const again = { ...begun, ...(await askWallet(api, begun.path, "wallet_mdl")) };
  const sent = await sendAnswer(again.request, await asMdoc(again.request, "wallet_mdl"));
  assert.equal((await finish(again, sent)).status, "succeeded");
});

// --- the way back ------------------------------------------------------------------------------------------

test("a response code works once", async () => {
  const begun = await begin("wallet_mdl");
  const sent = await sendAnswer(begun.request, await asMdoc(begun.request, "wallet_mdl"));
  await finish(begun, sent);
  expectError(
    await comeBack(api, begun.path, sent.redirectUri, begun.cookie),
    404,
    "WALLET_REQUEST_NOT_FOUND",
  );
});

test("the response code of another session releases nothing", async () => {
  const [begun, other] = [await begin("wallet_mdl"), await begin("wallet_mdl")];
  const sent = await sendAnswer(other.request, await asMdoc(other.request, "wallet_mdl"));
  expectError(
    await comeBack(api, begun.path, sent.redirectUri, begun.cookie),
    404,
    "WALLET_REQUEST_NOT_FOUND",
  );
  assert.equal((await statusOfSession(begun)).status, "in_progress");
});

test("another browser that comes back gets nothing, and what was held is gone", async () => {
  for (const value of ["", "another"]) {
    const begun = await begin("wallet_mdl");
    const cookie = value === "" ? "" : `assay_wallet_${begun.id}=${value}`;
    const sent = await sendAnswer(begun.request, await asMdoc(begun.request, "wallet_mdl"));
    expectError(await comeBack(api, begun.path, sent.redirectUri, cookie), 403, "WALLET_OTHER_BROWSER");
    const again = await comeBack(api, begun.path, sent.redirectUri, begun.cookie);
    assert.ok([404, 409].includes(again.status), String(again.status));
    assert.equal((await statusOfSession(begun)).status, "in_progress");
  }
});

test("two sessions in two tabs of one browser do not displace each other", async () => {
  const [first, second] = [await begin("wallet_mdl"), await begin("wallet_pid")];
  const ofBrowser = new Map(
    [first, second].flatMap(({ cookie }) => cookie.split("; ")).map((pair) => [pair.split("=")[0], pair]),
  );
  const cookies = [...ofBrowser.values()].join("; ");
  const toFirst = await sendAnswer(first.request, await asMdoc(first.request, "wallet_mdl"));
  const toSecond = await sendAnswer(second.request, await asMdoc(second.request, "wallet_pid"));
  for (const [begun, { redirectUri }] of [[second, toSecond] as const, [first, toFirst] as const])
    assert.equal(expectData(await comeBack(api, begun.path, redirectUri, cookies)).status, "succeeded");
});
