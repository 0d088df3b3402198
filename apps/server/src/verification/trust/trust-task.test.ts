import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { contextTag, contextValue, sequence } from "@assay/emrtd/ber/write";
import { latin1 } from "@assay/emrtd/bytes";
import { createNodeSignatureChecker } from "@assay/emrtd/node/signature-checker";
import { issueCertificate, issueRevocationList } from "@assay/emrtd/node/test-country/issue-certificate";
import { signMasterList } from "@assay/emrtd/node/test-country/sign-message";
import { ecSigningKey } from "@assay/emrtd/node/test-country/signing-key";
import { createTestCountry } from "@assay/emrtd/node/test-country/test-country";
import { importTrust } from "@assay/emrtd/trust/import-trust";
import type { TrustRecord } from "@assay/emrtd/trust/trust-record";
import { createTestAuthority } from "../../../test/support/test-authority.ts";
import { packTrust, unpackTrust } from "./trust-snapshot.ts";
import { type EditionAnswer, readEdition, surveyTrust, type TrustSurvey } from "./trust-task.ts";

const now = new Date("2026-03-01T00:00:00Z");
const day = (text: string) => new Date(`${text}T00:00:00Z`);
const checker = createNodeSignatureChecker();
const authority = createTestAuthority("task", ["http://crl.example/b.crl", "http://crl.example/a.crl"]);
const other = createTestAuthority("other", ["http://crl.example/a.crl"]);
const country = createTestCountry("task", now);
const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const pinOf = ({ listSigner }: typeof authority) => sha256(listSigner.certificate);

function pem(label: string, bytes: Uint8Array): string {
  return `-----BEGIN ${label}-----\n${Buffer.from(bytes).toString("base64")}\n-----END ${label}-----\n`;
}

/** As an operator imports it. */
function imported(bytes: Uint8Array, pinnedSha256: readonly string[] = []): readonly TrustRecord[] {
  return importTrust(bytes, { label: "import", checker, roots: [], pinnedSha256, now }).records;
}

function read(
  bytes: Uint8Array | string,
  { trusted = [], pins = [] }: { trusted?: readonly TrustRecord[]; pins?: readonly string[] } = {},
): EditionAnswer {
  return readEdition(
    {
      kind: "read_edition",
      trust: packTrust(1, trusted),
      bytes: typeof bytes === "string" ? Buffer.from(bytes) : bytes,
      label: "https://lists.example/all",
      pins,
      nowMs: now.getTime(),
    },
    checker,
  );
}

function usable(answer: EditionAnswer): Extract<EditionAnswer, { kind: "usable" }> {
  return answer.kind === "usable" ? answer : assert.fail(answer.reason);
}

function reasonOf(answer: EditionAnswer): string {
  return answer.kind === "refused" ? answer.reason : assert.fail("it was taken in");
}

const root = imported(authority.certificate);
const countsOf = ({ records }: { records: readonly TrustRecord[] }) =>
  records.map(({ certificates, revocationLists, deviationLists = [] }) => [
    certificates.length,
    revocationLists.length,
    deviationLists.length,
  ]);

test("a master list is taken in where its signer is pinned, or below a root of the operator", () => {
  const list = authority.masterList([authority.certificate, other.certificate], day("2026-01-10"));
  const pinned = usable(read(list, { pins: [pinOf(authority)] }));
  assert.deepEqual(countsOf(pinned), [[2, 0, 0]]);
  assert.equal(pinned.at.toISOString(), "2026-01-10T00:00:00.000Z");
  assert.equal(pinned.records[0]?.source.label, "https://lists.example/all");
  assert.deepEqual(countsOf(usable(read(list, { trusted: root }))), [[2, 0, 0]]);
  assert.match(reasonOf(read(list)), /No trusted root vouches/);
});

test("where a signer is pinned no root counts, and an authority that a list merely names is none", () => {
  const list = authority.masterList([authority.certificate], day("2026-01-10"));
  assert.match(reasonOf(read(list, { trusted: root, pins: [pinOf(other)] })), /No trusted root vouches/);
  const naming = imported(other.masterList([authority.certificate], day("2026-01-10")), [pinOf(other)]);
  assert.match(reasonOf(read(list, { trusted: naming })), /No trusted root vouches/);
});

