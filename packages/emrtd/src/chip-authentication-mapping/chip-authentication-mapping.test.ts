import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import fc from "fast-check";
import { ecKey } from "../../test/support/sample-document.ts";
import { seededRandom } from "../../test/support/seeded-random.ts";
import {
  checker,
  flipBit,
  specimen,
  today,
  utopia,
  utopiaTrust,
  verify,
} from "../../test/support/test-country.ts";
import { decodeCommand } from "../apdu/command.ts";
import { oids } from "../ber/oid.ts";
import { readWhole } from "../ber/read.ts";
import { tlv } from "../ber/write.ts";
import { concat, fromHex, toHex, uintBytes } from "../bytes.ts";
import { deriveSessionKeys } from "../crypto/cipher-suite.ts";
import { standardizedDomain } from "../crypto/key-agreement.ts";
import { secureRandom } from "../crypto/random.ts";
import { readAgreementKey } from "../crypto/subject-public-key.ts";
import { buildSecurityInfos, parseSecurityInfos, type SecurityInfoContent } from "../lds/security-infos.ts";
import { issueCertificate } from "../node/test-country/issue-certificate.ts";
import { type PersonalisationRequest, personalise } from "../node/test-country/personalise.ts";
import { readPortrait } from "../node/test-country/portraits.ts";
import { type MessageOptions, type MessageSigner, signMessage } from "../node/test-country/sign-message.ts";
import { signerProfile } from "../node/test-country/signer-profiles.ts";
import { ecSigningKey } from "../node/test-country/signing-key.ts";
import { testCountryTrust } from "../node/test-country/test-country.ts";
import { encryptNonce, passwordKey, tokenInput } from "../pace/pace-crypto.ts";
import { paceProtocol } from "../pace/pace-protocol.ts";
import { carryCommands } from "../reader/carry-commands.ts";
import { openChip } from "../reader/open-chip.ts";
import { filesToJudge, readDocument } from "../reader/read-document.ts";
import { TrustStore } from "../trust/trust-store.ts";
import { failureCodeOf } from "../verify/failure-code.ts";
import {
  beginChipProof,
  type ChipProofStep,
  continueChipProof,
  overwriteChipProof,
} from "../verify/prove-chip.ts";
import { checkOf, failedCheckOf, withChipProof } from "../verify/report.ts";
import { createVirtualChip, type VirtualChipOptions } from "../virtual/virtual-chip.ts";
import {
  announcesChipMapping,
  chipMappingOffer,
  needsCardSecurity,
  readCardSecurity,
} from "./card-security.ts";
import { beginChipMapping, type ChipMappingFiles, continueChipMapping } from "./judge-proof.ts";

const name = "chip_authentication_mapping";
const profile = signerProfile("brainpoolP256r1-sha256-explicit");

function passport(options: Partial<PersonalisationRequest> = {}) {
  return personalise({
    country: utopia,
    can: "123456",
    portrait: readPortrait("adult.jpg"),
    profile,
    mrz: specimen,
    chipMapping: true,
    ...options,
  });
}

type Passport = ReturnType<typeof passport>;
const document = passport();
const otherDocument = passport({ mrz: { ...specimen, documentNumber: "X12345678" } });

async function open({ files, chip }: Passport, options: Partial<VirtualChipOptions> = {}) {
  return await openChip(createVirtualChip({ files, ...chip, ...options }), { mrz: chip.mrzKey });
}

/** The device reads and carries; the judge sees what it brings. */
async function judge(made: Passport, options: Partial<VirtualChipOptions> = {}) {
  const chip = await open(made, options);
  const files = await readDocument(chip, today);
  const report = verify(filesToJudge(files));
  if (report.nextProof !== name) return { report, chip, files };
  let step: ChipProofStep = beginChipProof(report.nextProof, files, secureRandom);
  while (step.kind === "ask")
    step = continueChipProof(step.state, await carryCommands(chip, step.ask), files, secureRandom);
  return { report: withChipProof(report, step.verdict), chip, files };
}

