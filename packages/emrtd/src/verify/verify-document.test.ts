import assert from "node:assert/strict";
import { constants, createHash, createPrivateKey, privateEncrypt } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import {
  checker,
  flipBit,
  makeFiles,
  offsetIn,
  specimen,
  today,
  utopia,
  utopiaTrust,
  verify,
  withGroup,
} from "../../test/support/test-country.ts";
import { oids } from "../ber/oid.ts";
import { readTlv } from "../ber/read.ts";
import { contextValue, integer, nullValue, octetString, oid, sequence } from "../ber/write.ts";
import { concat } from "../bytes.ts";
import { readSignedData } from "../cms/signed-data.ts";
import { digests } from "../crypto/digests.ts";
import { buildDg1 } from "../lds/dg1.ts";
import { buildDg11 } from "../lds/dg11.ts";
import { buildDg15 } from "../lds/dg15.ts";
import { buildMrz, type MrzContent } from "../mrz/build-mrz.ts";
import { possibleYears } from "../mrz/mrz-date.ts";
import { encodeName, issueCertificate } from "../node/test-country/issue-certificate.ts";
import { readPortrait } from "../node/test-country/portraits.ts";
import { signSecurityObject } from "../node/test-country/sign-message.ts";
import { signerProfile, signerProfiles } from "../node/test-country/signer-profiles.ts";
import { ecSigningKey, rsaSigningKey } from "../node/test-country/signing-key.ts";
import { testCountryTrust } from "../node/test-country/test-country.ts";
import { TrustStore } from "../trust/trust-store.ts";
import { readSecurityObjectFile } from "./document-content.ts";
import { failureCodeOf } from "./failure-code.ts";
import { defaultPolicy, strictPolicy } from "./policy.ts";
import { type CheckName, checkNames, checkOf, failedCheckOf, type Report, withChipProof } from "./report.ts";
import { verifyDocument, verifySecurityObject } from "./verify-document.ts";

function fails(report: Report, name: CheckName, reason: string): void {
  assert.equal(failedCheckOf(report)?.name, name);
  assert.equal(failedCheckOf(report)?.reason, reason);
  assert.equal(report.level, null);
  assert.equal(report.nextProof, null);
  const position = checkNames.indexOf(name);
  // If the document does not offer a proof, the failure of another one does not affect it.
  for (const later of checkNames.slice(position + 1))
    assert.ok(["not_run", "not_offered"].includes(checkOf(report, later).outcome), later);
}

function passes(report: Report): void {
  assert.equal(failedCheckOf(report), null, JSON.stringify(failedCheckOf(report)));
}

function warningsOf(report: Report): readonly string[] {
  return report.warnings.map(({ code }) => code);
}

test("the checks are always all there, in their order", () => {
  for (const report of [verify(makeFiles()), verify({ sod: new Uint8Array(), dataGroups: new Map() })]) {
    assert.deepEqual(
      report.checks.map(({ name }) => name),
      checkNames,
    );
  }
});

test("a report says nothing about the holder", () => {
  const files = makeFiles({ chipAuthentication: "ecdh_aes128", activeAuthentication: "rsa" });
  const expired = verify(files, { now: new Date("2040-01-01T00:00:00Z") });
  for (const report of [
    verify(files),
    expired,
    verify(withGroup(files, 1, files.dataGroups.get(2) ?? null)),
  ]) {
    const text = JSON.stringify(report);
    for (const secret of [
      "ERIKSSON",
      "ANNA",
      specimen.documentNumber,
      specimen.dateOfBirth,
      specimen.dateOfExpiry,
    ]) {
      assert.ok(!text.toUpperCase().includes(secret));
    }
  }
});

for (const profile of signerProfiles) {
  test(`${profile.id}: the document verifies, and fails with one bit of its signature, hashes or certificate flipped`, () => {
    const files = makeFiles({ profileId: profile.id, chipAuthentication: "ecdh_aes128" });
    const report = verify(files);
    passes(report);
    assert.equal(report.level, "data_authentic");
    assert.deepEqual(
      warningsOf(report).filter((code) => code !== "sha1"),
      [],
    );
    assert.equal(warningsOf(report).includes("sha1"), profile.scheme.hash === "SHA-1");
    const { signedData } = readSecurityObjectFile(files.sod);
    const [signer] = signedData.signers;
    const [certificate] = signedData.certificates;
    assert.ok(signer && certificate);
    for (const part of [signer.signature, signedData.content, certificate]) {
      const start = offsetIn(files.sod, part);
      for (const fraction of [0.31, 0.62, 0.97]) {
        const sod = flipBit(files.sod, Math.floor((start + part.length * fraction) * 8) + 2);
        assert.notEqual(failedCheckOf(verify({ ...files, sod })), null);
      }
    }
  });
}