test("what vouched for a list before vouches for its next edition", () => {
  const first = authority.masterList([authority.certificate], day("2026-01-10"));
  const { records } = usable(read(first, { trusted: root }));
  const next = authority.masterList([authority.certificate, other.certificate], day("2026-02-10"));
  assert.deepEqual(countsOf(usable(read(next, { trusted: records }))), [[2, 0, 0]]);
});

test("lists of revoked certificates are taken in where a trusted authority signed them, and loose certificates never", () => {
  const crl = authority.revocationList(day("2026-02-01"), false);
  const answer = usable(read(crl, { trusted: root }));
  assert.deepEqual(countsOf(answer), [[0, 1, 0]]);
  assert.equal(answer.at.toISOString(), "2026-02-01T00:00:00.000Z");
  assert.match(reasonOf(read(crl)), /Nothing in it is signed by an authority/);
  const vouchingForItself = pem("CERTIFICATE", authority.certificate) + pem("X509 CRL", crl);
  assert.match(reasonOf(read(vouchingForItself)), /Nothing in it is signed by an authority/);
  const withMore =
    pem("CERTIFICATE", other.certificate) +
    pem("X509 CRL", crl) +
    pem("X509 CRL", other.revocationList(day("2026-02-20"), false));
  const mixed = usable(read(withMore, { trusted: root }));
  assert.deepEqual(countsOf(mixed), [[0, 1, 0]], "neither the certificate nor the list that it vouches for");
  assert.equal(mixed.at.toISOString(), "2026-02-01T00:00:00.000Z");
});

test("an edition holds what it brought, and nothing of what was there before it", () => {
  const before = imported(authority.revocationList(day("2026-01-01"), false));
  const crl = authority.revocationList(day("2026-02-01"), false);
  const { records } = usable(read(crl, { trusted: [...root, ...before] }));
  assert.deepEqual(
    records.flatMap(({ revocationLists }) => revocationLists.map(sha256)),
    [sha256(crl)],
  );
});

test("a forged list of the same name and time does not take the genuine one along", () => {
  const at = day("2026-02-01");
  const genuine = authority.revocationList(at, false);
  const forged = issueRevocationList({
    issuer: {
      name: { country: "UT", organization: "Utopia Test Authority", commonName: "CSCA task" },
      key: ecSigningKey("forger", "x", "secp256r1", { explicitParameters: false }),
      scheme: { kind: "ecdsa", hash: "SHA-256" },
    },
    ...{ thisUpdate: at, nextUpdate: day("2026-05-01"), number: 1, revoked: [] },
  });
  const { records } = usable(read(pem("X509 CRL", forged) + pem("X509 CRL", genuine), { trusted: root }));
  assert.deepEqual(
    records.flatMap(({ revocationLists }) => revocationLists.map(sha256)),
    [sha256(genuine)],
  );
});

test("a list that is dated in the future is none", () => {
  const early = authority.revocationList(day("2026-02-01"), false);
  const future = authority.revocationList(day("2026-06-01"), false);
  assert.match(reasonOf(read(future, { trusted: root })), /future/);
  const both = usable(read(pem("X509 CRL", early) + pem("X509 CRL", future), { trusted: root }));
  assert.deepEqual(countsOf(both), [[0, 1, 0]]);
  assert.equal(both.at.toISOString(), "2026-02-01T00:00:00.000Z");
  assert.equal(both.leftOut, 1);
});

test("an edition is as old as the newest of its lists", () => {
  const [older, newer] = [day("2026-01-01"), day("2026-02-01")].map((at) =>
    authority.revocationList(at, false),
  );
  assert.ok(older && newer);
  for (const lists of [
    [older, newer],
    [newer, older],
  ]) {
    const answer = usable(read(lists.map((list) => pem("X509 CRL", list)).join(""), { trusted: root }));
    assert.equal(answer.at.toISOString(), "2026-02-01T00:00:00.000Z");
  }
});

