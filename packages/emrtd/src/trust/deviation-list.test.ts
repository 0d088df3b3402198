import assert from "node:assert/strict";
import { test } from "node:test";
import { checker, makeFiles, specimen, today, utopia, utopiaTrust } from "../../test/support/test-country.ts";
import {
  contextTag,
  contextValue,
  generalizedTime,
  integer,
  oid,
  printableString,
  sequence,
  setOf,
} from "../ber/write.ts";
import { latin1 } from "../bytes.ts";
import { isEmrtdError } from "../emrtd-error.ts";
import { encodeName, type Issuer, issueCertificate } from "../node/test-country/issue-certificate.ts";
import { type MessageSigner, signMessage } from "../node/test-country/sign-message.ts";
import { signerProfile } from "../node/test-country/signer-profiles.ts";
import { ecSigningKey } from "../node/test-country/signing-key.ts";
import { parsePolicy } from "../verify/parse-policy.ts";
import { failedCheckOf } from "../verify/report.ts";
import { verifyDocument } from "../verify/verify-document.ts";
import { readCertificate } from "../x509/certificate.ts";
import { deviationListSigningKey, deviationListType, readDeviationList } from "./deviation-list.ts";
import { importTrust } from "./import-trust.ts";
import { readDeviationLists } from "./known-deviations.ts";
import { deserialiseTrustRecord, serialiseTrustRecord } from "./trust-record.ts";
import { TrustStore } from "./trust-store.ts";

const scheme = { kind: "ecdsa", hash: "SHA-256" } as const;
const keyOf = (label: string) =>
  ecSigningKey("deviations", label, "secp256r1", { explicitParameters: false });
const name = { country: "UT", organization: "Utopia Test Authority", commonName: "Deviations CSCA" };
const authority: Issuer = { name, key: keyOf("authority"), scheme };
const validity = { notBefore: new Date("2020-01-01T00:00:00Z"), notAfter: new Date("2040-01-01T00:00:00Z") };

function issue(use: "authority" | "document_signer", label: string, eku: string | null, from = authority) {
  const key = use === "authority" ? from.key : keyOf(label);
  const certificate = issueCertificate({
    issuer: from,
    subject: use === "authority" ? from.name : { ...name, commonName: label },
    subjectKey: key,
    serial: Uint8Array.of(9),
    validity,
    use,
    ...(eku === null
      ? {}
      : { extensions: [{ type: "2.5.29.37", critical: true, value: sequence(oid(eku)) }] }),
  });
  return { certificate, key, scheme };
}

const source = { type: "der", label: "", sha256: "", importedAt: "", signedBy: null } as const;
const trust = new TrustStore(
  [{ source, certificates: [issue("authority", "", null).certificate], revocationLists: [] }],
  checker,
);
const listSigner = issue("document_signer", "deviation list signer", deviationListSigningKey);

function describe(kind: string, part: number | null = null, text: string | null = null): Uint8Array {
  return sequence(
    ...(text === null ? [] : [printableString(text)]),
    oid(`${deviationListType}.${kind}`),
    ...(part === null ? [] : [contextTag(0, integer(part))]),
  );
}

function list(
  deviations: readonly (readonly [documents: readonly Uint8Array[], descriptions: readonly Uint8Array[]])[],
  signer: MessageSigner = listSigner,
  contentType = deviationListType,
  signedAt: Date | null = new Date("2025-01-01T00:00:00Z"),
): Uint8Array {
  const content = sequence(
    integer(0),
    sequence(oid("2.16.840.1.101.3.4.2.1")),
    setOf(
      ...deviations.map(([documents, described]) => sequence(sequence(...documents), setOf(...described))),
    ),
  );
  return signMessage(contentType, content, signer, { signedAt, identifySignerBy: "issuer_and_serial" });
}

const read = (bytes: Uint8Array) => readDeviationList(bytes, { checker, trust, now: today });
const documentSigner = utopia.documentSigner(signerProfile("brainpoolP256r1-sha256-explicit")).certificate;
const signer = readCertificate(documentSigner);
const fault = [describe("2.2", 12, "DG12 has a wrong hash")];

test("a list is read with what it says, and of which documents", () => {
  const {
    country,
    deviations,
    signer: by,
    digest,
  } = read(
    list([
      [
        [
          contextValue(0, latin1("C<")),
          contextTag(4, generalizedTime(validity.notBefore), generalizedTime(validity.notAfter)),
          contextTag(5, printableString("CA00000AA"), printableString("CA00001AA")),
        ],
        [...fault, describe("1.4"), sequence(oid("1.2.3"))],
      ],
    ]),
  );
  assert.equal(country, "UT");
  assert.match(by, /deviation list signer/);
  assert.equal(digest, "SHA-256");
  assert.deepEqual(deviations[0]?.documents, {
    documentType: "C",
    signer: null,
    issued: { first: validity.notBefore, last: validity.notAfter },
    documentNumbers: new Set(["CA00000AA", "CA00001AA"]),
  });
  assert.deepEqual(deviations[0]?.descriptions.map(({ kind, part, text }) => [kind, part, text]).sort(), [
    ["active_authentication_key_compromised", null, null],
    ["group_hash_wrong", 12, "DG12 has a wrong hash"],
    ["unknown", null, null],
  ]);
});

