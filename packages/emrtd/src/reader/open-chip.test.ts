import assert from "node:assert/strict";
import { test } from "node:test";
import { ecKey, sampleCan, sampleFiles, sampleKey } from "../../test/support/sample-document.ts";
import { seededRandom } from "../../test/support/seeded-random.ts";
import { decodeCommand } from "../apdu/command.ts";
import type { ChipTransport } from "../apdu/transport.ts";
import { readWhole } from "../ber/read.ts";
import { toHex } from "../bytes.ts";
import type { CipherName } from "../crypto/cipher-suite.ts";
import { type PaceMapping, paceOid } from "../pace/pace-protocol.ts";
import {
  cardAccessFile,
  createVirtualChip,
  type VirtualChipOptions,
  type VirtualChipQuirks,
} from "../virtual/virtual-chip.ts";
import { type ChipProgress, openChip } from "./open-chip.ts";

const chipFiles = sampleFiles();

function chip(options: Partial<VirtualChipOptions> = {}) {
  return createVirtualChip({ files: chipFiles, mrzKey: sampleKey, random: seededRandom("chip"), ...options });
}

const terminal = { random: seededRandom("terminal") };

const variants: readonly (readonly ["DH" | "ECDH", PaceMapping, CipherName, number])[] = [
  ...(["3DES", "AES-128", "AES-192", "AES-256"] as const).flatMap(
    (cipher) =>
      [
        ["ECDH", "generic", cipher, 13],
        ["ECDH", "integrated", cipher, 13],
        ["DH", "generic", cipher, 0],
        ["DH", "integrated", cipher, 0],
      ] as const,
  ),
  ...(["AES-128", "AES-192", "AES-256"] as const).map(
    (cipher) => ["ECDH", "chip-authentication", cipher, 12] as const,
  ),
  ...[8, 9, 10, 11, 12, 14, 15, 16, 17, 18].map((id) => ["ECDH", "generic", "AES-128", id] as const),
  ...[9, 11, 16].map((id) => ["ECDH", "integrated", "AES-256", id] as const),
  ["DH", "generic", "AES-128", 1],
  ["DH", "integrated", "AES-256", 2],
];

for (const [agreement, mapping, cipher, parameterId] of variants) {
  test(`a document is read after PACE: ${agreement}, ${mapping} mapping, ${cipher}, domain ${parameterId}`, async () => {
    const pace = [{ oid: paceOid(agreement, mapping, cipher), parameterId }];
    const opened = await openChip(chip({ pace, withoutBac: true }), { mrz: sampleKey }, terminal);
    assert.equal(opened.accessMethod, "PACE");
    assert.equal(toHex(await opened.readFile("DG1")), toHex(chipFiles.DG1 ?? new Uint8Array(0)));
    assert.equal(toHex(await opened.readFile("SOD")), toHex(chipFiles.SOD ?? new Uint8Array(0)));
  });
}

test("the card access number opens a chip that speaks PACE, with every cipher of secure messaging", async () => {
  for (const cipher of ["3DES", "AES-128", "AES-192", "AES-256"] as const) {
    const pace = [{ oid: paceOid("ECDH", "generic", cipher), parameterId: 12 }];
    const opened = await openChip(chip({ pace, can: sampleCan }), { can: sampleCan }, terminal);
    assert.deepEqual(await opened.readFile("DG2"), chipFiles.DG2);
  }
});

test("PACE works on a domain that the chip brings along, and among several domains the chip is told which", async () => {
  // brainpoolP256r1 and P-384 as explicit parameters, in the shape of an AlgorithmIdentifier.
  const explicit = (curve: string) => readWhole(ecKey(curve, "explicit").spki).at(0, "algorithm").bytes;
  const pace = [
    {
      oid: paceOid("ECDH", "generic", "AES-128"),
      parameterId: 40,
      domainParameter: explicit("brainpoolP256r1"),
    },
    { oid: paceOid("ECDH", "generic", "AES-128"), parameterId: 41, domainParameter: explicit("secp384r1") },
    { oid: paceOid("DH", "generic", "3DES"), parameterId: 0 },
  ];
  const opened = await openChip(chip({ pace, withoutBac: true }), { mrz: sampleKey }, terminal);
  assert.equal(opened.pace?.domain.name, "secp384r1");
  assert.deepEqual(await opened.readFile("DG1"), chipFiles.DG1);
});