test("a deviation list is taken in where a trusted authority certified its signer, and says why where not", () => {
  const list = authority.deviationList(day("2026-02-03"));
  const answer = usable(read(list, { trusted: root }));
  assert.deepEqual(countsOf(answer), [[0, 0, 1]]);
  assert.equal(answer.at.toISOString(), "2026-02-03T00:00:00.000Z");
  assert.match(reasonOf(read(list)), /No trusted authority vouches for the signer of the deviation list/);
});

test("an edition that does not say when it was signed is refused, as is one that cannot be read", () => {
  const undated = signMasterList([authority.certificate], authority.listSigner, {
    signedAt: null,
    identifySignerBy: "subject_key_id",
  });
  assert.equal(reasonOf(read(undated, { pins: [pinOf(authority)] })), "It does not say when it was signed");
  assert.match(reasonOf(read("<html>Sign in</html>")), /holds no master list/);
  const altered = authority.masterList([authority.certificate], day("2026-01-10"));
  altered[altered.length - 3] = (altered.at(-3) ?? 0) ^ 1;
  reasonOf(read(altered, { pins: [pinOf(authority)] }));
});

function survey(trusted: readonly TrustRecord[], at = now): TrustSurvey {
  const task = { kind: "survey", trust: packTrust(7, trusted), nowMs: at.getTime() } as const;
  return surveyTrust(task, checker);
}

test("a survey names the addresses of revocation lists once, in order, and of trusted authorities only", () => {
  const both = [...root, ...imported(other.certificate)];
  assert.deepEqual(survey(both).revocationListAddresses, [
    "http://crl.example/a.crl",
    "http://crl.example/b.crl",
  ]);
  assert.equal(survey(both).version, 7);
  assert.deepEqual(survey([]).revocationListAddresses, []);
  const orphan = imported(country.linkCertificate);
  const { countries } = survey(orphan);
  assert.deepEqual(
    countries.map(({ authorities, validNow }) => [authorities, validNow]),
    [[1, 0]],
  );
});

test("a survey does not name the addresses of a certificate whose predecessor is missing", () => {
  const key = (label: string) => ecSigningKey("survey", label, "secp256r1", { explicitParameters: false });
  const name = (commonName: string) => ({ country: "UT", organization: "Utopia", commonName });
  const orphan = issueCertificate({
    issuer: {
      name: name("CSCA of old"),
      key: key("old"),
      scheme: { kind: "ecdsa", hash: "SHA-256" },
    },
    ...{ subject: name("CSCA"), subjectKey: key("new"), serial: Uint8Array.of(1), use: "authority" },
    validity: { notBefore: day("2020-01-01"), notAfter: day("2040-01-01") },
    extensions: [
      {
        ...{ type: "2.5.29.31", critical: false },
        value: sequence(
          sequence(contextTag(0, contextTag(0, contextValue(6, latin1("http://crl.example/orphan.crl"))))),
        ),
      },
    ],
  });
  const trusted = imported(orphan);
  assert.equal(trusted.length, 1);
  assert.deepEqual(survey(trusted).revocationListAddresses, []);
});

test("a survey says how the countries stand, and whose signer was revoked since", () => {
  const list = authority.masterList([authority.certificate], day("2026-01-10"));
  const trusted = imported(list, [pinOf(authority)]);
  const crl = (revoked: boolean) => imported(authority.revocationList(day("2026-02-01"), revoked));
  const clean = survey([...trusted, ...crl(false)]);
  assert.deepEqual(clean.filesOfRevokedSigners, []);
  assert.deepEqual(clean.countries, [
    {
      ...{ country: "UT", authorities: 1, validNow: 1 },
      ...{ revocationList: "fresh", revocationListFrom: day("2026-02-01") },
    },
  ]);
  assert.equal(survey([...trusted, ...crl(false)], day("2026-06-01")).countries[0]?.revocationList, "stale");
  assert.deepEqual(survey([...trusted, ...crl(true)]).filesOfRevokedSigners, [sha256(list)]);
});

test("what is handed to a thread arrives as it was, and a change of it has another digest", () => {
  const packed = packTrust(3, root);
  assert.deepEqual(unpackTrust(packed), root);
  assert.equal(packTrust(3, root).digest, packed.digest);
  assert.notEqual(packTrust(3, []).digest, packed.digest);
});
