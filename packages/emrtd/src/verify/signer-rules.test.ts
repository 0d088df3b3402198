import assert from "node:assert/strict";
import { test } from "node:test";
import { checker, makeFiles, today, utopiaTrust } from "../../test/support/test-country.ts";
import { bitString, contextValue, integer, oid, sequence, setOf, utf8String } from "../ber/write.ts";
import {
  type CertificateRequest,
  type Issuer,
  issueCertificate,
  issueRevocationList,
  type TestName,
} from "../node/test-country/issue-certificate.ts";
import { signSecurityObject } from "../node/test-country/sign-message.ts";
import { ecSigningKey } from "../node/test-country/signing-key.ts";
import { TrustStore } from "../trust/trust-store.ts";
import { defaultPolicy, type PolicySwitch, type Ruling } from "./policy.ts";
import { checkOf, failedCheckOf, type Report, revocationOf } from "./report.ts";
import { verifyDocument, verifySecurityObject } from "./verify-document.ts";

const scheme = { kind: "ecdsa", hash: "SHA-256" } as const;
const keyOf = (label: string) => ecSigningKey("rules", label, "secp256r1", { explicitParameters: false });
const nameOf = (commonName: string, country: string | null = "UT"): TestName => ({
  country,
  organization: "Utopia Test Authority",
  commonName,
});
const keyUsage = "2.5.29.15";
const basicConstraints = "2.5.29.19";
const authorityKeyId = "2.5.29.35";
const day = (text: string) => new Date(`${text}T00:00:00Z`);

type Scene = {
  readonly authority?: Partial<CertificateRequest>;
  readonly signer?: Partial<CertificateRequest>;
  /** The authority's name in the signer's certificate. */
  readonly issuer?: TestName;
  readonly signedAt?: Date;
  readonly revoked?: { readonly serial: Uint8Array; readonly at: Date };
  readonly documentCode?: string;
};

/** A document of one authority and one signer, which are as they should be apart from what the scene says. */
function judge(scene: Scene, rulings: Partial<Record<PolicySwitch, Ruling>> = {}): Report {
  const key = keyOf("authority");
  const authority: Issuer = { name: scene.authority?.subject ?? nameOf("CSCA"), key, scheme };
  const root = issueCertificate({
    ...{ issuer: authority, subject: authority.name, subjectKey: key, serial: Uint8Array.of(1) },
    ...{ validity: { notBefore: day("2020-01-01"), notAfter: day("2040-01-01") }, use: "authority" },
    ...scene.authority,
  });
  const signerKey = keyOf("signer");
  const certificate = issueCertificate({
    ...{ issuer: { ...authority, name: scene.issuer ?? authority.name }, subject: nameOf("Signer") },
    ...{ subjectKey: signerKey, serial: Uint8Array.of(2), use: "document_signer" },
    validity: { notBefore: day("2023-01-01"), notAfter: day("2033-01-01") },
    ...scene.signer,
  });
  const { dataGroups } = makeFiles({ mrz: { documentCode: scene.documentCode ?? "P" } });
  const sod = signSecurityObject({
    ...{ groupHash: "SHA-256", dataGroups, signer: { certificate, key: signerKey, scheme } },
    options: { signedAt: scene.signedAt ?? day("2024-06-01"), identifySignerBy: "issuer_and_serial" },
  });
  const source = (label: string) =>
    ({ type: "der", label, sha256: "", importedAt: "", signedBy: null }) as const;
  const revocationList = issueRevocationList({
    ...{ issuer: authority, thisUpdate: day("2026-01-01"), nextUpdate: day("2026-12-01"), number: 1 },
    revoked: scene.revoked === undefined ? [] : [scene.revoked],
  });
  const trust = new TrustStore(
    [
      { source: source("one"), certificates: [root], revocationLists: [revocationList] },
      { source: source("two"), certificates: [root], revocationLists: [] },
      { source: source("one"), certificates: [root], revocationLists: [] },
    ],
    checker,
  );
  const policy = { ...defaultPolicy, rulings: { ...defaultPolicy.rulings, ...rulings } };
  return verifyDocument({ files: { sod, dataGroups }, trust, policy, now: today, checker }).report;
}

