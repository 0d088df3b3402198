import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { dg14, ecKey, sampleFiles, sampleKey } from "../../test/support/sample-document.ts";
import { seededRandom } from "../../test/support/seeded-random.ts";
import { decodeCommand, encodeCommand } from "../apdu/command.ts";
import { encodeResponse, statusWords } from "../apdu/response.ts";
import { oids } from "../ber/oid.ts";
import { bitString, integer, octetString, oid, sequence, unsignedInteger } from "../ber/write.ts";
import { fromHex, toHex } from "../bytes.ts";
import { cipherSuites, deriveSessionKeys } from "../crypto/cipher-suite.ts";
import { rfc5114Groups, standardizedDomain } from "../crypto/key-agreement.ts";
import { secureRandom } from "../crypto/random.ts";
import { buildDg14 } from "../lds/dg14.ts";
import { paceOid } from "../pace/pace-protocol.ts";
import { carryCommands } from "../reader/carry-commands.ts";
import { openChip } from "../reader/open-chip.ts";
import { SecureMessaging } from "../secure-messaging/secure-messaging.ts";
import { overwriteChipProof } from "../verify/prove-chip.ts";
import { createVirtualChip, type VirtualChipOptions } from "../virtual/virtual-chip.ts";
import { chipAuthenticationOffers } from "./chip-authentication-offer.ts";
import {
  beginChipAuthentication,
  type ChipAuthenticationState,
  continueChipAuthentication,
} from "./judge-proof.ts";

const okAnswer = fromHex("9000");

type Step = ReturnType<typeof beginChipAuthentication>;

function asked(step: Step): Extract<Step, { kind: "ask" }> {
  return step.kind === "ask" ? step : assert.fail("the proof was judged already");
}

function verdictOf(step: Step): Extract<Step, { kind: "judged" }>["verdict"] {
  return step.kind === "judged" ? step.verdict : assert.fail("the proof goes on");
}

function begin(dg14File: Uint8Array, random = secureRandom) {
  return asked(beginChipAuthentication(dg14File, random));
}

function next(dg14File: Uint8Array, state: ChipAuthenticationState, answers: readonly Uint8Array[]): Step {
  return continueChipAuthentication(state, answers, dg14File, secureRandom);
}

/** As if a chip had accepted the ephemeral key. */
function agreed(dg14File: Uint8Array) {
  const { state, ask } = begin(dg14File);
  return asked(
    next(
      dg14File,
      state,
      ask.commands.map(() => okAnswer),
    ),
  );
}

function refusalOf(step: Step): string {
  const verdict = verdictOf(step);
  return verdict.passed ? assert.fail("the proof was accepted") : verdict.reason;
}

function dhKey(algorithm: string) {
  const { p, g, q } = rfc5114Groups[1]?.parameters ?? { p: 0n, g: 0n, q: 0n };
  const domain = standardizedDomain(1);
  const privateKey = domain.randomPrivateKey(seededRandom("dh"));
  const order = algorithm === oids.dhPublicNumber ? [integer(q ?? 0n)] : [];
  const identifier = sequence(oid(algorithm), sequence(integer(p), integer(g), ...order));
  return {
    spki: sequence(identifier, bitString(unsignedInteger(domain.publicKey(privateKey)))),
    pkcs8: sequence(integer(0), identifier, octetString(integer(privateKey))),
  };
}

/** Plays server and device around a chip. The device gets bytes only. */
async function authenticate(dg14File: Uint8Array, options: Partial<VirtualChipOptions>) {
  const transport = createVirtualChip({
    files: { ...sampleFiles(), DG14: dg14File },
    mrzKey: sampleKey,
    ...options,
  });
  const chip = await openChip(transport, { mrz: sampleKey });
  await chip.readFile("DG14");
  let step: Step = begin(dg14File);
  while (step.kind === "ask") step = next(dg14File, step.state, await carryCommands(chip, step.ask));
  return { verdict: step.verdict, chip };
}

async function evidenceOf(dg14File: Uint8Array, options: Partial<VirtualChipOptions>) {
  const { verdict, chip } = await authenticate(dg14File, options);
  assert.ok(verdict.passed, JSON.stringify(verdict));
  // The chip now uses the new keys, which the device does not have.
  await assert.rejects(chip.readFile("DG1"), { code: "ACCESS_DENIED" });
  await chip.open();
  await chip.readFile("DG1");
  return verdict.evidence;
}