test("the same seed gives the same document, another seed another one", () => {
  assert.deepEqual(makeFiles(), makeFiles());
  assert.deepEqual(
    makeFiles({ profileId: "rsa-pss-2048-sha256" }),
    makeFiles({ profileId: "rsa-pss-2048-sha256" }),
  );
});

test("DG1 or DG2 missing, or a file that is not what it is called, is invalid data", () => {
  const files = makeFiles();
  fails(verify(withGroup(files, 1, null)), "structure", "dg1_missing");
  fails(verify(withGroup(files, 2, null)), "structure", "dg2_missing");
  fails(verify(withGroup(files, 14, files.dataGroups.get(1) ?? null)), "structure", "unreadable");
  fails(verify({ ...files, sod: files.sod.subarray(0, -1) }), "structure", "unreadable");
  fails(verify({ ...files, sod: concat(files.sod, Uint8Array.of(0)) }), "structure", "unreadable");
  assert.equal(failureCodeOf(verify(withGroup(files, 1, null))), "document_data_invalid");
});

test("a group whose bytes differ from the signed hash fails", () => {
  const files = makeFiles({ chipAuthentication: "ecdh_aes128" });
  const otherDg1 = buildDg1(buildMrz({ ...specimen, dateOfBirth: "640812" }));
  fails(verify(withGroup(files, 1, otherDg1)), "data_group_hashes", "dg1_hash_differs");
  const otherDg14 = makeFiles({ chipAuthentication: "ecdh_3des" }).dataGroups.get(14) ?? null;
  fails(verify(withGroup(files, 14, otherDg14)), "data_group_hashes", "dg14_hash_differs");
  assert.equal(failureCodeOf(verify(withGroup(files, 14, otherDg14))), "document_authenticity_failed");
});

test("leaving out a signed group with chip keys does not make the chip look as if it had none", () => {
  const files = makeFiles({ chipAuthentication: "ecdh_aes128", activeAuthentication: "rsa" });
  fails(verify(withGroup(files, 14, null)), "data_group_hashes", "dg14_declared_but_missing");
  fails(verify(withGroup(files, 15, null)), "data_group_hashes", "dg15_declared_but_missing");
});

test("a key in a group that the security object does not name is no proof", () => {
  const key = rsaSigningKey("otherChip2048").subjectPublicKeyInfo;
  const files = withGroup(makeFiles(), 15, buildDg15(key));
  fails(verify(files), "undeclared_groups", "undeclared_group");
  const tolerant = verify(files, { rulings: { undeclared_group: "warn" } });
  assert.deepEqual(warningsOf(tolerant), ["undeclared_group"]);
  assert.equal(checkOf(tolerant, "active_authentication").outcome, "not_offered");
  assert.equal(tolerant.level, "chip_clonable");
});

test("a report names the groups that were read and those whose hashes agree, in ascending order", () => {
  const files = makeFiles({ activeAuthentication: "rsa" });
  const reversed = { ...files, dataGroups: new Map([...files.dataGroups].reverse()) };
  const groups = [...files.dataGroups.keys()].sort((one, other) => one - other);
  assert.ok(groups.includes(15));
  const report = verify(reversed);
  assert.deepEqual(checkOf(report, "structure").evidence.groups, groups);
  const { declared, matching } = checkOf(report, "data_group_hashes").evidence;
  assert.deepEqual([declared, matching], [groups, groups]);
});

test("DG1 and DG2 must be among the signed hashes whatever the policy", () => {
  const files = makeFiles();
  const dg2 = files.dataGroups.get(2);
  assert.ok(dg2);
  const sod = signSecurityObject({
    groupHash: "SHA-256",
    dataGroups: new Map([[2, dg2]]),
    signer: utopia.documentSigner(signerProfile("rsa-2048-sha256")),
    options: { signedAt: utopia.signedAt, identifySignerBy: "issuer_and_serial" },
  });
  fails(
    verify({ ...files, sod }, { rulings: { undeclared_group: "warn" } }),
    "data_group_hashes",
    "dg1_not_declared",
  );
});