/** EF.CardSecurity with these infos, by the signer of the document or another one. */
function cardSecurity(
  infos: readonly SecurityInfoContent[],
  signer: MessageSigner = utopia.documentSigner(profile),
  contentType: string = oids.securityObject,
  quirks: MessageOptions["quirks"] = {},
): Uint8Array {
  const options = { signedAt: utopia.signedAt, identifySignerBy: "issuer_and_serial", quirks } as const;
  return signMessage(contentType, buildSecurityInfos(infos), signer, options);
}

function keyInfo(subjectPublicKeyInfo: Uint8Array, keyId?: bigint): SecurityInfoContent {
  const id = keyId === undefined ? {} : { keyId };
  return { kind: "chipAuthenticationPublicKey", protocol: oids.publicKeyEcdh, subjectPublicKeyInfo, ...id };
}

function paceInfo(family: string, parameterId: bigint, arc = "2"): SecurityInfoContent {
  return { kind: "pace", protocol: `${family}.${arc}`, parameterId };
}

const infosOf = (...contents: readonly SecurityInfoContent[]) =>
  parseSecurityInfos(buildSecurityInfos(contents));
const mapping = paceInfo(oids.paceEcdhCam, 13n);
const curveKey = ecKey("brainpoolP256r1");

test("a genuine chip proves itself by the mapping, whatever opened it before", async () => {
  for (const key of ["mrz", "can"] as const) {
    const { files, chip } = document;
    const transport = createVirtualChip({ files, ...chip });
    const opened = await openChip(transport, key === "mrz" ? { mrz: chip.mrzKey } : { can: chip.can });
    const read = await readDocument(opened, today);
    const report = verify(filesToJudge(read));
    assert.deepEqual([report.level, report.nextProof], ["data_authentic", name]);
    let step: ChipProofStep = beginChipProof(name, read, secureRandom);
    while (step.kind === "ask") {
      assert.equal(step.ask.kind, "sealed");
      step = continueChipProof(step.state, await carryCommands(opened, step.ask), read, secureRandom);
    }
    const judged = withChipProof(report, step.verdict);
    assert.equal(judged.level, "chip_genuine");
    assert.deepEqual(checkOf(judged, name).evidence, {
      protocol: `${oids.paceEcdhCam}.2`,
      cipher: "AES-128",
      domain: "brainpoolP256r1",
    });
    // The judge owns the session now; the device opens a new one.
    await assert.rejects(opened.readFile("DG1"), { code: "ACCESS_DENIED" });
    await opened.open();
    await opened.readFile("DG1");
  }
});

test("a copy, a chip without the key and a chip of another document are refused", async () => {
  const refusal = async (made: Passport, options: Partial<VirtualChipOptions>) => {
    const { report } = await judge(made, options);
    assert.equal(report.level, null);
    assert.equal(failureCodeOf(report), "document_chip_authentication_failed");
    return checkOf(report, name).reason;
  };
  assert.equal(await refusal(document, { clone: true }), "chip_key_differs");
  const otherKeys = otherDocument.chip.chipAuthentication;
  assert.equal(await refusal(document, { chipAuthentication: otherKeys }), "chip_key_differs");

  // A genuine chip of the same state behind the files of this document: all is signed, and the key is proved.
  const { CardSecurity } = otherDocument.files;
  assert.ok(CardSecurity !== undefined);
  const swapped: Passport = { ...document, files: { ...document.files, CardSecurity } };
  const opened = await open(swapped);
  const files = await readDocument(opened, today);
  assert.equal(verify(filesToJudge(files)).nextProof, name);
  const foreign = await open(document, { files: otherDocument.files, chipAuthentication: otherKeys });
  let step: ChipProofStep = beginChipProof(name, files, secureRandom);
  while (step.kind === "ask")
    step = continueChipProof(step.state, await carryCommands(foreign, step.ask), files, secureRandom);
  assert.deepEqual(step.verdict, { proof: name, passed: false, reason: "document_differs" });
});

