import { verifyActiveAuthentication } from "../src/active-authentication/verify-active-authentication.ts";
import { decodeCommand, encodeCommand } from "../src/apdu/command.ts";
import { decodeResponse, encodeResponse } from "../src/apdu/response.ts";
import type { ChipTransport } from "../src/apdu/transport.ts";
import { oids } from "../src/ber/oid.ts";
import { bitString, integer, octetString, oid, sequence } from "../src/ber/write.ts";
import { concat, fromHex, uintBytes } from "../src/bytes.ts";
import { chipAuthenticationOffers } from "../src/chip-authentication/chip-authentication-offer.ts";
import {
  beginChipAuthentication,
  continueChipAuthentication,
} from "../src/chip-authentication/judge-proof.ts";
import { chipMappingOffer, readCardSecurity } from "../src/chip-authentication-mapping/card-security.ts";
import {
  type ChipMappingFiles,
  continueChipMapping,
} from "../src/chip-authentication-mapping/judge-proof.ts";
import { cipherSuites } from "../src/crypto/cipher-suite.ts";
import { curveNamed } from "../src/crypto/curves.ts";
import { readSubjectPublicKey } from "../src/crypto/subject-public-key.ts";
import { buildDg14, readDg14 } from "../src/lds/dg14.ts";
import { ecSigningKey } from "../src/node/test-country/signing-key.ts";
import { paceOffers } from "../src/pace/pace-offers.ts";
import { openChip } from "../src/reader/open-chip.ts";
import { SecureMessaging } from "../src/secure-messaging/secure-messaging.ts";
import type { VirtualPace } from "../src/virtual/pace-chip.ts";
import { readPkcs8 } from "../src/virtual/private-key.ts";
import { cardAccessFile, createVirtualChip } from "../src/virtual/virtual-chip.ts";
import mappingRecording from "../test/recordings/chip-authentication-mapping.json" with { type: "json" };
import { sampleKey } from "../test/support/sample-document.ts";
import { seededRandom } from "../test/support/seeded-random.ts";
import type { ChipReader } from "./mutate.ts";

/** The longest shape of a key. */
const explicitKey = ecSigningKey("fuzz", "agreement", "secp192r1", {
  explicitParameters: true,
}).subjectPublicKeyInfo;

const rsaKeyInfo = sequence(
  sequence(oid(oids.rsaEncryption)),
  bitString(sequence(integer((1n << 1023n) + 1n), integer(65_537))),
);

function messagingPair() {
  const suite = cipherSuites["AES-128"];
  const keys = { encryption: new Uint8Array(16).fill(1), mac: new Uint8Array(16).fill(2) };
  return { terminal: new SecureMessaging(suite, keys), chip: new SecureMessaging(suite, keys) };
}

const readCommand = { cla: 0, ins: 0xb0, p1: 0, p2: 0, expectedBytes: 8 };

function protectedAnswer(): Uint8Array {
  const { terminal, chip } = messagingPair();
  chip.unprotectCommand(decodeCommand(encodeCommand(terminal.protectCommand(readCommand))));
  return encodeResponse(
    chip.protectResponse(0xb0, { data: fromHex("0102030405060708"), statusWord: 0x9000 }),
  );
}

/** The whole reader against a chip that answers from the input: two bytes of length, then the answer. */
function answersFrom(bytes: Uint8Array): ChipTransport {
  let offset = 0;
  return {
    maxCommandBytes: 65_544,
    maxResponseBytes: 65_538,
    extendedLength: true,
    transceive: async () => {
      const length = ((bytes[offset] ?? 0) << 8) | (bytes[offset + 1] ?? 0);
      const answer = bytes.slice(offset + 2, offset + 2 + length);
      offset += 2 + length;
      return answer;
    },
  };
}

async function recordedConversation(pace?: VirtualPace): Promise<Uint8Array> {
  const chip = createVirtualChip({
    files: { DG1: concat(fromHex("6103"), fromHex("010203")) },
    mrzKey: sampleKey,
    random: seededRandom("chip"),
    ...(pace === undefined ? {} : { pace: [pace] }),
  });
  const pieces: Uint8Array[] = [];
  const opened = await openChip(
    {
      ...chip,
      transceive: async (command) => {
        const answer = await chip.transceive(command);
        // A copy: the reader overwrites what it has read.
        pieces.push(uintBytes(answer.length, 2), answer.slice());
        return answer;
      },
    },
    { mrz: sampleKey },
    { random: seededRandom("terminal") },
  );
  await opened.readFile("DG1");
  return concat(...pieces);
}

const conversations = [
  await recordedConversation(),
  await recordedConversation({ oid: `${oids.paceDhGm}.1`, parameterId: 0 }),
];
const cardAccess = cardAccessFile([
  { oid: `${oids.paceEcdhGm}.2`, parameterId: 13 },
  { oid: `${oids.paceDhGm}.1`, parameterId: 0 },
]);
const dg14 = buildDg14([
  { kind: "chipAuthentication", protocol: oids.chipAuthenticationEcdhAes128, version: 1 },
  { kind: "chipAuthenticationPublicKey", protocol: oids.publicKeyEcdh, subjectPublicKeyInfo: explicitKey },
]);