test("chip authentication is asked for first, active authentication where there is no other, and a clone passes as data only", () => {
  const both = verify(makeFiles({ chipAuthentication: "ecdh_aes128", activeAuthentication: "rsa" }));
  assert.equal(both.nextProof, "chip_authentication");
  assert.equal(both.level, "data_authentic");
  const genuine = withChipProof(both, { proof: "chip_authentication", passed: true });
  assert.equal(genuine.level, "chip_genuine");
  assert.equal(checkOf(genuine, "active_authentication").outcome, "not_run");
  assert.equal(failureCodeOf(genuine), null);
  const cloned = withChipProof(both, { proof: "chip_authentication", passed: false, reason: "mac_differs" });
  fails(cloned, "chip_authentication", "mac_differs");
  assert.equal(failureCodeOf(cloned), "document_chip_authentication_failed");

  const active = verify(makeFiles({ activeAuthentication: "ecdsa" }));
  assert.equal(active.nextProof, "active_authentication");
  const refused = withChipProof(active, { proof: "active_authentication", passed: false });
  assert.equal(failureCodeOf(refused), "document_active_authentication_failed");
  assert.throws(() => withChipProof(active, { proof: "chip_authentication", passed: true }), TypeError);
  assert.throws(() => withChipProof(refused, { proof: "active_authentication", passed: true }), TypeError);

  const none = verify(makeFiles());
  assert.equal(none.level, "chip_clonable");
  assert.equal(none.nextProof, null);
});

test("chip authentication on a curve that is unknown here is no fault of the document: the next proof is asked for, and a warning tells", () => {
  const alone = verify(makeFiles({ chipAuthentication: "ecdh_unknown_curve" }));
  assert.deepEqual([alone.level, alone.nextProof, failureCodeOf(alone)], ["chip_clonable", null, null]);
  assert.equal(checkOf(alone, "chip_authentication").outcome, "not_offered");
  const warning = { check: "chip_authentication", code: "chip_authentication_unsupported" } as const;
  assert.deepEqual(alone.warnings, [warning]);

  const signing = verify(
    makeFiles({ chipAuthentication: "ecdh_unknown_curve", activeAuthentication: "rsa" }),
  );
  assert.deepEqual([signing.level, signing.nextProof], ["data_authentic", "active_authentication"]);
  const refused = withChipProof(signing, { proof: "active_authentication", passed: false });
  assert.equal(failureCodeOf(refused), "document_active_authentication_failed");
  assert.deepEqual(refused.warnings, [warning]);
});

test("a document that offers chip authentication in version 2 only is named apart from one of an unknown kind", () => {
  const report = (chipAuthentication: "ecdh_version_2" | "ecdh_unknown_curve", ruling: "warn" | "refuse") =>
    verify(makeFiles({ chipAuthentication }), { rulings: { chip_authentication_unsupported: ruling } });
  const warned = report("ecdh_version_2", "warn");
  assert.deepEqual([warned.level, warned.nextProof], ["chip_clonable", null]);
  for (const ruling of ["warn", "refuse"] as const) {
    const { evidence } = checkOf(report("ecdh_version_2", ruling), "chip_authentication");
    assert.deepEqual(evidence, {
      error: "PROTOCOL_UNSUPPORTED",
      rule: "Chip authentication is offered in version 2 or 3 only, which need terminal authentication",
    });
    const unknown = checkOf(report("ecdh_unknown_curve", ruling), "chip_authentication").evidence;
    assert.notEqual(unknown.rule, evidence.rule);
  }
});

test("a proof cannot be added to a document that is not authentic", () => {
  const files = makeFiles({ chipAuthentication: "ecdh_aes128" });
  const forged = verify(withGroup(files, 1, buildDg1(buildMrz({ ...specimen, sex: "M" }))));
  assert.throws(() => withChipProof(forged, { proof: "chip_authentication", passed: true }), TypeError);
});

test("a document is good to the end of its last day anywhere on earth, and expired after it", () => {
  const files = makeFiles({ mrz: { dateOfExpiry: "260504" } });
  passes(verify(files, { now: new Date("2026-05-04T23:59:59Z") }));
  passes(verify(files, { now: new Date("2026-05-05T11:59:59Z") }));
  const report = verify(files, { now: new Date("2026-05-05T12:00:00Z") });
  fails(report, "document_expiry", "expired");
  assert.equal(failureCodeOf(report), "document_expired");
  fails(
    verify(files, { now: new Date("2026-05-05T00:00:00Z"), policy: { expiryGraceHours: 0 } }),
    "document_expiry",
    "expired",
  );
});