const reasonOf = (scene: Scene) => failedCheckOf(judge(scene))?.reason ?? null;

/** One certificate for each rule that an operator may set. */
const scenes: readonly (readonly [PolicySwitch, string, Scene])[] = [
  ["signer_key_usage", "a signer without a key usage", { signer: { without: [keyUsage] } }],
  [
    "signer_key_usage",
    "a signer whose key is for other things",
    {
      signer: {
        without: [keyUsage],
        extensions: [{ type: keyUsage, critical: true, value: bitString(Uint8Array.of(0x20), 5) }],
      },
    },
  ],
  [
    "signer_key_usage",
    "a signer with a use of the web",
    {
      signer: {
        extensions: [{ type: "2.5.29.37", critical: false, value: sequence(oid("1.3.6.1.5.5.7.3.1")) }],
      },
    },
  ],
  ["issuer_name_mismatch", "an authority under another name", { issuer: nameOf("CSCA of old") }],
  [
    "issuer_key_id_mismatch",
    "an authority with another key id",
    {
      signer: {
        without: [authorityKeyId],
        extensions: [
          { type: authorityKeyId, critical: false, value: sequence(contextValue(0, new Uint8Array(20))) },
        ],
      },
    },
  ],
  [
    "authority_not_marked",
    "an authority that does not say it is one",
    { authority: { without: [basicConstraints] } },
  ],
  [
    "extension_unreadable",
    "an authority with an extension that cannot be read",
    {
      authority: {
        extensions: [{ type: "2.5.29.16", critical: false, value: Uint8Array.of(0x85, 1, 1) }],
      },
    },
  ],
  [
    "signed_after_key_usage_period",
    "a signature before the key was to be used",
    {
      signer: { privateKeyUsagePeriod: { notBefore: day("2024-07-01"), notAfter: day("2025-01-01") } },
    },
  ],
];

for (const [code, what, scene] of scenes)
  test(`${what} is ${code}: accepted, warned about or refused as the policy says`, () => {
    const accepted = judge(scene, { [code]: "accept" });
    assert.deepEqual([failedCheckOf(accepted), accepted.warnings], [null, []]);
    const warned = judge(scene, { [code]: "warn" });
    assert.equal(failedCheckOf(warned), null);
    assert.deepEqual(
      warned.warnings.map((warning) => warning.code),
      [code],
    );
    assert.equal(failedCheckOf(judge(scene, { [code]: "refuse" }))?.reason, code);
  });

test("a document of this authority has no warning at all, also where its certificates leave the hints out", () => {
  assert.deepEqual(judge({}).warnings, []);
  assert.deepEqual(judge({ signer: { without: [authorityKeyId] } }).warnings, []);
  assert.deepEqual(judge({ authority: { withoutSubjectKeyId: true } }).warnings, []);
  assert.deepEqual(judge({ authority: { without: [keyUsage] } }).warnings, []);
});

test("an authority that may not sign certificates is none", () => {
  const authority = {
    without: [keyUsage],
    extensions: [{ type: keyUsage, critical: true, value: bitString(Uint8Array.of(0x80), 7) }],
  };
  assert.equal(reasonOf({ authority }), "authority_may_not_sign_certificates");
});

test("a signer is good from its first day on, give or take one for clocks, and its authority must have been", () => {
  const from = (text: string) => ({
    signer: { validity: { notBefore: day(text), notAfter: day("2033-01-01") } },
  });
  // Today is 2026-05-05, noon.
  assert.equal(reasonOf({ ...from("2026-05-06"), signedAt: day("2026-05-06") }), null);
  assert.equal(reasonOf({ ...from("2026-05-07"), signedAt: day("2026-05-05") }), "signer_not_yet_valid");
  const until = (text: string) => ({
    authority: { validity: { notBefore: day("2020-01-01"), notAfter: day(text) } },
  });
  assert.equal(reasonOf(until("2024-06-01")), null, "valid to the moment of its end");
  assert.equal(reasonOf(until("2024-05-31")), "authority_not_valid_at_signing");
  assert.equal(reasonOf(until("2022-12-31")), "authority_not_valid_when_it_signed");
});