test("EF.CardSecurity is read, and the mapping asked for, only where nothing else proves the chip", async () => {
  const cases: readonly [Partial<PersonalisationRequest>, string | null, string, boolean][] = [
    [{}, name, "pending", true],
    [{ chipAuthentication: "ecdh_aes128" }, "chip_authentication", "not_run", false],
    [{ activeAuthentication: "ecdsa" }, "active_authentication", "not_run", false],
    [{ chipAuthentication: "ecdh_unknown_curve" }, name, "pending", true],
    [{ chipAuthentication: "ecdh_version_2" }, name, "pending", true],
    [{ chipMapping: false }, null, "not_offered", false],
  ];
  for (const [options, proof, outcome, isRead] of cases) {
    const files = await readDocument(await open(passport(options)), today);
    const report = verify(filesToJudge(files));
    const found = [report.nextProof, checkOf(report, name).outcome, files.CardSecurity !== undefined];
    assert.deepEqual(found, [proof, outcome, isRead], JSON.stringify(options));
  }
});

test("a DG14 that the state did not sign makes nobody read EF.CardSecurity", async () => {
  const { DG14, CardSecurity } = document.files;
  assert.ok(DG14 !== undefined && CardSecurity !== undefined);
  const plain = passport({ chipMapping: false });
  const read = async (files: Passport["files"]) =>
    await readDocument(await open({ ...plain, files, chip: document.chip }), today);
  assert.equal((await read({ ...plain.files, DG14, CardSecurity })).CardSecurity, undefined);
  const damaged = await read({ ...document.files, DG14: tlv(0x6e, tlv(0x04)) });
  assert.equal(damaged.CardSecurity, undefined);
});

test("a signed announcement cannot be taken back by leaving EF.CardSecurity out", async () => {
  const { CardSecurity: _, ...files } = document.files;
  const { report } = await judge({ ...document, files });
  assert.deepEqual(
    [failedCheckOf(report)?.name, failedCheckOf(report)?.reason],
    [name, "card_security_missing"],
  );
  assert.equal(failureCodeOf(report), "document_chip_authentication_failed");
});

test("EF.CardSecurity that the state did not sign, or without the key, is refused with its reason", async () => {
  const { chip, files } = document;
  const read = await readDocument(await open({ ...document, chip }), today);
  const good = files.CardSecurity ?? assert.fail("the document has no EF.CardSecurity");
  const failed = (file: Uint8Array, trust = utopiaTrust) => {
    const report = verify({ ...filesToJudge(read), cardSecurity: file }, { trust });
    const check = checkOf(report, name);
    if (check.outcome === "pending") return null;
    assert.equal(failureCodeOf(report), "document_chip_authentication_failed");
    return check.reason;
  };
  const infos = [mapping, keyInfo(curveKey.spki, 13n)];
  const key = ecSigningKey("cards", "authority", "secp256r1", { explicitParameters: false });
  const scheme = { kind: "ecdsa", hash: "SHA-256" } as const;
  const elsewhere = {
    name: { country: "FR", organization: "Elsewhere", commonName: "CSCA" },
    key,
    scheme,
  };
  const validity = {
    notBefore: new Date("2020-01-01T00:00:00Z"),
    notAfter: new Date("2040-01-01T00:00:00Z"),
  };
  const certify = (serial: number, use: "authority" | "document_signer") =>
    issueCertificate({
      issuer: elsewhere,
      subject: elsewhere.name,
      subjectKey: key,
      serial: Uint8Array.of(serial),
      validity,
      use,
    });
  const source = { type: "der", label: "", sha256: "", importedAt: "", signedBy: null } as const;
  const withElsewhere = new TrustStore(
    [...testCountryTrust(utopia), { source, certificates: [certify(1, "authority")], revocationLists: [] }],
    checker,
  );
  const foreignSigner: MessageSigner = { certificate: certify(2, "document_signer"), key, scheme };

  assert.equal(failed(good), null);
  assert.equal(failed(concat(good, new Uint8Array(3))), null);
  assert.equal(failed(cardSecurity(infos)), null);
  assert.equal(failed(flipBit(good, (good.length - 1) * 8)), "card_security_signature_invalid");
  const keyAt = toHex(good).indexOf(toHex(standardizedKeyOf(good))) / 2;
  assert.equal(failed(flipBit(good, (keyAt + 20) * 8)), "card_security_message_digest_differs");
  const signer = (variant: Parameters<typeof utopia.documentSigner>[1]) =>
    utopia.documentSigner(profile, variant);
  assert.equal(
    failed(cardSecurity(infos, signer({ realm: "impostor" }))),
    "card_security_authority_signature_invalid",
  );
  assert.equal(failed(cardSecurity(infos, signer({ revoked: true }))), "card_security_signer_revoked");
  assert.equal(
    failed(cardSecurity(infos, utopia.masterListSigner())),
    "card_security_signer_is_for_another_use",
  );
  assert.equal(failed(cardSecurity(infos, foreignSigner)), "card_security_no_authority_known");
  assert.equal(failed(cardSecurity(infos, foreignSigner), withElsewhere), "card_security_country_mismatch");
  const bare = cardSecurity(infos, undefined, undefined, { withoutSignedAttributes: true });
  assert.equal(failed(bare), "card_security_signed_attributes_absent");
  const revoked = { ...filesToJudge(read), cardSecurity: cardSecurity(infos, signer({ revoked: true })) };
  const { evidence } = checkOf(verify(revoked), name);
  assert.equal(evidence.card_security_check, "revocation");
  assert.equal(typeof evidence.revoked_at, "string");
  assert.equal(failed(cardSecurity([mapping])), "card_security_without_key");
  assert.equal(
    failed(cardSecurity([mapping, keyInfo(ecKey("prime256v1").spki)])),
    "card_security_without_key",
  );
  const unknownKey = fromHex("3003 0601 00");
  assert.equal(failed(cardSecurity([mapping, keyInfo(unknownKey)])), "card_security_without_key");
  assert.equal(failed(cardSecurity(infos, undefined, oids.ldsSecurityObject)), "unreadable");
  for (const file of [new Uint8Array(0), good.subarray(0, 100), read.SOD])
    assert.equal(failed(file), "unreadable");
});