test("an expired signer is reported, and fails nothing that it signed while it was valid", () => {
  const report = verify(makeFiles(), { now: new Date("2039-01-01T00:00:00Z") });
  assert.ok(warningsOf(report).includes("signer_expired"));
  assert.equal(checkOf(report, "signer_validity_at_signing").outcome, "passed");
});

test("a signature made outside of the signer's validity, or in the future, fails", () => {
  const signed = (signedAt: Date) => makeFiles({ signing: { signedAt } });
  const validity = "signer_validity_at_signing";
  passes(verify(signed(new Date("2022-12-31T01:00:00Z"))));
  fails(verify(signed(new Date("2022-12-30T23:00:00Z"))), validity, "signer_not_valid_at_signing");
  fails(
    verify(signed(new Date("2038-01-02T00:00:00Z")), { now: new Date("2039-01-01T00:00:00Z") }),
    validity,
    "signer_not_valid_at_signing",
  );
  fails(verify(signed(new Date("2026-05-07T00:00:00Z"))), validity, "signed_in_the_future");
  passes(verify(makeFiles({ signing: { signedAt: null } })));
  const late = signed(new Date("2028-01-01T00:00:00Z"));
  const then = new Date("2028-02-01T00:00:00Z");
  assert.ok(warningsOf(verify(late, { now: then })).includes("signed_after_key_usage_period"));
  fails(
    verify(late, { now: then, rulings: { signed_after_key_usage_period: "refuse" } }),
    validity,
    "signed_after_key_usage_period",
  );
});

test("a signer of an unknown authority fails, and an empty store says that it is empty", () => {
  const empty = new TrustStore([], checker);
  fails(verify(makeFiles(), { trust: empty }), "chain", "trust_store_empty");
  const [record] = testCountryTrust(utopia);
  assert.ok(record);
  const rsaOnly = new TrustStore(
    [{ ...record, certificates: record.certificates.slice(0, 1), revocationLists: [] }],
    checker,
  );
  fails(verify(makeFiles(), { trust: rsaOnly }), "chain", "no_authority_known");
  const impostor = makeFiles({ signerVariant: { realm: "impostor" } });
  fails(verify(impostor), "chain", "authority_signature_invalid");
  fails(
    verify(makeFiles({ profileId: "rsa-2048-sha256", signerVariant: { realm: "impostor" } })),
    "chain",
    "authority_signature_invalid",
  );
});

test("a link certificate alone carries trust to the new authority", () => {
  const [record] = testCountryTrust(utopia);
  const old = utopia.authorityCertificates.get("brainpool");
  assert.ok(record && old);
  const linked = new TrustStore([{ ...record, certificates: [old, utopia.linkCertificate] }], checker);
  const report = verify(makeFiles({ profileId: "secp256r1-sha256-named" }), { trust: linked });
  passes(report);
  assert.equal(checkOf(report, "chain").evidence.trusted_because, "linked");
  const orphan = new TrustStore([{ ...record, certificates: [utopia.linkCertificate] }], checker);
  fails(
    verify(makeFiles({ profileId: "secp256r1-sha256-named" }), { trust: orphan }),
    "chain",
    "trust_store_empty",
  );
});

test("a signature that was made over another kind of content fails", () => {
  const files = makeFiles({ signing: { quirks: { signedContentType: oids.cscaMasterList } } });
  fails(verify(files), "sod_signature", "content_type_differs");
});

test("a revoked signer fails; a missing or stale list is reported, or fails where the operator wants it to", () => {
  const revoked = verify(makeFiles({ signerVariant: { revoked: true } }));
  fails(revoked, "revocation", "signer_revoked");
  assert.match(String(checkOf(revoked, "revocation").evidence.revoked_at), /^20\d\d-/);
  const [record] = testCountryTrust(utopia);
  assert.ok(record);
  const trust = new TrustStore([{ ...record, revocationLists: [] }], checker);
  const missing = verify(makeFiles(), { trust });
  passes(missing);
  assert.deepEqual(warningsOf(missing), ["revocation_list_missing"]);
  fails(
    verify(makeFiles(), { trust, rulings: { revocation_list_missing: "refuse" } }),
    "revocation",
    "revocation_list_missing",
  );
  const later = new Date("2027-03-02T00:00:00Z");
  assert.deepEqual(warningsOf(verify(makeFiles(), { now: later })), ["revocation_list_stale"]);
  fails(
    verify(makeFiles(), { now: later, rulings: { revocation_list_stale: "refuse" } }),
    "revocation",
    "revocation_list_stale",
  );
  fails(
    verify(makeFiles({ signerVariant: { revoked: true } }), { now: later }),
    "revocation",
    "signer_revoked",
  );
});