for (const [what, bytes, reason] of [
  [
    "of a signer for documents",
    () => list([], issue("document_signer", "x", null)),
    /not for deviation lists/,
  ],
  [
    "of a signer for master lists",
    () => list([], issue("document_signer", "x", "2.23.136.1.1.3")),
    /not for deviation lists/,
  ],
  [
    "of a stranger",
    () =>
      list(
        [],
        issue("document_signer", "x", deviationListSigningKey, { ...authority, key: keyOf("stranger") }),
      ),
    /No trusted authority/,
  ],
  ["that is something else", () => list([], listSigner, "2.23.136.1.1.2"), /not a deviation list/],
  [
    "of the future",
    () => list([], listSigner, deviationListType, new Date("2027-01-01T00:00:00Z")),
    /signed in the future/,
  ],
] as const) {
  test(`a list ${what} is refused`, () => {
    assert.throws(
      () => read(bytes()),
      (error) => isEmrtdError(error) && error.code === "DEVIATION_LIST_INVALID" && reason.test(error.message),
    );
  });
}

const number = specimen.documentNumber;
const year = (from: string, until: string) =>
  contextTag(4, generalizedTime(new Date(from)), generalizedTime(new Date(until)));

/** The criteria of a list, and whether the document of the test country is meant by them. */
const criteria: readonly (readonly [string, readonly Uint8Array[], boolean])[] = [
  ["no criterion", [], true],
  ["its type", [contextValue(0, latin1("P<"))], true],
  ["another type", [contextValue(0, latin1("ID"))], false],
  ["its number", [contextTag(5, printableString("X1"), printableString(number))], true],
  ["other numbers", [contextTag(5, printableString("X1"))], false],
  ["its time", [year("2024-01-01T00:00:00Z", "2024-12-31T00:00:00Z")], true],
  ["another time", [year("2022-01-01T00:00:00Z", "2022-12-31T00:00:00Z")], false],
  ["its signer's key id", [contextValue(2, signer.subjectKeyId ?? new Uint8Array())], true],
  ["another key id", [contextValue(2, new Uint8Array(20))], false],
  ["its signer's digest", [contextValue(3, checker.hash("SHA-256", documentSigner))], true],
  ["another digest", [contextValue(3, new Uint8Array(32))], false],
  ["another signer", [contextTag(1, encodeName(name), integer(77))], false],
  [
    "its type and other numbers",
    [contextValue(0, latin1("P<")), contextTag(5, printableString("X1"))],
    false,
  ],
];

for (const [what, documents, meant] of criteria) {
  test(`a deviation of documents by ${what} is ${meant ? "" : "not "}that of the document`, () => {
    const deviations = [read(list([[documents, fault]]))];
    const judge = (ruling: string) =>
      verifyDocument({
        files: makeFiles(),
        trust: utopiaTrust,
        deviations,
        policy: parsePolicy(`document_deviates=${ruling}`),
        now: today,
        checker,
      }).report;
    assert.deepEqual(
      judge("warn").warnings.map(({ code }) => code),
      meant ? ["document_deviates"] : [],
    );
    assert.deepEqual(judge("accept").warnings, []);
    const failed = failedCheckOf(judge("refuse"));
    assert.equal(failed?.reason ?? null, meant ? "document_deviates" : null);
    if (meant) assert.notDeepEqual(failed?.evidence.deviations, [], "it says which");
  });
}

test("a state says nothing about the documents of another", () => {
  const foreign = [{ ...read(list([[[], fault]])), country: "XX" }];
  const { report } = verifyDocument({
    files: makeFiles(),
    trust: utopiaTrust,
    deviations: foreign,
    policy: parsePolicy(""),
    now: today,
    checker,
  });
  assert.deepEqual(report.warnings, []);
});

test("a chip whose key for active authentication the state calls compromised is not asked to prove itself with it", () => {
  const files = makeFiles({ activeAuthentication: "ecdsa" });
  const judge = (deviations: readonly ReturnType<typeof read>[]) =>
    verifyDocument({ files, trust: utopiaTrust, deviations, policy: parsePolicy(""), now: today, checker })
      .report;
  assert.equal(judge([]).nextProof, "active_authentication");
  const told = judge([read(list([[[], [describe("1.4")]]]))]);
  assert.equal(told.nextProof, null);
  assert.equal(told.level, "chip_clonable");
});

test("a list is imported whoever signed it, and counts as soon as an authority that is trusted stands behind it", () => {
  const bytes = list([[[], fault]]);
  const options = { label: "deviations.dl", checker, roots: [], pinnedSha256: [], now: today };
  const { records, rejected } = importTrust(bytes, options);
  assert.deepEqual(rejected, []);
  assert.deepEqual(
    records.map(({ deviationLists, source }) => [deviationLists, source.signedBy]),
    [[[bytes], null]],
  );
  const without = readDeviationLists(records, { checker, trust: utopiaTrust, now: today });
  assert.deepEqual(without.lists, []);
  assert.match(without.refused[0]?.reason ?? "", /No trusted authority/);
  assert.equal(without.refused[0]?.source.label, "deviations.dl");
  const { lists, refused } = readDeviationLists(records, { checker, trust, now: today });
  assert.deepEqual(refused, []);
  assert.equal(lists[0]?.list.deviations.length, 1);
  const [record] = records;
  assert.ok(record);
  assert.deepEqual(deserialiseTrustRecord(serialiseTrustRecord(record)), record);
});

test("a list that cannot be read is not imported, and says so", () => {
  const bytes = signMessage(deviationListType, sequence(integer(7)), listSigner, {
    signedAt: today,
    identifySignerBy: "issuer_and_serial",
  });
  const options = { label: "x", checker, roots: [], pinnedSha256: [], now: today };
  const { records, rejected } = importTrust(bytes, options);
  assert.deepEqual(records, []);
  assert.match(rejected[0]?.reason ?? "", /unknown version/);
});