test("a chip that refuses to have its only domain named is asked again without the name", async () => {
  const inner = chip({
    pace: [{ oid: paceOid("ECDH", "generic", "AES-128"), parameterId: 13 }],
    withoutBac: true,
  });
  let refused = 0;
  const transport: ChipTransport = {
    ...inner,
    transceive: async (command) => {
      const named = command[1] === 0x22 && toHex(command).endsWith("84010d");
      if (named) refused++;
      return named ? Uint8Array.of(0x6a, 0x80) : await inner.transceive(command);
    },
  };
  const opened = await openChip(transport, { mrz: sampleKey }, terminal);
  assert.equal(opened.accessMethod, "PACE");
  assert.equal(refused, 1);
});

test("a document without PACE is read after BAC, and progress is told on the way", async () => {
  const events: ChipProgress[] = [];
  const opened = await openChip(
    chip(),
    { mrz: sampleKey },
    { ...terminal, onProgress: (event) => events.push(event) },
  );
  assert.equal(opened.accessMethod, "BAC");
  assert.deepEqual(await opened.readFile("DG2"), chipFiles.DG2);
  assert.deepEqual(events.slice(0, 3), [
    { kind: "connecting" },
    { kind: "opening", method: "BAC" },
    { kind: "opened", method: "BAC" },
  ]);
  const reads = events.flatMap((event) => (event.kind === "reading" ? [event] : []));
  assert.ok(reads.length >= 2);
  assert.deepEqual(reads.at(-1), { kind: "reading", file: "DG2", readBytes: 20_004, totalBytes: 20_004 });
  assert.ok(
    reads.every((event, index) => index === 0 || event.readBytes > (reads[index - 1]?.readBytes ?? 0)),
  );
});

test("a document that guards nothing is read without a session", async () => {
  const opened = await openChip(createVirtualChip({ files: chipFiles }), { mrz: sampleKey }, terminal);
  assert.equal(opened.accessMethod, "none");
  assert.deepEqual(await opened.readFile("DG1"), chipFiles.DG1);
});

test("a wrong key is named as such, with BAC and with PACE", async () => {
  const wrong = { mrz: { ...sampleKey, dateOfBirth: "740813" } };
  const pace = [{ oid: paceOid("ECDH", "generic", "AES-128"), parameterId: 13 }];
  await assert.rejects(openChip(chip(), wrong, terminal), { code: "ACCESS_KEY_INVALID" });
  await assert.rejects(openChip(chip({ pace }), wrong, terminal), { code: "ACCESS_KEY_INVALID" });
  await assert.rejects(openChip(chip({ pace, can: sampleCan }), { can: "000000" }, terminal), {
    code: "ACCESS_KEY_INVALID",
  });
  await assert.rejects(openChip(chip(), { can: sampleCan }, terminal), { code: "PROTOCOL_UNSUPPORTED" });
});

test("files that are missing or closed are told apart", async () => {
  const opened = await openChip(chip(), { mrz: sampleKey }, terminal);
  await assert.rejects(opened.readFile("DG15"), { code: "FILE_NOT_FOUND" });
  await assert.rejects(opened.readFile("DG3"), { code: "ACCESS_DENIED" });
  assert.deepEqual(await opened.readFile("COM"), chipFiles.COM);
});

test("files beside the application are read, and the application is selected again whatever happens", async () => {
  const pace = [{ oid: paceOid("ECDH", "generic", "AES-128"), parameterId: 12 }];
  const CardSecurity =
    sampleFiles().SOD?.map((byte, index) => (index === 0 ? 0x30 : byte)) ?? new Uint8Array(0);
  const opened = await openChip(
    chip({ pace, files: { ...chipFiles, CardSecurity } }),
    { mrz: sampleKey },
    terminal,
  );
  assert.deepEqual(await opened.readFile("CardSecurity"), CardSecurity);
  assert.deepEqual(await opened.readFile("SOD"), chipFiles.SOD);
  const without = await openChip(chip({ pace }), { mrz: sampleKey }, terminal);
  await assert.rejects(without.readFile("CardSecurity"), { code: "FILE_NOT_FOUND" });
  assert.deepEqual(await without.readFile("SOD"), chipFiles.SOD);
});

test("a chip that offers PACE and then refuses it is opened with BAC", async () => {
  const CardAccess = cardAccessFile([{ oid: paceOid("ECDH", "generic", "AES-128"), parameterId: 13 }]);
  const opened = await openChip(chip({ files: { ...chipFiles, CardAccess } }), { mrz: sampleKey }, terminal);
  assert.equal(opened.accessMethod, "BAC");
  assert.deepEqual(await opened.readFile("DG1"), chipFiles.DG1);
});