/** The static key in EF.CardSecurity, as a point. */
function standardizedKeyOf(file: Uint8Array): Uint8Array {
  for (const info of readCardSecurity(file).securityInfos)
    if (info.kind === "chipAuthenticationPublicKey")
      return readAgreementKey(info.subjectPublicKeyInfo).publicKey;
  return assert.fail("there is no key");
}

test("what EF.CardSecurity warns of is told once, and an old hash in it is judged by the policy", async () => {
  const read = await readDocument(await open(document), today);
  const judged = (file: Uint8Array, sha1: "accept" | "warn" | "refuse") =>
    verify({ ...filesToJudge(read), cardSecurity: file }, { rulings: { sha1 } });
  const old = cardSecurity(
    [mapping, keyInfo(curveKey.spki)],
    utopia.documentSigner(signerProfile("secp256r1-sha1-explicit")),
  );
  assert.deepEqual(judged(old, "warn").warnings, [{ check: name, code: "sha1" }]);
  assert.deepEqual(judged(old, "accept").warnings, []);
  assert.equal(failedCheckOf(judged(old, "refuse"))?.reason, "card_security_sha1");
});

test("EF.CardSecurity is bounded in size", () => {
  const file = cardSecurity([mapping, keyInfo(curveKey.spki)]);
  const padded = (bytes: number) => concat(file, new Uint8Array(bytes - file.length));
  assert.equal(readCardSecurity(padded(16 * 1024)).securityInfos.length, 2);
  assert.throws(() => readCardSecurity(padded(16 * 1024 + 1)), { code: "LDS_TOO_LARGE" });
  assert.throws(() => readCardSecurity(cardSecurity([mapping], undefined, oids.ldsSecurityObject)), {
    code: "LDS_INVALID",
  });
});

test("the mapping counts as announced in a variant that is known here, and as needed where no other proof is", () => {
  const generic = paceInfo(oids.paceEcdhGm, 13n);
  const chipAuthentication = [
    { kind: "chipAuthentication", protocol: oids.chipAuthenticationEcdhAes128, version: 1 },
    keyInfo(curveKey.spki),
  ] as const;
  assert.equal(announcesChipMapping(infosOf(mapping)), true);
  assert.equal(announcesChipMapping(infosOf(generic)), false);
  // Triple DES and the domains of numbers do not go with it.
  assert.equal(announcesChipMapping(infosOf(paceInfo(oids.paceEcdhCam, 13n, "1"))), false);
  assert.equal(announcesChipMapping(infosOf(paceInfo(oids.paceEcdhCam, 0n))), false);
  assert.equal(needsCardSecurity(infosOf(mapping, generic), false), true);
  assert.equal(needsCardSecurity(infosOf(mapping, generic), true), false);
  assert.equal(needsCardSecurity(infosOf(generic), false), false);
  assert.equal(needsCardSecurity(infosOf(mapping, ...chipAuthentication), false), false);
});

