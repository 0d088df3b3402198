import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { checker, makeFiles, specimen, today, utopia, utopiaTrust } from "../../test/support/test-country.ts";
import { integer, octetString, sequence, setOf, utf8String } from "../ber/write.ts";
import { fromHex } from "../bytes.ts";
import { isEmrtdError } from "../emrtd-error.ts";
import type { DataGroupNumber } from "../lds/data-group.ts";
import { buildDg1 } from "../lds/dg1.ts";
import { buildMrz } from "../mrz/build-mrz.ts";
import { possibleYears } from "../mrz/mrz-date.ts";
import {
  type Issuer,
  issueCertificate,
  issueRevocationList,
  type TestExtension,
  type TestName,
} from "../node/test-country/issue-certificate.ts";
import { signSecurityObject } from "../node/test-country/sign-message.ts";
import { ecSigningKey } from "../node/test-country/signing-key.ts";
import { TrustStore } from "../trust/trust-store.ts";
import type { DocumentFiles } from "./document-content.ts";
import { describePolicy, parsePolicy } from "./parse-policy.ts";
import {
  defaultPolicy,
  type PolicySwitch,
  policySwitches,
  policySwitchNames,
  strictPolicy,
} from "./policy.ts";
import { failedCheckOf } from "./report.ts";
import { verifyDocument } from "./verify-document.ts";

const scheme = { kind: "ecdsa", hash: "SHA-256" } as const;
const keyOf = (label: string) => ecSigningKey("policy", label, "secp256r1", { explicitParameters: false });
const name = (commonName: string, country: string | null = "UT"): TestName => ({
  country,
  organization: "Utopia Test Authority",
  commonName,
});
const years = { notBefore: new Date("2020-01-01T00:00:00Z"), notAfter: new Date("2040-01-01T00:00:00Z") };

type Scene = {
  readonly authorityCountry?: string | null;
  readonly signerUntil?: string;
  readonly signerExtensions?: readonly TestExtension[];
  readonly withoutSubjectKeyId?: boolean;
  readonly lists?: (authority: Issuer) => readonly Uint8Array[];
  readonly zone?: (lines: readonly string[]) => readonly string[];
  readonly dateOfBirth?: string;
};

function list(issuer: Issuer, day: string, until = "2026-12-01"): Uint8Array {
  const [thisUpdate, nextUpdate] = [new Date(`${day}T00:00:00Z`), new Date(`${until}T00:00:00Z`)];
  return issueRevocationList({ issuer, thisUpdate, nextUpdate, number: 1, revoked: [] });
}

/** A document, and the store that knows who signed it. */
function make(scene: Scene): { readonly files: DocumentFiles; readonly trust: TrustStore } {
  const country = scene.authorityCountry === undefined ? "UT" : scene.authorityCountry;
  const authority: Issuer = { name: name("CSCA", country), key: keyOf("authority"), scheme };
  const root = issueCertificate({
    issuer: authority,
    subject: authority.name,
    subjectKey: authority.key,
    serial: Uint8Array.of(1),
    validity: years,
    use: "authority",
  });
  const key = keyOf("signer");
  const certificate = issueCertificate({
    issuer: authority,
    subject: name("Signer"),
    subjectKey: key,
    serial: Uint8Array.of(2),
    validity: { ...years, notAfter: new Date(scene.signerUntil ?? "2039-01-01T00:00:00Z") },
    use: "document_signer",
    ...(scene.signerExtensions === undefined ? {} : { extensions: scene.signerExtensions }),
    ...(scene.withoutSubjectKeyId === true ? { withoutSubjectKeyId: true } : {}),
  });
  const zone = buildMrz({ ...specimen, dateOfBirth: scene.dateOfBirth ?? specimen.dateOfBirth });
  const dataGroups = new Map<DataGroupNumber, Uint8Array>([
    [1, buildDg1(scene.zone?.(zone) ?? zone)],
    [2, makeFiles().dataGroups.get(2) ?? new Uint8Array()],
  ]);
  const sod = signSecurityObject({
    groupHash: "SHA-256",
    dataGroups,
    signer: { certificate, key, scheme },
    options: { signedAt: new Date("2024-06-01T00:00:00Z"), identifySignerBy: "issuer_and_serial" },
  });
  const source = { type: "der", label: "", sha256: "", importedAt: "", signedBy: null } as const;
  const revocationLists = scene.lists?.(authority) ?? [list(authority, "2026-01-01")];
  return {
    files: { sod, dataGroups },
    trust: new TrustStore([{ source, certificates: [root], revocationLists }], checker),
  };
}