test("a file longer than the offset of READ BINARY can say is read whole", async () => {
  const files = sampleFiles({ dg2Bytes: 90_000 });
  for (const quirks of [{}, { refuseExtendedLength: true }]) {
    const opened = await openChip(chip({ files, quirks }), { mrz: sampleKey }, terminal);
    assert.deepEqual(await opened.readFile("DG2"), files.DG2);
  }
});

test("a file that says it is too long is not read", async () => {
  const opened = await openChip(chip(), { mrz: sampleKey }, { ...terminal, maxFileBytes: 19_999 });
  await assert.rejects(opened.readFile("DG2"), { code: "FILE_TOO_LARGE" });
});

const quirkCases: readonly (readonly [string, VirtualChipQuirks])[] = [
  ["refuses extended length", { refuseExtendedLength: true }],
  ["refuses the master file", { refuseSelectMasterFile: true }],
  ["gives 160 bytes at a time", { maxReadBytes: 160, onLongRead: "fewer-bytes" }],
  ["refuses reads beyond 160 bytes", { maxReadBytes: 160, onLongRead: "wrong-length" }],
  ["refuses reads beyond 130 bytes and extended length", { maxReadBytes: 130, refuseExtendedLength: true }],
  ["drops the session on reads beyond 200 bytes", { maxReadBytes: 200, onLongRead: "lose-session" }],
  ["wants the last read to be exact", { exactLastRead: true }],
  ["forgets the session between files", { loseSessionAfterCommands: 1 }],
  [
    "forgets the session within a file",
    { loseSessionAfterCommands: 4, maxReadBytes: 200, onLongRead: "fewer-bytes" },
  ],
];

for (const [name, quirks] of quirkCases) {
  for (const method of ["BAC", "PACE"] as const) {
    test(`a chip that ${name} is read all the same, after ${method}`, async () => {
      const pace =
        method === "PACE" ? [{ oid: paceOid("ECDH", "generic", "AES-256"), parameterId: 12 }] : undefined;
      const transport = chip({ quirks, ...(pace === undefined ? {} : { pace }) });
      const opened = await openChip(transport, { mrz: sampleKey }, terminal);
      for (const file of ["COM", "DG1", "DG2", "SOD"] as const) {
        assert.deepEqual(await opened.readFile(file), chipFiles[file], file);
      }
    });
  }
}

/** A reader that cannot do what the chip can. */
function limited(
  transport: ChipTransport,
  limits: Partial<ChipTransport>,
): ChipTransport & { sent: Uint8Array[] } {
  const sent: Uint8Array[] = [];
  return {
    maxCommandBytes: limits.maxCommandBytes ?? transport.maxCommandBytes,
    maxResponseBytes: limits.maxResponseBytes ?? transport.maxResponseBytes,
    extendedLength: limits.extendedLength ?? transport.extendedLength,
    sent,
    transceive: async (command) => {
      sent.push(command);
      const answer = await transport.transceive(command);
      assert.ok(
        answer.length <= (limits.maxResponseBytes ?? 65_538),
        "the answer does not fit into the reader",
      );
      return answer;
    },
  };
}

test("a phone that carries 261 bytes reads everything in short commands", async () => {
  for (const cipher of ["3DES", "AES-128"] as const) {
    const pace = [{ oid: paceOid("ECDH", "generic", cipher), parameterId: 12 }];
    const transport = limited(chip({ pace }), {
      maxCommandBytes: 261,
      maxResponseBytes: 258,
      extendedLength: false,
    });
    const opened = await openChip(transport, { mrz: sampleKey }, terminal);
    assert.deepEqual(await opened.readFile("DG2"), chipFiles.DG2);
    assert.ok(transport.sent.every((command) => !decodeCommand(command).extended));
    assert.ok(
      !transport.sent.some((command) => command[1] === 0xc0),
      "no answer had to be fetched in pieces",
    );
  }
});

test("a lost connection ends the reading with its own code", async () => {
  const inner = chip();
  let left = 6;
  const transport: ChipTransport = {
    ...inner,
    transceive: async (command) => {
      if (left-- <= 0) throw new Error("tag was lost");
      return await inner.transceive(command);
    },
  };
  const reading = openChip(transport, { mrz: sampleKey }, terminal).then((opened) => opened.readFile("DG2"));
  await assert.rejects(reading, { code: "CHIP_LOST" });
});