test("the key is the one with the number of the domain, or else any on its curve, among the first eight", () => {
  const [first, second] = [ecKey("brainpoolP256r1"), ecKey("brainpoolP256r1")];
  const point = ({ spki }: { spki: Uint8Array }) => toHex(readAgreementKey(spki).publicKey);
  const keys = (...infos: readonly SecurityInfoContent[]) =>
    chipMappingOffer(infosOf(mapping), infosOf(...infos))?.publicKeys.map(toHex) ?? null;
  assert.deepEqual(keys(keyInfo(first.spki, 7n), keyInfo(second.spki, 13n)), [point(second)]);
  const unnamed = keys(keyInfo(first.spki, 7n), keyInfo(second.spki));
  assert.deepEqual(new Set(unnamed), new Set([point(first), point(second)]));
  assert.equal(keys(), null);
  const others = Array.from({ length: 7 }, (_, index) => keyInfo(ecKey("prime256v1").spki, BigInt(index)));
  const ordered = (count: number) => {
    const infos = [...others.slice(0, count), keyInfo(first.spki, 99n)];
    return (
      chipMappingOffer(
        infosOf(mapping),
        infos.flatMap((info) => infosOf(info)),
      )?.publicKeys.length ?? 0
    );
  };
  assert.equal(ordered(7), 1);
  others.push(keyInfo(ecKey("prime256v1").spki, 8n));
  assert.equal(ordered(8), 0);
});

test("the strongest variant with a key is taken, and the domain may stay unnamed where there is one only", () => {
  const offer = (...dg14: readonly SecurityInfoContent[]) =>
    chipMappingOffer(infosOf(...dg14), infosOf(keyInfo(curveKey.spki)));
  const strong = paceInfo(oids.paceEcdhCam, 13n, "4");
  assert.equal(offer(mapping, strong)?.protocol.suite.name, "AES-256");
  // No key is on the curve of the stronger one.
  const otherCurve = paceInfo(oids.paceEcdhCam, 12n, "4");
  assert.equal(offer(mapping, otherCurve)?.protocol.suite.name, "AES-128");
  assert.equal(offer(mapping, paceInfo(oids.paceEcdhGm, 13n))?.parameterIdOptional, true);
  assert.equal(offer(mapping, paceInfo(oids.paceEcdhGm, 12n))?.parameterIdOptional, false);
  assert.equal(offer(otherCurve), null);
});

// --- the exchange ------------------------------------------------------------------------------------------

function filesOf({ files: { DG1, DG14, CardSecurity } }: Pick<Passport, "files">): ChipMappingFiles {
  assert.ok(DG1 !== undefined && DG14 !== undefined && CardSecurity !== undefined);
  return { dg1: DG1, dg14: DG14, cardSecurity: CardSecurity };
}

type Step = ReturnType<typeof beginChipMapping>;

function asked(step: Step): Extract<Step, { kind: "ask" }> {
  return step.kind === "ask" ? step : assert.fail(`judged already: ${JSON.stringify(step.verdict)}`);
}

/** The whole exchange with a chip; `spoil` changes its answers on the way, by number from 0. */
async function exchange(
  spoil: (number: number, answer: Uint8Array) => Uint8Array | undefined = (_, answer) => answer,
  options: { readonly transport?: VirtualChipOptions; readonly seed?: string } = {},
) {
  const files = filesOf(document);
  const transport = createVirtualChip(options.transport ?? { files: document.files, ...document.chip });
  const record: [command: string, answer: string][] = [];
  const random = options.seed === undefined ? secureRandom : seededRandom(options.seed);
  let step: Step = beginChipMapping(files, random);
  for (let number = 0; step.kind === "ask"; number++) {
    const [command = new Uint8Array(0)] = step.ask.commands;
    const answer = spoil(number, await transport.transceive(command));
    if (answer !== undefined) record.push([toHex(command), toHex(answer)]);
    step = continueChipMapping(step.state, answer === undefined ? [] : [answer], files);
  }
  return { verdict: step.verdict, record };
}