test("a state cannot sign the documents of another", () => {
  const files = makeFiles({ mrz: { issuingState: "D" } });
  fails(verify(files), "country_agreement", "country_mismatch");
  assert.deepEqual(warningsOf(verify(files, { rulings: { country_mismatch: "warn" } })), [
    "country_mismatch",
  ]);
});

/** A document whose signer the authority certified in another way than those of the test country. */
function signedBy({ country = "UT", from = "2023-01-01" }: { country?: string; from?: string }) {
  const key = ecSigningKey("x", "foreign signer", "secp256r1", { explicitParameters: false });
  const name = (of: string, commonName: string) => ({
    country: of,
    organization: "Utopia Test Authority",
    commonName,
  });
  const issuerKey = ecSigningKey(utopia.seed, "utopia authority nist", "secp384r1", {
    explicitParameters: true,
  });
  const certificate = issueCertificate({
    issuer: {
      name: name("UT", "CSCA Utopia nist"),
      key: issuerKey,
      scheme: { kind: "ecdsa", hash: "SHA-384" },
    },
    subject: name(country, "Foreign signer"),
    subjectKey: key,
    serial: Uint8Array.of(7),
    validity: { notBefore: new Date(`${from}T00:00:00Z`), notAfter: new Date("2033-01-01T00:00:00Z") },
    use: "document_signer",
  });
  const files = makeFiles();
  const sod = signSecurityObject({
    groupHash: "SHA-256",
    dataGroups: files.dataGroups,
    signer: { certificate, key, scheme: { kind: "ecdsa", hash: "SHA-256" } },
    options: { signedAt: utopia.signedAt, identifySignerBy: "subject_key_id" },
  });
  return { ...files, sod };
}

test("a signer of another country below the same authority fails", () => {
  passes(verify(signedBy({})));
  fails(verify(signedBy({ country: "XX" })), "country_agreement", "country_mismatch");
});

test("a signer that was certified before its authority was valid fails, whenever it signed", () => {
  // The authority is valid from the first day of 2018, give or take a day for clocks.
  passes(verify(signedBy({ from: "2017-12-31" })));
  const early = verify(signedBy({ from: "2017-12-30" }));
  fails(early, "signer_validity_at_signing", "authority_not_valid_when_it_signed");
});

const ecSigner = utopia.documentSigner(signerProfile("brainpoolP256r1-sha256-explicit"));
const rsaSigner = utopia.documentSigner(signerProfile("rsa-2048-sha256"));

function rawSignature(message: Uint8Array): Uint8Array {
  const values = readTlv(ecSigner.key.sign({ kind: "ecdsa", hash: "SHA-256" }, message)).children();
  const fixed = values.map((value) => {
    const bytes = value.unsignedBytes();
    return concat(new Uint8Array(32 - bytes.length), bytes);
  });
  return concat(...fixed);
}

function signatureWithoutNull(message: Uint8Array): Uint8Array {
  const digest = createHash("sha256").update(message).digest();
  const info = sequence(sequence(oid(digests["SHA-256"].oid)), octetString(digest));
  const key = createPrivateKey({ key: Buffer.from(rsaSigner.key.pkcs8), format: "der", type: "pkcs8" });
  return new Uint8Array(privateEncrypt({ key, padding: constants.RSA_PKCS1_PADDING }, info));
}

const otherSignerId = sequence(
  encodeName({ country: "UT", organization: "Nobody", commonName: "Nobody" }),
  integer(1),
);

/** Each deviation that is tolerated: how to make it, its name, and the policy that refuses it. */
const quirkCases = [
  {
    warning: "raw_ecdsa_signature",
    profileId: "brainpoolP256r1-sha256-explicit",
    quirks: { sign: rawSignature },
    refuse: { rawEcdsa: false },
    reason: "signature_invalid",
  },
  {
    warning: "digest_info_without_null",
    profileId: "rsa-2048-sha256",
    quirks: { sign: signatureWithoutNull },
    refuse: { digestInfoWithoutNull: false },
    reason: "signature_invalid",
  },
  {
    warning: "signer_id_mismatch",
    profileId: "rsa-2048-sha256",
    quirks: { signerId: otherSignerId },
    refuse: { signerIdMismatch: false },
    reason: "signer_certificate_missing",
  },
  {
    warning: "signed_attributes_absent",
    profileId: "rsa-2048-sha256",
    quirks: { withoutSignedAttributes: true },
    refuse: { noSignedAttributes: false },
    reason: "signed_attributes_absent",
  },
  {
    warning: "legacy_content_type",
    profileId: "rsa-2048-sha256",
    quirks: { contentType: "1.2.528.1.1006.1.20.1" },
    refuse: { legacyContentType: false },
    reason: "legacy_content_type",
  },
] as const;