const chipKey = ecKey("brainpoolP256r1", "explicit");
const paceOffered = [{ oid: paceOid("ECDH", "generic", "AES-128"), parameterId: 12 }];

for (const [arc, cipher] of [
  ["1", "3DES"],
  ["2", "AES-128"],
  ["3", "AES-192"],
  ["4", "AES-256"],
] as const) {
  test(`a genuine chip proves itself to the server with ECDH and ${cipher}, after BAC and after PACE`, async () => {
    const file = dg14(chipKey, [`${oids.chipAuthenticationEcdh}.${arc}`]);
    const chipAuthentication = [{ privateKey: chipKey.pkcs8 }];
    const evidence = await evidenceOf(file, { chipAuthentication });
    assert.deepEqual(evidence, {
      protocol: `${oids.chipAuthenticationEcdh}.${arc}`,
      cipher,
      domain: "brainpoolP256r1",
      status_word: statusWords.ok,
    });
    await evidenceOf(file, { chipAuthentication, pace: paceOffered, withoutBac: true });
  });
}

test("chip authentication works over a DH group, which needs long commands", async () => {
  for (const [protocol, algorithm] of [
    [oids.chipAuthenticationDh3Des, oids.dhKeyAgreement],
    [oids.chipAuthenticationDhAes128, oids.dhPublicNumber],
  ] as const) {
    const key = dhKey(algorithm);
    const evidence = await evidenceOf(dg14(key, [protocol], { agreement: "DH" }), {
      chipAuthentication: [{ privateKey: key.pkcs8 }],
    });
    assert.equal(evidence.protocol, protocol);
  }
});

test("the key is chosen by its identifier, and a key without instructions means triple DES", async () => {
  const evidence = await evidenceOf(dg14(chipKey, [oids.chipAuthenticationEcdhAes128], { keyId: 7 }), {
    chipAuthentication: [
      { privateKey: ecKey("prime256v1").pkcs8, keyId: 3 },
      { privateKey: chipKey.pkcs8, keyId: 7 },
    ],
  });
  assert.equal(evidence.cipher, "AES-128");
  assert.equal(
    (await evidenceOf(dg14(chipKey, []), { chipAuthentication: [{ privateKey: chipKey.pkcs8 }] })).cipher,
    "3DES",
  );
});

test("the strongest cipher on offer is taken, and DG14 without an offer gives no proof", () => {
  const file = dg14(chipKey, [
    oids.chipAuthenticationEcdh3Des,
    oids.chipAuthenticationEcdhAes256,
    oids.chipAuthenticationEcdhAes128,
  ]);
  assert.deepEqual(
    chipAuthenticationOffers(file).map((offer) => offer.suite.name),
    ["AES-256", "AES-128", "3DES"],
  );
  assert.throws(() => beginChipAuthentication(fromHex("6E02 3100"), secureRandom), TypeError);
});

test("of several versions the first is used, and a key that is offered in later ones only is named as such", () => {
  const info = (version: number, protocol: string, keyId?: bigint) =>
    ({ kind: "chipAuthentication", protocol, version, ...(keyId === undefined ? {} : { keyId }) }) as const;
  const { publicKeyEcdh, chipAuthenticationEcdhAes128: aes128, chipAuthenticationEcdhAes256: aes256 } = oids;
  const key = (keyId?: bigint) =>
    ({
      kind: "chipAuthenticationPublicKey",
      protocol: publicKeyEcdh,
      subjectPublicKeyInfo: chipKey.spki,
      ...(keyId === undefined ? {} : { keyId }),
    }) as const;
  const offered = (...contents: Parameters<typeof buildDg14>[0]) =>
    chipAuthenticationOffers(buildDg14(contents)).map(({ oid, keyId }) => [oid, keyId]);
  const versionTwoOnly = { code: "PROTOCOL_UNSUPPORTED", message: /terminal authentication/ };

  assert.deepEqual(offered(info(2, aes256), info(1, aes128), key()), [[aes128, null]]);
  assert.deepEqual(offered(info(0, aes128), key()), [[aes128, null]]);
  for (const version of [2, 3]) assert.throws(() => offered(info(version, aes128), key()), versionTwoOnly);
  // Another key of the same document is not held back by it.
  assert.deepEqual(offered(info(2, aes128, 1n), info(1, aes128, 2n), key(1n), key(2n)), [[aes128, 2n]]);
  assert.deepEqual(offered(info(2, aes128, 1n), key(2n)), [[oids.chipAuthenticationEcdh3Des, 2n]]);
});