/** At the step where the chip must answer under the new keys. */
const chipAuthentication = { kind: "proof", secret: new Uint8Array(24).fill(5) } as const;

/**
 * A document whose chip proves itself by the mapping,
 * with the judge's keys and all answers of the chip but the last.
 */
const mappingFiles: ChipMappingFiles = {
  dg1: fromHex(mappingRecording.dg1),
  dg14: fromHex(mappingRecording.dg14),
  cardSecurity: fromHex(mappingRecording.cardSecurity),
};
const mappingAnswers = mappingRecording.exchange.map(([, answer = ""]) => fromHex(answer));

/** One answer of the recording is replaced by the input; its first byte says which. */
function continueMapping(bytes: Uint8Array): unknown {
  const at = (bytes[0] ?? 0) % mappingAnswers.length;
  const state = { random: fromHex(mappingRecording.random), answers: mappingAnswers.slice(0, at) };
  return continueChipMapping(state, [bytes.slice(1)], mappingFiles);
}

export const protocolReaders: readonly ChipReader[] = [
  {
    name: "command-apdu",
    read: decodeCommand,
    seeds: () => [
      encodeCommand({ ...readCommand, data: fromHex("0102") }),
      encodeCommand({ ...readCommand, expectedBytes: 4096 }),
    ],
  },
  { name: "response-apdu", read: decodeResponse, seeds: () => [fromHex("01029000")] },
  {
    name: "protected-answer",
    read: (bytes) => {
      const { terminal } = messagingPair();
      terminal.protectCommand(readCommand);
      return terminal.unprotectResponse(decodeResponse(bytes));
    },
    seeds: () => [protectedAnswer()],
  },
  {
    name: "protected-command",
    read: (bytes) => messagingPair().chip.unprotectCommand(decodeCommand(bytes)),
    seeds: () => [
      encodeCommand(messagingPair().terminal.protectCommand({ ...readCommand, data: fromHex("0102") })),
    ],
  },
  { name: "subject-public-key", read: readSubjectPublicKey, seeds: () => [explicitKey, rsaKeyInfo] },
  {
    name: "pkcs8",
    read: readPkcs8,
    seeds: () => [
      sequence(
        integer(0),
        sequence(oid(oids.ecPublicKey), oid(curveNamed("secp192r1").oid)),
        octetString(sequence(integer(1), octetString(uintBytes(7, 24)))),
      ),
    ],
  },
  { name: "pace-offers", read: paceOffers, seeds: () => [cardAccess] },
  {
    name: "chip-authentication-start",
    read: (bytes) =>
      chipAuthenticationOffers(bytes).length > 0
        ? beginChipAuthentication(bytes, seededRandom("terminal"))
        : undefined,
    seeds: () => [dg14],
  },
  {
    name: "chip-authentication-answer",
    read: (bytes) => continueChipAuthentication(chipAuthentication, [bytes], dg14, seededRandom("terminal")),
    seeds: () => [fromHex("990290008E0800000000000000009000"), protectedAnswer()],
  },
  {
    name: "chip-mapping-keys",
    read: (bytes) => chipMappingOffer(readDg14(mappingFiles.dg14), readCardSecurity(bytes).securityInfos),
    seeds: () => [mappingFiles.cardSecurity],
  },
  {
    name: "chip-mapping-answer",
    read: continueMapping,
    seeds: () => mappingAnswers.map((answer, at) => concat(Uint8Array.of(at), answer)),
  },
  {
    name: "active-authentication",
    read: (bytes) => {
      // Eight bytes of challenge, one of length, the signature, and the key behind it.
      const signatureBytes = bytes[8] ?? 0;
      return verifyActiveAuthentication({
        challenge: bytes.slice(0, 8),
        signature: bytes.slice(9, 9 + signatureBytes),
        publicKey: bytes.slice(9 + signatureBytes),
      });
    },
    seeds: () => [
      concat(new Uint8Array(8), Uint8Array.of(48), new Uint8Array(48).fill(3), explicitKey),
      concat(new Uint8Array(8), Uint8Array.of(128), new Uint8Array(128).fill(3), rsaKeyInfo),
    ],
  },
  {
    name: "virtual-chip",
    read: async (bytes) => {
      const chip = createVirtualChip({ files: {}, mrzKey: sampleKey, random: seededRandom("chip") });
      await chip.transceive(bytes);
    },
    seeds: () => [
      fromHex("00A4040C07A0000002471001"),
      fromHex("0022C1A40F800A04007F00070202040202830101"),
      fromHex("10860000027C0000"),
    ],
  },
  {
    name: "conversation",
    read: async (bytes) => {
      const chip = await openChip(
        answersFrom(bytes),
        { mrz: sampleKey },
        { random: seededRandom("terminal") },
      );
      await chip.readFile("DG1");
    },
    seeds: () => conversations,
  },
];
