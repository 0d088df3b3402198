import assert from "node:assert/strict";
import { test } from "node:test";
import { checker } from "../../test/support/test-country.ts";
import { toBase64 } from "../base64.ts";
import { concat, utf8 } from "../bytes.ts";
import {
  type Issuer,
  issueCertificate,
  issueRevocationList,
  type Validity,
} from "../node/test-country/issue-certificate.ts";
import { type MessageSigner, signMasterList } from "../node/test-country/sign-message.ts";
import { ecSigningKey } from "../node/test-country/signing-key.ts";
import { readCertificate } from "../x509/certificate.ts";
import { listsOfRevokedSigners } from "./audit-trust.ts";
import { importTrust } from "./import-trust.ts";
import { deserialiseTrustRecord, serialiseTrustRecord, type TrustRecord } from "./trust-record.ts";
import { TrustStore } from "./trust-store.ts";

const now = new Date("2026-05-05T12:00:00Z");
const day = (text: string) => new Date(`${text}T00:00:00Z`);
const years = (from: string, until: string): Validity => ({ notBefore: day(from), notAfter: day(until) });
const scheme = { kind: "ecdsa", hash: "SHA-256" } as const;
const keyOf = (label: string) =>
  ecSigningKey("master list", label, "secp256r1", { explicitParameters: false });
const name = (commonName: string) => ({ country: "UT", organization: "Utopia Test Authority", commonName });

function issuer(label: string): Issuer {
  return { name: name("CSCA"), key: keyOf(label), scheme };
}

/** One authority, before and after a change of its keys. */
const before = issuer("first");
const after = issuer("second");
const serials = { root: Uint8Array.of(0x21), next: Uint8Array.of(0x22), signer: Uint8Array.of(0x31) };

function root(of: Issuer, validity = years("2015-01-01", "2040-01-01"), serial = serials.root): Uint8Array {
  return issueCertificate({
    issuer: of,
    subject: of.name,
    subjectKey: of.key,
    serial,
    validity,
    use: "authority",
  });
}

function listSigner(validity = years("2020-01-01", "2030-01-01")): MessageSigner {
  const key = keyOf("list signer");
  const certificate = issueCertificate({
    issuer: before,
    subject: name("Master List Signer"),
    subjectKey: key,
    serial: serials.signer,
    validity,
    use: "master_list_signer",
  });
  return { certificate, key, scheme };
}

function masterList(signer = listSigner(), signedAt: Date | null = day("2026-01-01")): Uint8Array {
  return signMasterList([root(before)], signer, { signedAt, identifySignerBy: "subject_key_id" });
}

function revocations(of: Issuer, revoked: readonly Uint8Array[], thisUpdate = day("2026-02-01")): Uint8Array {
  return issueRevocationList({
    issuer: of,
    thisUpdate,
    nextUpdate: day("2026-12-01"),
    number: 1,
    revoked: revoked.map((serial) => ({ serial, at: day("2026-01-15") })),
  });
}

function store(...lists: readonly Uint8Array[]): TrustStore {
  const source = { type: "der", label: "", sha256: "", importedAt: "", signedBy: null } as const;
  const certificates = [root(before), root(after, years("2024-01-01", "2045-01-01"), serials.next)];
  return new TrustStore([{ source, certificates, revocationLists: lists }], checker);
}

type Case = {
  readonly says: string;
  readonly list: Uint8Array;
  readonly anchor?: Uint8Array;
  readonly trust?: TrustStore;
  /** Null when it is let in. */
  readonly refusedFor: RegExp | null;
};

