import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { dg14, ecKey, SAMPLE_KEY, sampleFiles } from "../../test/support/sample-document.ts";
import { seededRandom } from "../../test/support/seeded-random.ts";
import { decodeCommand, encodeCommand } from "../apdu/command.ts";
import { encodeResponse, STATUS } from "../apdu/response.ts";
import { OID } from "../ber/oid.ts";
import { bitString, integer, octetString, oid, sequence, unsignedInteger } from "../ber/write.ts";
import { fromHex, toHex } from "../bytes.ts";
import { CIPHER_SUITES, deriveSessionKeys } from "../crypto/cipher-suite.ts";
import { RFC_5114_GROUPS, standardizedDomain } from "../crypto/key-agreement.ts";
import { paceOid } from "../pace/pace-protocol.ts";
import { openChip } from "../reader/open-chip.ts";
import { SecureMessaging } from "../secure-messaging/secure-messaging.ts";
import { createVirtualChip, type VirtualChipOptions } from "../virtual/virtual-chip.ts";
import { startChipAuthentication } from "./chip-authentication.ts";
import { chipAuthenticationOffers } from "./chip-authentication-offer.ts";

const OK = fromHex("9000");

function dhKey(algorithm: string) {
  const { p, g, q } = RFC_5114_GROUPS[1]?.parameters ?? { p: 0n, g: 0n, q: 0n };
  const domain = standardizedDomain(1);
  const privateKey = domain.randomPrivateKey(seededRandom("dh"));
  const order = algorithm === OID.dhPublicNumber ? [integer(q ?? 0n)] : [];
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
    mrzKey: SAMPLE_KEY,
    ...options,
  });
  const chip = await openChip(transport, { mrz: SAMPLE_KEY });
  await chip.readFile("DG14");
  const exchange = startChipAuthentication(dg14File);
  assert.ok(exchange !== undefined);
  const sealed = exchange.prove(await chip.forwardInSession(exchange.commands));
  const proof = exchange.finish(await chip.forwardSealed(sealed));
  await assert.rejects(chip.readFile("DG1"), { code: "ACCESS_DENIED" });
  await chip.open();
  await chip.readFile("DG1");
  return proof;
}

const EC = ecKey("brainpoolP256r1", "explicit");
const PACE = [{ oid: paceOid("ECDH", "generic", "AES-128"), parameterId: 12 }];

for (const [arc, cipher] of [
  ["1", "3DES"],
  ["2", "AES-128"],
  ["3", "AES-192"],
  ["4", "AES-256"],
] as const) {
  test(`a genuine chip proves itself to the server with ECDH and ${cipher}, after BAC and after PACE`, async () => {
    const file = dg14(EC, [`${OID.chipAuthenticationEcdh}.${arc}`]);
    const chipAuthentication = [{ privateKey: EC.pkcs8 }];
    const proof = await authenticate(file, { chipAuthentication });
    assert.deepEqual(proof, {
      protocol: `${OID.chipAuthenticationEcdh}.${arc}`,
      cipher,
      domain: "brainpoolP256r1",
      statusWord: STATUS.ok,
    });
    await authenticate(file, { chipAuthentication, pace: PACE, withoutBac: true });
  });
}

test("chip authentication works over a DH group, which needs long commands", async () => {
  for (const [protocol, algorithm] of [
    [OID.chipAuthenticationDh3Des, OID.dhKeyAgreement],
    [OID.chipAuthenticationDhAes128, OID.dhPublicNumber],
  ] as const) {
    const key = dhKey(algorithm);
    const proof = await authenticate(dg14(key, [protocol], { agreement: "DH" }), {
      chipAuthentication: [{ privateKey: key.pkcs8 }],
    });
    assert.equal(proof.protocol, protocol);
  }
});

test("the key is chosen by its identifier, and a key without instructions means triple DES", async () => {
  const proof = await authenticate(dg14(EC, [OID.chipAuthenticationEcdhAes128], { keyId: 7 }), {
    chipAuthentication: [
      { privateKey: ecKey("prime256v1").pkcs8, keyId: 3 },
      { privateKey: EC.pkcs8, keyId: 7 },
    ],
  });
  assert.equal(proof.cipher, "AES-128");
  assert.equal(
    (await authenticate(dg14(EC, []), { chipAuthentication: [{ privateKey: EC.pkcs8 }] })).cipher,
    "3DES",
  );
});

test("the strongest cipher on offer is taken, and DG14 without an offer gives no exchange", () => {
  const file = dg14(EC, [
    OID.chipAuthenticationEcdh3Des,
    OID.chipAuthenticationEcdhAes256,
    OID.chipAuthenticationEcdhAes128,
  ]);
  assert.deepEqual(
    chipAuthenticationOffers(file).map((offer) => offer.suite.name),
    ["AES-256", "AES-128", "3DES"],
  );
  assert.equal(startChipAuthentication(fromHex("6E02 3100")), undefined);
});

test("a copy of the chip cannot prove itself", async () => {
  for (const protocol of [OID.chipAuthenticationEcdh3Des, OID.chipAuthenticationEcdhAes128]) {
    const file = dg14(EC, [protocol]);
    await assert.rejects(
      authenticate(file, { chipAuthentication: [{ privateKey: EC.pkcs8 }], clone: true }),
      {
        code: "CHIP_AUTHENTICATION_FAILED",
      },
    );
    // A better copy has a key of its own.
    const other = ecKey("brainpoolP256r1");
    await assert.rejects(authenticate(file, { chipAuthentication: [{ privateKey: other.pkcs8 }] }), {
      code: "CHIP_AUTHENTICATION_FAILED",
    });
  }
});