test("a chip that knows one set of commands for triple DES is asked with it, and under a new key", async () => {
  const file = dg14(chipKey, [oids.chipAuthenticationEcdh3Des]);
  const chipAuthentication = [{ privateKey: chipKey.pkcs8 }];
  for (const refuseKeyAgreementTemplate of [false, true])
    await evidenceOf(file, { chipAuthentication, quirks: { refuseKeyAgreementTemplate } });

  const first = begin(file);
  const second = asked(next(file, first.state, [fromHex("6A80")]));
  assert.deepEqual([first.ask.commands.length, second.ask.commands.length], [1, 2]);
  assert.notDeepEqual(first.state, second.state);
  // There is no third way.
  assert.equal(refusalOf(next(file, second.state, [fromHex("6A80"), okAnswer])), "ephemeral_key_refused");
});

test("a copy of the chip cannot prove itself", async () => {
  for (const protocol of [oids.chipAuthenticationEcdh3Des, oids.chipAuthenticationEcdhAes128]) {
    const file = dg14(chipKey, [protocol]);
    const chipAuthentication = [{ privateKey: chipKey.pkcs8 }];
    assert.equal((await authenticate(file, { chipAuthentication, clone: true })).verdict.passed, false);
    // A better copy has a different key.
    const other = [{ privateKey: ecKey("brainpoolP256r1").pkcs8 }];
    assert.equal((await authenticate(file, { chipAuthentication: other })).verdict.passed, false);
  }
});

test("a hostile client with genuine DG14 and SOD but no chip is refused, whatever it computes", () => {
  const file = dg14(chipKey, [oids.chipAuthenticationEcdhAes128]);
  const suite = cipherSuites["AES-128"];

  // It skips the chip and says that all went well.
  for (const answer of ["9000", "990290008E0800000000000000009000", "", "90", "6988"]) {
    refusalOf(next(file, agreed(file).state, [fromHex(answer)]));
  }
  assert.equal(refusalOf(next(file, agreed(file).state, [])), "answer_missing");

  // It knows every public value and derives keys from each of them.
  const { state, ask } = begin(file);
  const publicKey = publicKeyIn(ask.commands);
  const [sealed = okAnswer] = asked(next(file, state, [okAnswer, okAnswer])).ask.commands;
  const [offer] = chipAuthenticationOffers(file);
  assert.ok(offer !== undefined);
  const attacker = offer.domain.randomPrivateKey(seededRandom("attacker"));
  const guesses = [
    offer.domain.sharedSecret(attacker, publicKey),
    offer.domain.sharedSecret(attacker, offer.publicKey),
    offer.domain.sharedSecret(1n, publicKey),
    offer.domain.sharedSecret(1n, offer.publicKey),
  ];
  for (const guess of guesses) {
    const chipSide = new SecureMessaging(suite, deriveSessionKeys(suite, guess));
    assert.throws(() => chipSide.unprotectCommand(decodeCommand(sealed)), {
      code: "SECURE_MESSAGING_FAILED",
    });
    const forger = new SecureMessaging(suite, deriveSessionKeys(suite, guess));
    forger.protectCommand({ cla: 0, ins: 0xa4, p1: 2, p2: 0x0c, data: fromHex("010e") });
    const forged = encodeResponse(
      forger.protectResponse(0xa4, { data: new Uint8Array(0), statusWord: statusWords.ok }),
    );
    assert.equal(refusalOf(next(file, agreed(file).state, [forged])), "secure_messaging_failed");
  }

  // It sends the command back as if it were the answer.
  const mirrored = agreed(file);
  const [command = okAnswer] = mirrored.ask.commands;
  const echo = encodeResponse({ data: decodeCommand(command).data, statusWord: statusWords.ok });
  assert.equal(refusalOf(next(file, mirrored.state, [echo])), "secure_messaging_failed");
});