for (const { warning, profileId, quirks, refuse, reason } of quirkCases) {
  test(`${warning} is tolerated with a warning, and refused by policy`, () => {
    const files = makeFiles({ profileId, signing: { quirks } });
    const report = verify(files);
    passes(report);
    assert.deepEqual(warningsOf(report), [warning]);
    const refused = verify(files, {
      policy: { securityObject: { ...defaultPolicy.securityObject, ...refuse } },
    });
    assert.equal(failedCheckOf(refused)?.reason, reason);
    const { signedData } = readSecurityObjectFile(files.sod);
    const signature = signedData.signers[0]?.signature ?? new Uint8Array();
    for (let byte = 0; byte < signature.length; byte += 7) {
      const sod = flipBit(files.sod, (offsetIn(files.sod, signature) + byte) * 8);
      assert.notEqual(failedCheckOf(verify({ ...files, sod })), null);
    }
  });
}

test("a signer under a wrong name is not guessed among several certificates", () => {
  const files = makeFiles({ profileId: "rsa-2048-sha256" });
  const signer = utopia.documentSigner(signerProfile("rsa-2048-sha256"));
  const other = utopia.documentSigner(signerProfile("rsa-pss-2048-sha256"));
  const signed = (...certificates: readonly Uint8Array[]) => ({
    ...files,
    sod: signSecurityObject({
      groupHash: "SHA-256",
      dataGroups: files.dataGroups,
      signer: { ...signer, certificate: concat(...certificates) },
      options: {
        signedAt: utopia.signedAt,
        identifySignerBy: "issuer_and_serial",
        quirks: { signerId: otherSignerId },
      },
    }),
  });
  assert.deepEqual(warningsOf(verify(signed(signer.certificate))), ["signer_id_mismatch"]);
  const both = verify(signed(signer.certificate, other.certificate));
  assert.equal(failedCheckOf(both)?.reason, "signer_certificate_missing");
});

test("an algorithm that names only the type of key takes its hash from the digest", () => {
  const bareRsa = { signatureAlgorithm: sequence(oid(oids.rsaEncryption), nullValue()) };
  const rsa = verify(makeFiles({ profileId: "rsa-2048-sha256", signing: { quirks: bareRsa } }));
  passes(rsa);
  assert.deepEqual(warningsOf(rsa), ["signature_algorithm_without_hash"]);
  const bareEc = { signatureAlgorithm: sequence(oid(oids.ecPublicKey)) };
  passes(verify(makeFiles({ signing: { quirks: bareEc } })));
});

test("indefinite lengths, content in pieces and a signer named by key id are read", () => {
  passes(verify(makeFiles({ signing: { quirks: { indefiniteLength: true } } })));
  passes(verify(makeFiles({ signing: { identifySignerBy: "subject_key_id" } })));
  const wrongKeyId = { signerId: contextValue(0, new Uint8Array(20)) };
  assert.deepEqual(warningsOf(verify(makeFiles({ signing: { quirks: wrongKeyId } }))), [
    "signer_id_mismatch",
  ]);
});

test("a certificate for PSS may sign with PKCS#1 and the other way round: the signature says which", () => {
  const pkcs1 = { kind: "rsa_pkcs1", hash: "SHA-256" } as const;
  const signer = { ...utopia.documentSigner(signerProfile("rsa-pss-2048-sha256")), scheme: pkcs1 };
  const files = makeFiles();
  const options = { signedAt: utopia.signedAt, identifySignerBy: "issuer_and_serial" } as const;
  const sod = signSecurityObject({ groupHash: "SHA-256", dataGroups: files.dataGroups, signer, options });
  passes(verify({ ...files, sod }));
});

test("a signature with the content of another security object fails", () => {
  const [one, other] = [makeFiles(), makeFiles({ mrz: { sex: "M" } })];
  fails(verify({ ...one, sod: other.sod }), "data_group_hashes", "dg1_hash_differs");
});