test("a hostile client with genuine DG14 and SOD but no chip is refused, whatever it computes", () => {
  const file = dg14(EC, [OID.chipAuthenticationEcdhAes128]);
  const suite = CIPHER_SUITES["AES-128"];
  const start = () => {
    const exchange = startChipAuthentication(file);
    assert.ok(exchange !== undefined);
    return exchange;
  };
  const refused = { code: "CHIP_AUTHENTICATION_FAILED" };

  // It skips the chip and says that all went well.
  for (const answer of ["9000", "990290008E0800000000000000009000", "", "90", "6988"]) {
    const exchange = start();
    exchange.prove([OK, OK]);
    assert.throws(() => exchange.finish(fromHex(answer)), refused);
  }

  // It knows every public value and derives keys from each of them.
  const exchange = start();
  const sealed = exchange.prove([OK, OK]);
  const own = exchange.offer.domain;
  const attacker = own.randomPrivateKey(seededRandom("attacker"));
  const guesses = [
    own.sharedSecret(attacker, exchange.publicKey),
    own.sharedSecret(attacker, exchange.offer.publicKey),
    own.sharedSecret(1n, exchange.publicKey),
    own.sharedSecret(1n, exchange.offer.publicKey),
  ];
  for (const guess of guesses) {
    const chipSide = new SecureMessaging(suite, deriveSessionKeys(suite, guess));
    assert.throws(() => chipSide.unprotectCommand(decodeCommand(sealed)), {
      code: "SECURE_MESSAGING_FAILED",
    });
    const forger = new SecureMessaging(suite, deriveSessionKeys(suite, guess));
    forger.protectCommand({ cla: 0, ins: 0xa4, p1: 2, p2: 0x0c, data: fromHex("010e") });
    const forged = encodeResponse(
      forger.protectResponse(0xa4, { data: new Uint8Array(0), statusWord: STATUS.ok }),
    );
    const victim = start();
    victim.prove([OK, OK]);
    assert.throws(() => victim.finish(forged), refused);
  }

  // It sends the command back as if it were the answer.
  const mirrored = start();
  const command = mirrored.prove([OK, OK]);
  assert.throws(
    () => mirrored.finish(encodeResponse({ data: decodeCommand(command).data, statusWord: STATUS.ok })),
    refused,
  );
});

test("an answer recorded with one exchange does not serve another", async () => {
  const file = dg14(EC, [OID.chipAuthenticationEcdhAes128]);
  const transport = createVirtualChip({
    files: { ...sampleFiles(), DG14: file },
    mrzKey: SAMPLE_KEY,
    chipAuthentication: [{ privateKey: EC.pkcs8 }],
  });
  const chip = await openChip(transport, { mrz: SAMPLE_KEY });
  const first = startChipAuthentication(file);
  const second = startChipAuthentication(file);
  assert.ok(first !== undefined && second !== undefined);
  assert.notEqual(toHex(first.publicKey), toHex(second.publicKey));
  const recorded = await chip.forwardSealed(first.prove(await chip.forwardInSession(first.commands)));
  second.prove([OK, OK]);
  assert.throws(() => second.finish(recorded), { code: "CHIP_AUTHENTICATION_FAILED" });
  assert.equal(first.finish(recorded).statusWord, STATUS.ok);
});

test("each step of an exchange works once and in order", () => {
  const file = dg14(EC, [OID.chipAuthenticationEcdhAes128]);
  const refused = { code: "CHIP_AUTHENTICATION_FAILED" };
  const early = startChipAuthentication(file);
  assert.throws(() => early?.finish(OK), refused);
  const short = startChipAuthentication(file);
  assert.throws(() => short?.prove([OK]), refused);
  const twice = startChipAuthentication(file);
  twice?.prove([OK, OK]);
  assert.throws(() => twice?.prove([OK, OK]), refused);
  assert.throws(() => twice?.finish(OK), refused);
  assert.throws(() => twice?.finish(OK), refused);
  const refusedByChip = startChipAuthentication(file);
  assert.throws(() => refusedByChip?.prove([fromHex("6A88"), OK]), { ...refused, statusWord: 0x6a88 });
});

test("a public key outside of its group is refused before anything is computed with it", () => {
  const spki = EC.spki.slice();
  const last = spki.length - 1;
  spki[last] = (spki[last] ?? 0) ^ 1;
  const file = dg14({ spki, pkcs8: EC.pkcs8 }, [OID.chipAuthenticationEcdhAes128]);
  assert.throws(() => startChipAuthentication(file), { code: "CRYPTO_INVALID" });
});

test("no sequence of bytes from the device finishes an exchange", () => {
  const file = dg14(EC, [OID.chipAuthenticationEcdhAes128]);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (answer) => {
      const exchange = startChipAuthentication(file);
      exchange?.prove([OK, OK]);
      assert.throws(() => exchange?.finish(answer), { code: "CHIP_AUTHENTICATION_FAILED" });
    }),
    { numRuns: 30 },
  );
});

test("the commands never hold anything but public values", () => {
  const file = dg14(EC, [OID.chipAuthenticationEcdhAes128]);
  const random = seededRandom("private");
  const exchange = startChipAuthentication(file, { random });
  const privateKey = exchange?.offer.domain.randomPrivateKey(seededRandom("private")) ?? 0n;
  const sealed = exchange?.prove([OK, OK]) ?? new Uint8Array(0);
  const sent = [...(exchange?.commands ?? []), sealed].map((command) =>
    toHex(encodeCommand(decodeCommand(command))),
  );
  assert.ok(!sent.join("").includes(privateKey.toString(16)));
});