/** From GENERAL AUTHENTICATE: 7C, 80, the key. */
function publicKeyIn(commands: readonly Uint8Array[]): Uint8Array {
  const { data } = decodeCommand(commands.at(-1) ?? okAnswer);
  return data.subarray(data.length - 65);
}

test("an answer recorded with one exchange does not serve another", async () => {
  const file = dg14(chipKey, [oids.chipAuthenticationEcdhAes128]);
  const transport = createVirtualChip({
    files: { ...sampleFiles(), DG14: file },
    mrzKey: sampleKey,
    chipAuthentication: [{ privateKey: chipKey.pkcs8 }],
  });
  const chip = await openChip(transport, { mrz: sampleKey });
  const first = begin(file);
  assert.notDeepEqual(first.ask, begin(file).ask);
  const proving = asked(next(file, first.state, await carryCommands(chip, first.ask)));
  const recorded = await carryCommands(chip, proving.ask);
  assert.equal(refusalOf(next(file, agreed(file).state, recorded)), "secure_messaging_failed");
  assert.equal(verdictOf(next(file, proving.state, recorded)).passed, true);
});

test("every command must be answered, and a refusal of the chip is a refusal", () => {
  const file = dg14(chipKey, [oids.chipAuthenticationEcdhAes128]);
  const { state } = begin(file);
  for (const answers of [[], [okAnswer], [okAnswer, okAnswer, okAnswer]])
    assert.equal(refusalOf(next(file, state, answers)), "answer_missing");
  assert.equal(refusalOf(next(file, state, [fromHex("6A88"), okAnswer])), "ephemeral_key_refused");
  refusalOf(next(file, state, [new Uint8Array(0), okAnswer]));
});

test("the state of an exchange is plain data: another thread goes on with a copy, and nothing is left after it is overwritten", async () => {
  const file = dg14(chipKey, [oids.chipAuthenticationEcdhAes128]);
  const transport = createVirtualChip({
    files: { ...sampleFiles(), DG14: file },
    mrzKey: sampleKey,
    chipAuthentication: [{ privateKey: chipKey.pkcs8 }],
  });
  const chip = await openChip(transport, { mrz: sampleKey });
  let step: Step = begin(file);
  while (step.kind === "ask") {
    const state = { proof: "chip_authentication", ...step.state } as const;
    const copy = structuredClone(state);
    overwriteChipProof(state);
    for (const value of Object.values(state))
      if (value instanceof Uint8Array) assert.ok(value.every((byte) => byte === 0));
    step = next(file, copy, await carryCommands(chip, step.ask));
  }
  assert.equal(step.verdict.passed, true);
});

test("a public key outside of its group is refused before anything is computed with it", () => {
  const spki = chipKey.spki.slice();
  const last = spki.length - 1;
  spki[last] = (spki[last] ?? 0) ^ 1;
  const file = dg14({ spki, pkcs8: chipKey.pkcs8 }, [oids.chipAuthenticationEcdhAes128]);
  assert.throws(() => beginChipAuthentication(file, secureRandom), { code: "CRYPTO_INVALID" });
});

test("no sequence of bytes from the device finishes an exchange", () => {
  const file = dg14(chipKey, [oids.chipAuthenticationEcdhAes128]);
  const { state } = agreed(file);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (answer) => {
      refusalOf(next(file, state, [answer]));
    }),
    { numRuns: 200 },
  );
});

test("the commands never hold anything but public values", () => {
  const file = dg14(chipKey, [oids.chipAuthenticationEcdhAes128]);
  const { state, ask } = begin(file, seededRandom("private"));
  const proving = asked(next(file, state, [okAnswer, okAnswer]));
  const sent = [...ask.commands, ...proving.ask.commands].map((command) =>
    toHex(encodeCommand(decodeCommand(command))),
  );
  assert.ok(state.kind === "agreement" && proving.state.kind === "proof");
  for (const secret of [state.privateKey, proving.state.secret]) {
    assert.ok(secret.length > 20);
    assert.ok(!sent.join("").includes(toHex(secret)));
  }
});