test("a key is for its period, the first and the last moment included", () => {
  const period = (notBefore: string, notAfter: string) => ({
    signer: { privateKeyUsagePeriod: { notBefore: day(notBefore), notAfter: day(notAfter) } },
  });
  assert.deepEqual(judge(period("2024-06-01", "2024-07-01")).warnings, []);
  assert.deepEqual(judge(period("2024-05-01", "2024-06-01")).warnings, []);
  assert.equal(judge(period("2024-05-01", "2024-05-31")).warnings.length, 1);
});

test("what a report says of a document is what an operator needs to find out why it was refused", () => {
  const report = judge({});
  const { authority_sha256, ...chain } = checkOf(report, "chain").evidence;
  assert.match(String(authority_sha256), /^[0-9a-f]{64}$/);
  const facts = report.checks
    .filter(({ name }) => name !== "chain")
    .map(({ name, evidence }) => [name, evidence]);
  assert.deepEqual(
    { ...Object.fromEntries(facts), chain },
    {
      structure: { groups: [1, 2], lds_version: "1.8", document_format: "TD3" },
      sod_signature: { algorithm: "ECDSA with SHA-256", group_hash: "SHA-256" },
      signer_certificate: {
        ...{ subject: "C=UT, O=Utopia Test Authority, CN=Signer", serial: "02" },
        ...{ key: "secp256r1", algorithm: "ECDSA with SHA-256" },
      },
      chain: {
        issuer: "C=UT, O=Utopia Test Authority, CN=CSCA",
        authority: "C=UT, O=Utopia Test Authority, CN=CSCA",
        ...{ authority_key: "secp256r1", trusted_because: "named", sources: ["one", "two"] },
      },
      signer_validity_at_signing: {
        signed_at: "2024-06-01T00:00:00.000Z",
        signer_valid_from: "2023-01-01T00:00:00.000Z",
        signer_valid_until: "2033-01-01T00:00:00.000Z",
        authority_valid_from: "2020-01-01T00:00:00.000Z",
        authority_valid_until: "2040-01-01T00:00:00.000Z",
      },
      revocation: {
        revocation_list: "fresh",
        revocation_list_from: "2026-01-01T00:00:00.000Z",
        revocation_list_until: "2026-12-01T00:00:00.000Z",
      },
      data_group_hashes: { declared: [1, 2], matching: [1, 2] },
      undeclared_groups: { undeclared: [] },
      country_agreement: { signer: "UT", authority: "UT", issuing_state: "UTO" },
      document_expiry: { expires: true },
      chip_authentication: {},
      active_authentication: {},
      chip_authentication_mapping: {},
    },
  );
});

test("what was revoked says when, and a report that failed says what was known about revocation: nothing", () => {
  const signer = judge({ revoked: { serial: Uint8Array.of(2), at: day("2025-02-03") } });
  assert.equal(failedCheckOf(signer)?.reason, "signer_revoked");
  assert.equal(checkOf(signer, "revocation").evidence.revoked_at, "2025-02-03T00:00:00.000Z");
  assert.equal(revocationOf(signer), "no_list");
  assert.equal(revocationOf(judge({})), "checked");
  assert.equal(reasonOf({ revoked: { serial: Uint8Array.of(3), at: day("2025-02-03") } }), null);
});