test("an authority cannot sign documents itself", () => {
  const certificate = utopia.authorityCertificates.get("brainpool");
  assert.ok(certificate);
  const key = ecSigningKey(utopia.seed, "utopia authority brainpool", "brainpoolP384r1", {
    explicitParameters: true,
  });
  const files = makeFiles();
  const sod = signSecurityObject({
    groupHash: "SHA-256",
    dataGroups: files.dataGroups,
    signer: { certificate, key, scheme: { kind: "ecdsa", hash: "SHA-384" } },
    options: { signedAt: utopia.signedAt, identifySignerBy: "issuer_and_serial" },
  });
  fails(verify({ ...files, sod }), "signer_certificate", "signer_is_an_authority");
});

test("a signer of master lists cannot sign documents", () => {
  const key = ecSigningKey(utopia.seed, "master list signer", "brainpoolP256r1", {
    explicitParameters: true,
  });
  const [certificate] = readSignedData(utopia.masterList(), { maxBytes: 1_000_000 }).certificates;
  assert.ok(certificate);
  const files = makeFiles();
  const sod = signSecurityObject({
    groupHash: "SHA-256",
    dataGroups: files.dataGroups,
    signer: { certificate, key, scheme: { kind: "ecdsa", hash: "SHA-256" } },
    options: { signedAt: utopia.signedAt, identifySignerBy: "subject_key_id" },
  });
  fails(verify({ ...files, sod }), "signer_certificate", "signer_is_for_another_use");
});

test("SHA-1 and short RSA keys are refused by a strict policy", () => {
  const sha1 = makeFiles({ profileId: "rsa-2048-sha1" });
  fails(verify(sha1, { policy: strictPolicy }), "sod_signature", "sha1");
  passes(verify(makeFiles({ profileId: "rsa-2048-sha256" }), { policy: strictPolicy }));
  fails(
    verify(makeFiles({ profileId: "rsa-2048-sha256" }), { policy: { minimumRsaBits: 3072 } }),
    "signer_certificate",
    "short_rsa_key",
  );
});

test("the security object alone is verified up to the revocation of its signer", () => {
  const { sod } = makeFiles();
  const report = verifySecurityObject({
    sod,
    trust: utopiaTrust,
    policy: defaultPolicy,
    now: today,
    checker,
  });
  assert.equal(checkOf(report, "revocation").outcome, "passed");
  assert.equal(checkOf(report, "data_group_hashes").outcome, "not_run");
  assert.equal(report.level, null);
});

test("a signer met before is judged like one met first, and nothing that differs from it is taken for it", () => {
  const trust = new TrustStore(testCountryTrust(utopia), checker);
  const files = makeFiles();
  const first = verify(files, { trust });
  // Read the first time, cached from the second, known to be certified from the third.
  for (let time = 2; time <= 4; time++) assert.deepEqual(verify(files, { trust }), first, `time ${time}`);
  const strict = { policy: strictPolicy };
  assert.deepEqual(verify(files, { trust, ...strict }), verify(files, strict));
  const der = readSecurityObjectFile(files.sod).signedData.certificates[0];
  assert.ok(der);
  assert.equal(trust.readSigner(der), trust.readSigner(der.slice()), "the certificate is kept");
  assert.notEqual(trust.readSigner(der).der.buffer, files.sod.buffer, "and not the file that it came in");
  for (let bit = 0; bit < der.length * 8; bit += 97) {
    const sod = flipBit(files.sod, offsetIn(files.sod, der) * 8 + bit);
    assert.notEqual(failedCheckOf(verify({ ...files, sod }, { trust })), null, `bit ${bit}`);
  }
  const impostor = makeFiles({ signerVariant: { realm: "impostor" } });
  fails(verify(impostor, { trust }), "chain", "authority_signature_invalid");
  const impostorDer = readSecurityObjectFile(impostor.sod).signedData.certificates[0];
  assert.ok(impostorDer);
  assert.notEqual(trust.readSigner(impostorDer), trust.readSigner(impostorDer), "strangers are not kept");
});

test("JPEG 2000, ISO 39794-5 and an identity card verify", () => {
  passes(verify(makeFiles({ portrait: readPortrait("elder.jp2"), faceEncoding: "ISO_39794_5" })));
  const card = { format: "TD1", documentCode: "ID", documentNumber: "UT0123456789" } as const;
  const report = verify(makeFiles({ mrz: card }));
  passes(report);
  assert.equal(checkOf(report, "structure").evidence.document_format, "TD1");
});