const passed = (verdict: Extract<Step, { kind: "judged" }>["verdict"]) =>
  verdict.passed ? "passed" : verdict.reason;

test("one command is asked for at a time: master file, five of PACE, and DG1 in the session that it opened", async () => {
  const { verdict, record } = await exchange();
  assert.equal(passed(verdict), "passed");
  assert.deepEqual(
    record.map(([command]) => command.slice(0, 4)),
    ["00a4", "0022", "1086", "1086", "1086", "0086", "0ca4", "0ca4", "0cb0"],
  );
});

test("a chip that answers something else at any step is refused with the reason", async () => {
  const data = (objects: Uint8Array) => concat(tlv(0x7c, objects), fromHex("9000"));
  const domain = standardizedDomain(13);
  const otherCurve = standardizedDomain(12).generator;
  const offCurve = domain.generator.slice();
  offCurve[40] = (offCurve[40] ?? 0) ^ 1;
  const infinity = Uint8Array.of(0);
  const cases: readonly [step: number, answer: Uint8Array | undefined, reason: string][] = [
    [0, undefined, "answer_missing"],
    [0, new Uint8Array(1), "chip_response_invalid"],
    [1, fromHex("6985"), "access_denied"],
    // Some chips refuse the number of their only domain; they are asked without it.
    [1, fromHex("6A88"), "passed"],
    [2, fromHex("6985"), "access_denied"],
    [2, data(tlv(0x80, new Uint8Array(8))), "pace_failed"],
    [2, fromHex("7C12 8010 00 9000"), "pace_failed"],
    [3, undefined, "answer_missing"],
    [3, data(tlv(0x82, otherCurve)), "pace_failed"],
    [3, data(tlv(0x82, offCurve)), "pace_failed"],
    [3, data(tlv(0x82, infinity)), "pace_failed"],
    [3, data(tlv(0x82, domain.generator.subarray(0, 40))), "pace_failed"],
    [4, data(tlv(0x84, otherCurve)), "pace_failed"],
    [4, data(tlv(0x84, offCurve)), "pace_failed"],
    [4, data(tlv(0x84, infinity)), "pace_failed"],
    [5, fromHex("6300"), "access_key_invalid"],
    [5, data(tlv(0x86, new Uint8Array(8))), "pace_failed"],
    [6, fromHex("9000"), "secure_messaging_failed"],
    [7, fromHex("6A82"), "secure_messaging_failed"],
    [8, fromHex("9000"), "secure_messaging_failed"],
    [8, undefined, "answer_missing"],
  ];
  for (const [step, answer, reason] of cases) {
    const { verdict } = await exchange((number, honest) => (number === step ? answer : honest));
    assert.equal(passed(verdict), reason, `step ${step}: ${answer === undefined ? "none" : toHex(answer)}`);
  }
});

test("chip authentication data that is missing, cut short or of another length is refused", async () => {
  const last = async (change: (token: Uint8Array, data: Uint8Array) => Uint8Array) => {
    const { verdict } = await exchange((number, answer) => {
      if (number !== 5) return answer;
      const [token, encrypted] = readWhole(answer.subarray(0, -2)).children();
      assert.ok(token !== undefined && encrypted !== undefined);
      return concat(tlv(0x7c, change(token.bytes, encrypted.value)), fromHex("9000"));
    });
    return passed(verdict);
  };
  assert.equal(await last((token, data) => concat(token, tlv(0x8a, data))), "passed");
  assert.equal(await last((token) => token), "pace_failed");
  assert.equal(await last((token) => concat(token, tlv(0x8a))), "pace_failed");
  assert.equal(await last((token, data) => concat(token, tlv(0x8a, data.subarray(0, 16)))), "pace_failed");
  assert.equal(await last((token, data) => concat(token, tlv(0x8a, data.subarray(1)))), "pace_failed");
  // The first block holds number and no padding: another number is decrypted, which fits no key.
  assert.equal(await last((token, data) => concat(token, tlv(0x8a, flipBit(data, 0)))), "chip_key_differs");
});