const documentTypes = (...types: readonly string[]): readonly TestExtension[] => [
  {
    type: "2.23.136.1.1.6.2",
    critical: false,
    value: sequence(integer(0), setOf(...types.map((type) => utf8String(type)))),
  },
];

/** One document for each switch, which is judged by it and by nothing else. */
const scenes: readonly (readonly [PolicySwitch, Scene])[] = [
  ["revocation_list_missing", { lists: () => [] }],
  ["revocation_list_stale", { lists: (authority) => [list(authority, "2026-01-01", "2026-02-01")] }],
  ["revocation_unchecked", { lists: (authority) => [list(authority, "2026-09-01")] }],
  ["signer_expired", { signerUntil: "2025-06-01T00:00:00Z" }],
  ["mrz_check_digits_differ", { zone: (lines) => [lines[0] ?? "", `${lines[1]?.slice(0, -1)}9`] }],
  ["document_type_not_listed", { signerExtensions: documentTypes("V", "ID") }],
  ["authority_without_country", { authorityCountry: null }],
  [
    "extension_unreadable",
    {
      withoutSubjectKeyId: true,
      signerExtensions: [{ type: "2.5.29.14", critical: false, value: new Uint8Array(20).fill(0x85) }],
    },
  ],
];

for (const [name, scene] of scenes) {
  test(`${name} is accepted, warned about or refused as the policy says, and by nothing else`, () => {
    const { files, trust } = make(scene);
    const judge = (ruling: "accept" | "warn" | "refuse") => {
      const policy = parsePolicy(`${name}=${ruling}`);
      return verifyDocument({ files, trust, policy, now: today, checker }).report;
    };
    const accepted = judge("accept");
    assert.equal(failedCheckOf(accepted), null);
    assert.deepEqual(accepted.warnings, []);
    const warned = judge("warn");
    assert.equal(failedCheckOf(warned), null);
    assert.deepEqual(
      warned.warnings.map(({ code }) => code),
      [name],
    );
    assert.equal(failedCheckOf(judge("refuse"))?.reason, name);
  });
}

test("a document that nothing can be said against has no warning, not even strictly", () => {
  const { files, trust } = make({ signerExtensions: documentTypes("P") });
  const { report } = verifyDocument({ files, trust, policy: strictPolicy, now: today, checker });
  assert.equal(failedCheckOf(report), null);
  assert.deepEqual(report.warnings, []);
});

test("a type of documents is listed as its letter or as the whole code", () => {
  const warned = (types: readonly string[]) => {
    const { files, trust } = make({ signerExtensions: documentTypes(...types) });
    const { report } = verifyDocument({ files, trust, policy: defaultPolicy, now: today, checker });
    return report.warnings.length > 0;
  };
  assert.equal(warned(["P"]), false);
  assert.equal(warned(["V", "P<"]), false);
  assert.equal(warned(["PD"]), true);
  assert.equal(warned([]), true);
});

test("a type of documents is understood in the form of Indonesia and the Philippines, and other forms are not", () => {
  const warnings = (value: Uint8Array) => {
    const signerExtensions = [{ type: "2.23.136.1.1.6.2", critical: false, value }];
    const { files, trust } = make({ signerExtensions });
    const { report } = verifyDocument({ files, trust, policy: defaultPolicy, now: today, checker });
    return report.warnings.map(({ code }) => code);
  };
  assert.deepEqual(warnings(fromHex("30 03 13 01 50")), []);
  assert.deepEqual(warnings(fromHex("30 07 13 01 50 13 02 50 4F")), []);
  assert.deepEqual(warnings(fromHex("30 03 13 01 56")), ["document_type_not_listed"]);
  assert.deepEqual(warnings(fromHex("30 00")), ["extension_unreadable"]);
  assert.deepEqual(warnings(fromHex("30 06 13 01 50 02 01 00")), ["extension_unreadable"]);
  assert.deepEqual(warnings(fromHex("30 06 13 01 50 0C 01 50")), ["extension_unreadable"]);
  // The codes are in their place, but what stands before them is no version.
  assert.deepEqual(warnings(fromHex("30 08 13 01 30 31 03 13 01 50")), ["extension_unreadable"]);
});