const cases: readonly Case[] = [
  { says: "of a signer on no list is let in", list: masterList(), refusedFor: null },
  {
    says: "is let in beside a list that revokes somebody else",
    list: masterList(),
    trust: store(revocations(before, [Uint8Array.of(0x77)])),
    refusedFor: null,
  },
  {
    says: "of a signer that its authority revoked is refused",
    list: masterList(),
    trust: store(revocations(before, [serials.signer])),
    refusedFor: /signer of the master list was revoked/,
  },
  {
    says: "of a signer that the next key of its authority revoked is refused",
    list: masterList(),
    trust: store(revocations(after, [serials.signer])),
    refusedFor: /signer of the master list was revoked/,
  },
  {
    says: "whose authority was revoked is refused",
    list: masterList(),
    trust: store(revocations(after, [serials.root])),
    refusedFor: /signer of the master list was revoked/,
  },
  {
    says: "is let in while the list that revokes its signer lies in the future",
    list: masterList(),
    trust: store(revocations(before, [serials.signer], day("2026-06-01"))),
    refusedFor: null,
  },
  {
    says: "signed before its authority began is refused",
    list: masterList(listSigner(), day("2021-01-01")),
    anchor: root(before, years("2022-01-01", "2040-01-01")),
    refusedFor: /not valid when the list was signed/,
  },
  {
    says: "signed after its authority ended is refused",
    list: masterList(),
    anchor: root(before, years("2015-01-01", "2025-01-01")),
    refusedFor: /not valid when the list was signed/,
  },
  {
    says: "without a time counts as signed now, when its authority has ended",
    list: masterList(listSigner(), null),
    anchor: root(before, years("2015-01-01", "2026-04-01")),
    refusedFor: /not valid when the list was signed/,
  },
  {
    says: "signed while its authority was valid is let in when that has ended since",
    list: masterList(),
    anchor: root(before, years("2015-01-01", "2026-04-01")),
    refusedFor: null,
  },
  {
    says: "of a signer that was certified before its authority began is refused",
    list: masterList(),
    anchor: root(before, years("2024-01-01", "2040-01-01")),
    refusedFor: /not valid when it did so/,
  },
];

function bring(bytes: Uint8Array, { anchor = root(before), trust }: Pick<Case, "anchor" | "trust">) {
  const roots = [readCertificate(anchor)];
  return importTrust(bytes, {
    label: "test",
    checker,
    roots,
    pinnedSha256: [],
    now,
    ...(trust === undefined ? {} : { trust }),
  });
}

for (const { says, list, refusedFor, ...given } of cases) {
  test(`a master list ${says}`, () => {
    const { records, rejected } = bring(list, given);
    assert.equal(records.length, refusedFor === null ? 1 : 0);
    if (refusedFor !== null) assert.match(rejected[0]?.reason ?? "", refusedFor);
  });
}

test("a revocation list in the same file revokes the signer of a master list, whichever comes first", () => {
  const entry = (attribute: string, bytes: Uint8Array) =>
    utf8(`dn: c=UT\n${attribute}:: ${toBase64(bytes)}\n\n`);
  const list = entry("pkdMasterListContent", masterList());
  const revoking = entry("certificateRevocationList;binary", revocations(before, [serials.signer]));
  const clean = entry("certificateRevocationList;binary", revocations(before, []));
  for (const file of [concat(list, revoking), concat(revoking, list)]) {
    const { records, rejected } = bring(file, {});
    assert.deepEqual(
      records.map(({ source }) => source.type),
      ["ldif"],
    );
    assert.match(rejected[0]?.reason ?? "", /was revoked/);
  }
  assert.equal(bring(concat(list, clean), {}).records.length, 2);
});

test("a signer that is revoked after its list was imported is named, also when the record was kept as text", () => {
  const kept = bring(masterList(), {}).records.map((record) =>
    deserialiseTrustRecord(serialiseTrustRecord(record)),
  );
  const later = (lists: readonly Uint8Array[]): TrustRecord => ({
    source: { type: "der", label: "later", sha256: "2", importedAt: "", signedBy: null },
    certificates: [],
    revocationLists: lists,
  });
  const labels = (...lists: readonly Uint8Array[]) =>
    listsOfRevokedSigners(new TrustStore([...kept, later(lists)], checker), checker, now).map(
      ({ label }) => label,
    );
  assert.deepEqual(labels(revocations(before, [])), []);
  assert.deepEqual(labels(revocations(before, [serials.signer])), ["test"]);
});

test("a record of before the signer's certificate was kept is still read", () => {
  const [record] = bring(masterList(), {}).records;
  assert.ok(record);
  const text = serialiseTrustRecord(record).replace(/,\s*"signerCertificate": "[^"]*"/, "");
  assert.ok(!text.includes("signerCertificate"));
  assert.equal(deserialiseTrustRecord(text).source.signedBy?.signerCertificate, null);
});