test("answers that were recorded with one exchange do not serve another", async () => {
  const first = await exchange(undefined, { seed: "first" });
  assert.equal(passed(first.verdict), "passed");
  const replay = (seed: string, from: number) =>
    exchange((number, honest) => (number < from ? honest : fromHex(first.record[number]?.[1] ?? "")), {
      seed,
      // The chip is the same; only what it draws differs.
      transport: { files: document.files, ...document.chip },
    });
  for (const from of [0, 3, 4, 5])
    assert.equal(passed((await replay("second", from)).verdict), "pace_failed");
  assert.equal(passed((await replay("first", 0)).verdict), "passed");
});

test("a client without the chip cannot finish, although it knows the zone and the chip's public key", () => {
  const files = filesOf(document);
  const domain = standardizedDomain(13);
  const protocol = paceProtocol(`${oids.paceEcdhCam}.2`);
  const { suite } = protocol;
  const offer = chipMappingOffer(infosOf(mapping), readCardSecurity(files.cardSecurity).securityInfos);
  const [staticKey = assert.fail("there is no key")] = offer?.publicKeys ?? [];
  const answer = (objects: Uint8Array) => concat(tlv(0x7c, objects), fromHex("9000"));
  const ok = fromHex("9000");
  const nonce = seededRandom("nonce")(16);
  const fields = "L898902C3674081223012316";
  const encrypted = encryptNonce(suite, passwordKey(suite, { kind: "mrz", mrzInformation: fields }), nonce);
  const factor = 5n;
  // Fits the data that will be sent, and its private half is unknown.
  const mappingKey = domain.scale(staticKey, factor);
  let step = asked(beginChipMapping(files, secureRandom));
  const say = (bytes: Uint8Array) => continueChipMapping(step.state, [bytes], files);
  for (const bytes of [ok, ok, answer(tlv(0x80, encrypted))]) step = asked(say(bytes));
  const objectIn = (command: Uint8Array) =>
    readWhole(decodeCommand(command).data).children()[0]?.value.slice() ?? assert.fail("there is no object");
  const terminalMappingKey = objectIn(step.ask.commands[0] ?? ok);
  step = asked(say(answer(tlv(0x82, mappingKey))));
  const terminalKey = objectIn(step.ask.commands[0] ?? ok);
  // The best guess at the shared element, of which only the judge and the chip know the right one.
  const guess = domain.withGenerator(domain.mapGeneric(nonce, domain.scale(terminalMappingKey, factor)));
  const privateKey = 9n;
  const publicKey = guess.publicKey(privateKey);
  step = asked(say(answer(tlv(0x84, publicKey))));
  const keys = deriveSessionKeys(suite, guess.sharedSecret(privateKey, terminalKey));
  const token = suite.authenticationToken(keys.mac, tokenInput(protocol, guess, terminalKey));
  const number = uintBytes(factor, 32);
  const refused = say(answer(concat(tlv(0x86, token), tlv(0x8a, number))));
  assert.ok(refused.kind === "judged");
  assert.equal(passed(refused.verdict), "pace_failed");
});

test("DG1 that differs in one byte, or is cut short by the chip, is not the document that was judged", async () => {
  const { DG1 } = document.files;
  assert.ok(DG1 !== undefined);
  for (const altered of [flipBit(DG1, 8 * (DG1.length - 1)), concat(DG1.subarray(0, -1))]) {
    const files = { ...document.files, DG1: altered };
    const { verdict } = await exchange(undefined, { transport: { ...document.chip, files } });
    assert.notEqual(passed(verdict), "passed");
  }
  const { verdict } = await exchange(undefined, {
    transport: { ...document.chip, files: { ...document.files, DG1: flipBit(DG1, 8 * (DG1.length - 1)) } },
  });
  assert.equal(passed(verdict), "document_differs");
});