test("types of documents are read without blanks, up to 64 of them and eight letters of each", () => {
  const judged = (...types: readonly string[]) => {
    const { files, trust } = make({ signerExtensions: documentTypes(...types) });
    const { report } = verifyDocument({ files, trust, policy: defaultPolicy, now: today, checker });
    const warnings = report.warnings.map(({ code }) => code);
    return { warnings, listed: report.checks.map(({ evidence }) => evidence?.document_types).find(Boolean) };
  };
  assert.deepEqual(judged(" P<"), { warnings: [], listed: ["P"] });
  assert.deepEqual(judged("P", "FORMERPASSPORT").listed, ["P", "FORMERPA"]);
  const others = Array.from({ length: 63 }, (_, index) => `V${index}`);
  assert.deepEqual(judged(...others, "P").warnings, []);
  assert.deepEqual(judged(...others, "V", "P").warnings, ["extension_unreadable"]);
});

test("SHA-1 is accepted, warned about or refused", () => {
  const files = makeFiles({ profileId: "rsa-2048-sha1" });
  const judge = (text: string) =>
    verifyDocument({ files, trust: utopiaTrust, policy: parsePolicy(text), now: today, checker }).report;
  assert.deepEqual(judge("sha1=accept").warnings, []);
  assert.ok(judge("sha1=warn").warnings.some(({ code }) => code === "sha1"));
  assert.equal(failedCheckOf(judge("sha1=refuse"))?.reason, "sha1");
});

test("chip authentication of an unknown kind is accepted, warned about or refused", () => {
  const files = makeFiles({ chipAuthentication: "ecdh_unknown_curve" });
  const judge = (ruling: string) => {
    const policy = parsePolicy(`chip_authentication_unsupported=${ruling}`);
    return verifyDocument({ files, trust: utopiaTrust, policy, now: today, checker }).report;
  };
  assert.deepEqual(judge("accept").warnings, []);
  assert.equal(judge("warn").warnings[0]?.code, "chip_authentication_unsupported");
  assert.equal(failedCheckOf(judge("refuse"))?.name, "chip_authentication");
});

test("a century of birth that is open stays open, unless the operator takes the holder to be young", () => {
  const { files, trust } = make({ dateOfBirth: "150301" });
  const judge = (ruling: string) => {
    const policy = parsePolicy(`century_of_birth_unknown=${ruling}`);
    const { report, content } = verifyDocument({ files, trust, policy, now: today, checker });
    assert.equal(failedCheckOf(report), null);
    assert.ok(content);
    return {
      years: possibleYears(content.mrz.dateOfBirth),
      warnings: report.warnings.map(({ code }) => code),
    };
  };
  assert.deepEqual(judge("accept"), { years: [2015], warnings: [] });
  assert.deepEqual(judge("warn"), { years: [2015], warnings: ["century_of_birth_unknown"] });
  assert.deepEqual(judge("refuse"), { years: [2015, 1915], warnings: [] });
});

test("a list of revocations that a key of another name signed is no list of this authority", () => {
  const stranger: Issuer = { name: name("Somebody else"), key: keyOf("stranger"), scheme };
  const { files, trust } = make({ lists: () => [list(stranger, "2026-01-01")] });
  const { report } = verifyDocument({ files, trust, policy: defaultPolicy, now: today, checker });
  assert.deepEqual(
    report.warnings.map(({ code }) => code),
    ["revocation_list_missing"],
  );
});

test("every switch has its sentence, and the defaults are those of its definition", () => {
  for (const { name, ruling, byDefault, description } of describePolicy(defaultPolicy)) {
    assert.equal(ruling, byDefault);
    assert.match(description, /^[A-Z].{20,}\.$/s, name);
  }
  for (const name of policySwitchNames) assert.equal(strictPolicy.rulings[name], policySwitches[name].strict);
});

test("a policy is written as text or as JSON, on top of a base", () => {
  assert.deepEqual(parsePolicy(""), defaultPolicy);
  assert.deepEqual(parsePolicy("default"), defaultPolicy);
  assert.deepEqual(parsePolicy("strict"), strictPolicy);
  assert.deepEqual(parsePolicy('{"base": "strict"}'), strictPolicy);
  const written = { ...strictPolicy.rulings, sha1: "warn", revocation_list_stale: "accept" };
  for (const text of [
    "strict, sha1=warn, revocation_list_stale=accept",
    "strict\n sha1 = warn \n\nrevocation_list_stale=accept\n",
    " strict ,sha1=warn,, revocation_list_stale=accept",
    '{"sha1": "warn", "revocation_list_stale": "accept", "base": "strict"}',
  ])
    assert.deepEqual(parsePolicy(text), { ...strictPolicy, rulings: written });
});