test("a country may be written small, and a signer without one has that of its issuer", () => {
  assert.equal(reasonOf({ signer: { subject: nameOf("Signer", "ut") } }), null);
  assert.equal(reasonOf({ authority: { subject: nameOf("CSCA", "ut") } }), null);
  assert.equal(reasonOf({ signer: { subject: nameOf("Signer", null) } }), null);
  assert.equal(reasonOf({ signer: { subject: nameOf("Signer", "XX") } }), "country_mismatch");
  const stateless = { authority: { subject: nameOf("CSCA", null) } };
  assert.equal(reasonOf({ ...stateless, signer: { subject: nameOf("Signer", null) } }), "country_mismatch");
  assert.equal(reasonOf({ ...stateless, signer: { subject: nameOf("Signer", "XX") } }), "country_mismatch");
  assert.equal(reasonOf(stateless), "authority_without_country");
  assert.equal(reasonOf({ authority: { subject: nameOf("CSCA", "XX") } }), "country_mismatch");
  const elsewhere = {
    authority: { subject: nameOf("CSCA", "XX") },
    signer: { subject: nameOf("Signer", "XX") },
  };
  assert.equal(reasonOf(elsewhere), "country_mismatch");
});

test("a check that could not read something names the rule, and not what was read", () => {
  const files = makeFiles();
  const dg1 = new Uint8Array(257);
  const dataGroups = new Map([...files.dataGroups, [1, dg1] as const]);
  const trust = new TrustStore([], checker);
  const { report, content } = verifyDocument({
    ...{ files: { ...files, dataGroups }, trust, policy: defaultPolicy, now: today, checker },
  });
  assert.equal(content, null);
  assert.deepEqual(checkOf(report, "structure"), {
    name: "structure",
    outcome: "failed",
    reason: "unreadable",
    evidence: { groups: [1, 2], error: "LDS_TOO_LARGE", rule: "DG1 is too large" },
  });
});

test("what could not be used is named, by its number or its name", () => {
  const unreadable = { type: "2.5.29.16", critical: false, value: Uint8Array.of(0x85, 1, 1) };
  const report = judge({ signer: { extensions: [unreadable] } });
  assert.deepEqual(checkOf(report, "signer_certificate").evidence.unreadable, ["2.5.29.16"]);
  const critical = { type: "1.2.3.4", critical: true, value: Uint8Array.of(5, 0) };
  const refused = judge({ signer: { extensions: [critical] } });
  assert.deepEqual(checkOf(refused, "signer_certificate").evidence.unknown_critical, ["1.2.3.4"]);
  const stranger = judge({
    issuer: nameOf("Nobody"),
    signer: { without: [authorityKeyId] },
  });
  assert.equal(failedCheckOf(stranger)?.reason, "no_authority_known");
  assert.deepEqual(checkOf(stranger, "chain").evidence, {
    issuer: "C=UT, O=Utopia Test Authority, CN=Nobody",
  });
});

test("content of early documents is told also where the security object is looked at alone", () => {
  const { sod } = makeFiles({ signing: { quirks: { contentType: "1.3.27.1.1.1" } } });
  const { warnings } = verifySecurityObject({
    ...{ sod, trust: utopiaTrust, policy: defaultPolicy, now: today, checker },
  });
  assert.ok(warnings.some(({ check, code }) => check === "structure" && code === "legacy_content_type"));
});

test("a signer's list of types names a document by its letter or by its whole code, and is told", () => {
  const listing = (...types: readonly string[]) => ({
    extensions: [
      {
        ...{ type: "2.23.136.1.1.6.2", critical: false },
        value: sequence(integer(0), setOf(...types.map((type) => utf8String(type)))),
      },
    ],
  });
  const judged = (documentCode: string, ...types: readonly string[]) => {
    const report = judge({ documentCode, signer: listing(...types) });
    assert.deepEqual(checkOf(report, "country_agreement").evidence.document_types, types);
    return report.warnings.map(({ code }) => code);
  };
  assert.deepEqual(judged("PD", "P"), []);
  assert.deepEqual(judged("PD", "PD"), []);
  assert.deepEqual(judged("PD", "PO"), ["document_type_not_listed"]);
  assert.deepEqual(judged("P", "PD"), ["document_type_not_listed"]);
});

test("a mistake of the program is an error, and never a verdict", () => {
  const broken = {
    ...checker,
    hash: () => {
      throw new RangeError("a mistake of ours");
    },
  };
  const options = { trust: utopiaTrust, policy: defaultPolicy, now: today };
  assert.throws(() => verifyDocument({ files: makeFiles(), ...options, checker: broken }), RangeError);
});