test("chips with moods prove themselves too", async () => {
  const quirks: readonly VirtualChipOptions["quirks"][] = [
    { closedUntilReset: 0x6985 },
    { refuseExtendedLength: true },
    { pieceBytes: 40 },
  ];
  for (const quirk of quirks) {
    const { report } = await judge(document, { quirks: quirk ?? {} });
    assert.equal(report.level, "chip_genuine", JSON.stringify(quirk));
  }
  const transport = { ...document.chip, files: document.files, quirks: { refuseSelectMasterFile: true } };
  const { verdict, record } = await exchange(undefined, { transport });
  assert.deepEqual([record[0]?.[1], passed(verdict)], ["6a82", "passed"]);
});

test("the reader resets the chip before the first command in the clear only, and never for a sealed one", async () => {
  const resetsFor = async (...commands: readonly string[]) => {
    const chip = createVirtualChip({ files: document.files, ...document.chip });
    let resets = 0;
    const reset = async () => {
      resets += 1;
      await chip.reset();
    };
    const opened = await openChip({ ...chip, reset }, { mrz: document.chip.mrzKey });
    for (const command of commands) await opened.forwardSealed(fromHex(command));
    return resets;
  };
  const [plain, chained, sealed] = ["00A4000C023F00", "10860000027C0000", "0CA4000C"];
  assert.equal(await resetsFor(plain), 1);
  assert.equal(await resetsFor(plain, chained), 1);
  assert.equal(await resetsFor(sealed, plain), 0);
});

test("the state is plain data: another thread goes on with a copy, and no key is left when it is overwritten", async () => {
  const files = filesOf(document);
  const proofFiles = { DG1: files.dg1, DG14: files.dg14, CardSecurity: files.cardSecurity };
  const chip = await open(document);
  let step: ChipProofStep = beginChipProof(name, proofFiles, secureRandom);
  while (step.kind === "ask") {
    const { state } = step;
    const copy = structuredClone(state);
    const answers = await carryCommands(chip, step.ask);
    step = continueChipProof(copy, answers, proofFiles, secureRandom);
    overwriteChipProof(copy);
    overwriteChipProof(state);
    assert.ok(state.proof === name && state.random.every((byte) => byte === 0));
    // The next state has separate keys, or those of the exchange would be zeros.
    if (step.kind === "ask")
      assert.ok(step.state.proof === name && step.state.random.some((byte) => byte !== 0));
  }
  assert.equal(step.verdict.passed, true);
  assert.throws(() => beginChipProof(name, { DG1: files.dg1, DG14: files.dg14 }, secureRandom), TypeError);
  const withoutKey = { ...files, cardSecurity: cardSecurity([mapping]) };
  assert.throws(() => beginChipMapping(withoutKey, secureRandom), TypeError);
});

test("no sequence of bytes from the device finishes the exchange", () => {
  const files = filesOf(document);
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 80 }), { maxLength: 9 }), (answers) => {
      let step: Step = beginChipMapping(files, secureRandom);
      for (const answer of answers)
        if (step.kind === "ask") step = continueChipMapping(step.state, [answer], files);
      assert.ok(step.kind === "ask" || !step.verdict.passed);
    }),
    { numRuns: 60 },
  );
});

type Recording = {
  readonly random: string;
  readonly dg1: string;
  readonly dg14: string;
  readonly cardSecurity: string;
  readonly exchange: readonly (readonly [command: string, answer: string])[];
};

test("a recorded exchange is repeated byte for byte", () => {
  const path = new URL("../../test/recordings/chip-authentication-mapping.json", import.meta.url);
  const recording = JSON.parse(readFileSync(path, "utf8")) as Recording;
  const files = {
    dg1: fromHex(recording.dg1),
    dg14: fromHex(recording.dg14),
    cardSecurity: fromHex(recording.cardSecurity),
  };
  let step: Step = beginChipMapping(files, () => fromHex(recording.random));
  for (const [command, answer] of recording.exchange) {
    const { state, ask } = asked(step);
    assert.deepEqual(ask.commands.map(toHex), [command]);
    step = continueChipMapping(state, [fromHex(answer)], files);
  }
  assert.ok(step.kind === "judged");
  assert.equal(passed(step.verdict), "passed");
});