for (const [text, message] of [
  ["sha-1=warn", /"sha-1" is no switch of the policy; there are revocation_list_missing, /],
  ["sha1=maybe", /sha1 must be one of accept, warn, refuse, not "maybe"/],
  ["sha1=fail", /not "fail"/],
  ["sha1", /The base of a policy is "default" or "strict", not "sha1"/],
  ["strict, sha1", /Part 2 of the policy is not of the form/],
  ["sha1=warn, sha1=refuse", /names sha1 twice/],
  ["country_mismatch=accept", /is always refused and cannot be set/],
  ["undeclared_group=warn", /is always refused and cannot be set/],
  ['{"sha1": true}', /"sha1" in the policy is not a text/],
  ['{"sha1": ', /is none/],
  ['{"__proto__": "warn"}', /"__proto__" is no switch/],
  ["toString=warn", /no switch/],
  ["=warn", /what stands there is no switch/],
  ["base=toString", /not "toString"/],
] as const) {
  test(`the policy ${text} is refused by the reason`, () => {
    assert.throws(
      () => parsePolicy(text),
      (error) => isEmrtdError(error) && error.code === "POLICY_INVALID" && message.test(error.message),
    );
  });
}

test("no text makes a policy that an operator may not have", () => {
  const words = fc.constantFrom(
    ...policySwitchNames,
    "base",
    "strict",
    "default",
    "accept",
    "warn",
    "refuse",
  );
  const text = fc.array(fc.oneof(words, fc.constantFrom("=", ",", "\n", " ", "{", '"'), fc.string()));
  fc.assert(
    fc.property(text, (parts) => {
      try {
        const { rulings } = parsePolicy(parts.join(""));
        assert.equal(rulings.country_mismatch, "refuse");
        assert.equal(rulings.undeclared_group, "refuse");
      } catch (error) {
        assert.ok(isEmrtdError(error) && error.code === "POLICY_INVALID");
      }
    }),
  );
});

test("a key id without its wrapping is used as it stands, and one that is marked as critical is not understood", () => {
  const signerKeyId = (critical: boolean) =>
    make({
      withoutSubjectKeyId: true,
      signerExtensions: [{ type: "2.5.29.14", critical, value: new Uint8Array(20).fill(0x85) }],
    });
  const judge = ({ files, trust }: ReturnType<typeof make>) =>
    verifyDocument({ files, trust, policy: defaultPolicy, now: today, checker }).report;
  assert.equal(failedCheckOf(judge(signerKeyId(false))), null);
  assert.equal(failedCheckOf(judge(signerKeyId(true)))?.reason, "unknown_critical_extension");
  assert.equal(utopia.year, 2026);
});

test("what is relied on must be readable", () => {
  const value = octetString(new Uint8Array(3));
  for (const type of ["2.5.29.15", "2.5.29.19", "2.5.29.37"])
    assert.throws(() => make({ signerExtensions: [{ type, critical: false, value }] }), isEmrtdError, type);
});

test("the usual policy takes the known faults of real security objects, and the strict one none", () => {
  const { rulings: _, ...usual } = defaultPolicy;
  assert.deepEqual(usual, {
    securityObject: {
      digestInfoWithoutNull: true,
      rawEcdsa: true,
      wrongCurveOfSameSize: false,
      signerIdMismatch: true,
      noSignedAttributes: true,
      legacyContentType: true,
    },
    signerCertificate: { digestInfoWithoutNull: true, rawEcdsa: true, wrongCurveOfSameSize: false },
    minimumRsaBits: 1024,
    expiryGraceHours: 12,
  });
  for (const taken of [strictPolicy.securityObject, strictPolicy.signerCertificate])
    assert.deepEqual([...new Set(Object.values(taken))], [false]);
  assert.deepEqual(Object.keys(strictPolicy.securityObject), Object.keys(usual.securityObject));
  assert.deepEqual(Object.keys(strictPolicy.signerCertificate), Object.keys(usual.signerCertificate));
  assert.deepEqual([strictPolicy.minimumRsaBits, strictPolicy.expiryGraceHours], [2048, 12]);
});