test("whatever is done to the bytes, the answer is a report, and changed groups never pass", () => {
  const files = makeFiles({ chipAuthentication: "ecdh_aes128" });
  const mutate = (
    bytes: Uint8Array,
    changes: readonly (readonly [number, number])[],
    cut: number,
  ): Uint8Array => {
    const changed = bytes.slice(0, bytes.length - (cut % bytes.length));
    for (const [position, value] of changes) changed[position % changed.length] = value;
    return changed;
  };
  const changes = fc.array(fc.tuple(fc.nat(40_000), fc.integer({ min: 0, max: 255 })), { maxLength: 4 });
  fc.assert(
    fc.property(changes, changes, fc.constantFrom(0, 0, 1, 17), (ofSod, ofDg1, cut) => {
      const dg1 = files.dataGroups.get(1);
      assert.ok(dg1);
      const changedDg1 = mutate(dg1, ofDg1, 0);
      const report = verify({ ...withGroup(files, 1, changedDg1), sod: mutate(files.sod, ofSod, cut) });
      assert.equal(report.checks.length, checkNames.length);
      if (report.level !== null) assert.deepEqual(changedDg1, dg1);
    }),
    { numRuns: 300 },
  );
});

test("content is handed on even when a later check fails, and says which keys the state vouches for", () => {
  const files = makeFiles({ activeAuthentication: "rsa", mrz: { dateOfExpiry: "200101" } });
  const { report, content } = verifyDocument({
    files,
    trust: utopiaTrust,
    policy: defaultPolicy,
    now: today,
    checker,
  });
  assert.equal(failureCodeOf(report), "document_expired");
  assert.deepEqual(content?.chipKeys.activeAuthenticationKey, rsaSigningKey("chip2048").subjectPublicKeyInfo);
  assert.equal(content?.chipKeys.securityInfos, null);
});

function bornAs(options: Parameters<typeof makeFiles>[0], files = makeFiles(options)) {
  const { report, content } = verifyDocument({
    files,
    trust: utopiaTrust,
    policy: defaultPolicy,
    now: today,
    checker,
  });
  return { report, years: content === null ? null : possibleYears(content.mrz.dateOfBirth) };
}

test("the century of birth is that of DG11, where the state signed it and the zone agrees", () => {
  const mrz = { dateOfBirth: "150301" };
  const signed = (fullDateOfBirth: string) => bornAs({ mrz, details: { fullDateOfBirth } }).years;
  assert.deepEqual(bornAs({ mrz }).years, [2015, 1915]);
  assert.deepEqual(signed("19150301"), [1915]);
  assert.deepEqual(signed("20150301"), [2015]);
  assert.deepEqual(signed("19150302"), [2015, 1915], "another day is no answer");
  assert.deepEqual(signed("18150301"), [2015, 1915]);
  const files = makeFiles({ mrz, details: { fullDateOfBirth: "19150301" } });
  const altered = bornAs({}, withGroup(files, 11, buildDg11({ fullDateOfBirth: "20150301" })));
  assert.equal(failedCheckOf(altered.report)?.reason, "dg11_hash_differs");
  const unsigned = withGroup(makeFiles({ mrz }), 11, buildDg11({ fullDateOfBirth: "19150301" }));
  assert.equal(failedCheckOf(bornAs({}, unsigned).report)?.name, "undeclared_groups");
  assert.deepEqual(bornAs({}, withGroup(files, 11, null)).years, [2015, 1915], "and nothing without it");
});

test("nobody has a document from before their birth, so the time of the signature settles a century", () => {
  assert.deepEqual(bornAs({ mrz: { dateOfBirth: "250301" } }).years, [1925]);
  const unstated = { mrz: { dateOfBirth: "250301" }, signing: { signedAt: null } };
  assert.deepEqual(bornAs(unstated).years, [2025, 1925]);
});

test("a card that has no end does not expire, and a passport without a date is refused", () => {
  const card = { format: "TD1", documentCode: "I" } as const;
  for (const dateOfExpiry of ["991231", "990101", "<<<<<<"])
    passes(verify(makeFiles({ mrz: { ...card, dateOfExpiry } })));
  const refusal = (mrz: Partial<MrzContent>) => failedCheckOf(verify(makeFiles({ mrz })))?.reason;
  assert.equal(refusal({ dateOfExpiry: "<<<<<<" }), "expiry_not_stated");
  assert.equal(refusal({ dateOfExpiry: "991231" }), "expired");
  assert.equal(refusal({ ...card, dateOfExpiry: "991230" }), "expired");
});