test("a chip that loses every session is given up", async () => {
  const inner = chip();
  const transport: ChipTransport = {
    ...inner,
    transceive: async (command) =>
      (command[0] ?? 0) === 0x0c ? Uint8Array.of(0x69, 0x88) : await inner.transceive(command),
  };
  const opened = await openChip(transport, { mrz: sampleKey }, terminal);
  await assert.rejects(opened.readFile("DG1"), { code: "SECURE_MESSAGING_FAILED" });
});

test("the same random numbers give the same conversation, so a session can be recorded and replayed", async () => {
  const record = async () => {
    const lines: string[] = [];
    const inner = chip({ pace: [{ oid: paceOid("ECDH", "generic", "AES-128"), parameterId: 13 }] });
    const transport: ChipTransport = {
      ...inner,
      transceive: async (command) => {
        const answer = await inner.transceive(command);
        lines.push(toHex(command), toHex(answer));
        return answer;
      },
    };
    const opened = await openChip(transport, { mrz: sampleKey }, { random: seededRandom("recorded") });
    await opened.readFile("DG1");
    return lines;
  };
  const first = await record();
  assert.deepEqual(await record(), first);

  let position = 0;
  const replay: ChipTransport = {
    maxCommandBytes: 65_544,
    maxResponseBytes: 65_538,
    extendedLength: true,
    transceive: async (command) => {
      assert.equal(toHex(command), first[position]);
      position += 2;
      return Uint8Array.from(Buffer.from(first[position - 1] ?? "", "hex"));
    },
  };
  const replayed = await openChip(replay, { mrz: sampleKey }, { random: seededRandom("recorded") });
  assert.deepEqual(await replayed.readFile("DG1"), chipFiles.DG1);
});

/**
 * A chip whose document is removed before each of these commands, counted from 1, and placed again at once.
 */
function slipping(at: (count: number) => boolean, options: Partial<VirtualChipOptions> = {}) {
  const inner = chip(options);
  const sent = { count: 0, losses: 0 };
  const transport: ChipTransport = {
    maxCommandBytes: inner.maxCommandBytes,
    maxResponseBytes: inner.maxResponseBytes,
    extendedLength: inner.extendedLength,
    transceive: async (command) => {
      sent.count += 1;
      if (!at(sent.count)) return await inner.transceive(command);
      sent.losses += 1;
      await inner.reset();
      throw new Error("Tag was lost");
    },
  };
  return { transport, sent };
}

test("a chip that left the field is read on where it was, with a reader that waits for it", async () => {
  const whole = slipping(() => false);
  await (await openChip(whole.transport, { mrz: sampleKey }, terminal)).readFile("DG2");
  const opening = await (async () => {
    const { transport, sent } = slipping(() => false);
    await openChip(transport, { mrz: sampleKey }, terminal);
    return sent.count;
  })();
  // At every place after the chip was open: the selection of the file, its header, each block.
  for (let place = opening + 1; place <= whole.sent.count; place++) {
    const { transport, sent } = slipping((count) => count === place);
    const reads: number[] = [];
    const opened = await openChip(
      transport,
      { mrz: sampleKey },
      {
        ...terminal,
        waitsForReturn: () => true,
        onProgress: (progress) => {
          if (progress.kind === "reading") reads.push(progress.readBytes);
        },
      },
    );
    assert.deepEqual(await opened.readFile("DG2"), chipFiles.DG2);
    assert.equal(sent.losses, 1);
    assert.equal(new Set(reads).size, reads.length, "nothing is read twice");
  }
  // Two times in a row, the second time while it is being reopened.
  const twice = slipping((count) => count === opening + 2 || count === opening + 4);
  const opened = await openChip(
    twice.transport,
    { mrz: sampleKey },
    { ...terminal, waitsForReturn: () => true },
  );
  assert.deepEqual(await opened.readFile("DG2"), chipFiles.DG2);
  assert.equal(twice.sent.losses, 2);
});

test("a chip that leaves the field again and again is given up, and one that nobody waits for at once", async () => {
  let gone = false;
  const { transport, sent } = slipping(() => gone);
  const opened = await openChip(transport, { mrz: sampleKey }, { ...terminal, waitsForReturn: () => true });
  gone = true;
  await assert.rejects(opened.readFile("DG2"), { code: "CHIP_LOST" });
  assert.ok(sent.losses > 1 && sent.losses < 20, `${sent.losses} losses`);
  gone = false;
  const plain = await openChip(transport, { mrz: sampleKey }, terminal);
  gone = true;
  const before = sent.losses;
  await assert.rejects(plain.readFile("DG2"), { code: "CHIP_LOST" });
  assert.equal(sent.losses, before + 1);
});
