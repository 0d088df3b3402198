import assert from "node:assert/strict";
import { test } from "node:test";
import { checker, specimen, today, utopia, utopiaTrust } from "../../test/support/test-country.ts";
import { decodeCommand } from "../apdu/command.ts";
import type { ChipTransport } from "../apdu/transport.ts";
import { fromHex, toHex } from "../bytes.ts";
import { buildCom } from "../lds/com.ts";
import { type PersonalisationRequest, personalise } from "../node/test-country/personalise.ts";
import { readPortrait } from "../node/test-country/portraits.ts";
import { signerProfile } from "../node/test-country/signer-profiles.ts";
import { defaultPolicy } from "../verify/policy.ts";
import { verifyDocument } from "../verify/verify-document.ts";
import { documentFilesOf } from "../virtual/test-document.ts";
import {
  createVirtualChip,
  type VirtualChipOptions,
  type VirtualChipQuirks,
} from "../virtual/virtual-chip.ts";
import { carryCommands } from "./carry-commands.ts";
import { type AccessMethod, openChip } from "./open-chip.ts";
import { readDocument } from "./read-document.ts";

/** Chips that behave like those at which readers of others failed. */

function document(request: Partial<PersonalisationRequest> = {}) {
  return personalise({
    country: utopia,
    can: "123456",
    portrait: readPortrait("adult.jpg"),
    profile: signerProfile("brainpoolP256r1-sha256-explicit"),
    mrz: specimen,
    ...request,
  });
}

const plain = document({ activeAuthentication: "ecdsa" });
const key = { mrz: plain.chip.mrzKey };

type Sent = { readonly transport: ChipTransport; readonly commands: Uint8Array[]; resets(): number };

/** The chip as a reader sees it. A phone cannot reset it. */
function reader(
  chip: ChipTransport,
  canReset: boolean,
  limits: Partial<Pick<ChipTransport, "extendedLength" | "maxCommandBytes" | "maxResponseBytes">> = {},
): Sent {
  const commands: Uint8Array[] = [];
  let resets = 0;
  const {
    maxCommandBytes,
    maxResponseBytes,
    extendedLength,
    applicationSelected = false,
  } = { ...chip, ...limits };
  const transport: ChipTransport = {
    maxCommandBytes,
    maxResponseBytes,
    extendedLength,
    applicationSelected,
    transceive: async (command) => {
      commands.push(command);
      return await chip.transceive(command);
    },
  };
  const reset = async () => {
    resets++;
    await chip.reset?.();
  };
  return { transport: canReset ? { ...transport, reset } : transport, commands, resets: () => resets };
}

function chipOf(options: Partial<VirtualChipOptions> = {}, made = plain) {
  const { mrzKey, can, pace } = made.chip;
  const { chipAuthentication, activeAuthentication } = made.chip;
  return createVirtualChip({
    files: made.files,
    mrzKey,
    can,
    pace,
    chipAuthentication,
    activeAuthentication,
    ...options,
  });
}

/** After the first session, this reader may send nothing in the clear except what opens the next one. */
function sentInTheClear(commands: readonly Uint8Array[]): readonly string[] {
  const first = commands.findIndex((command) => ((command[0] ?? 0) & 0x0c) === 0x0c);
  const opening = new Set([0xa4, 0x84, 0x82, 0x22, 0x86]);
  return commands
    .slice(Math.max(first, 0))
    .filter((command) => {
      const { cla, ins, p1, data } = decodeCommand(command);
      const selectsGroup = ins === 0xa4 && p1 === 0x02 && data[0] === 0x01 && data[1] !== 0x1c;
      return (cla & 0x0c) === 0 && ins !== 0xc0 && ins !== 0xb0 && (selectsGroup || !opening.has(ins));
    })
    .map(toHex);
}

type Case = {
  readonly says: string;
  readonly quirks: VirtualChipQuirks;
  readonly options?: Partial<VirtualChipOptions>;
  /** The result on a phone, which cannot reset a chip: all files, or advice to place the document again. */
  readonly onPhone: "read" | "laid down again";
};

const bacOnly = { pace: [] } as const;
const extendedInfo = fromHex("43 01 B8 47 03 B4 C5 C0 7F66 08 02 02 0400 02 02 0200 00 00");
const shortInfo = fromHex("43 01 B8 47 03 B4 C5 80 00 00");

const cases: readonly Case[] = [
  { says: "nothing odd", quirks: {}, onPhone: "read" },
  {
    says: "an unprotected 6700 for whatever is long",
    quirks: { refuseExtendedLength: true, plainRefusals: true, closedUntilReset: 0x6985 },
    onPhone: "read",
  },
  {
    says: "an unprotected 6700 for a long READ BINARY alone",
    quirks: { refuseExtendedReads: true, plainRefusals: true },
    onPhone: "read",
  },
  {
    says: "an unprotected 6700 for a long READ BINARY, and 6985 until a reset",
    quirks: { refuseExtendedReads: true, plainRefusals: true, closedUntilReset: 0x6985 },
    onPhone: "laid down again",
  },
  {
    says: "an unprotected 6700 for a long READ BINARY, and 6D00 until a reset",
    quirks: { refuseExtendedReads: true, plainRefusals: true, closedUntilReset: 0x6d00 },
    onPhone: "laid down again",
  },
  {
    says: "an unprotected 6700 for a long READ BINARY, and 6A82 until a reset",
    quirks: { refuseExtendedReads: true, plainRefusals: true, closedUntilReset: 0x6a82 },
    onPhone: "laid down again",
  },
  {
    says: "EF.ATR/INFO that allows no long command, which would cost the session",
    quirks: { refuseExtendedReads: true, plainRefusals: true, closedUntilReset: 0x6985 },
    options: { files: { ...plain.files, AtrInfo: shortInfo } },
    onPhone: "read",
  },
  {
    says: "EF.ATR/INFO that allows answers of 512 bytes, and no longer one",
    quirks: { maxReadBytes: 495, onLongRead: "lose-session", closedUntilReset: 0x6985 },
    options: { files: { ...plain.files, AtrInfo: extendedInfo } },
    onPhone: "read",
  },
  { says: "answers in pieces with 61xx", quirks: { pieceBytes: 100 }, onPhone: "read" },
  {
    says: "160 bytes at a time",
    quirks: { maxReadBytes: 160, onLongRead: "fewer-bytes" },
    onPhone: "read",
  },
  {
    says: "6700 for more than 160 bytes",
    quirks: { maxReadBytes: 160, onLongRead: "wrong-length" },
    onPhone: "read",
  },
  {
    says: "6CA0 for more than 160 bytes",
    quirks: { maxReadBytes: 160, tellsRightLength: true },
    onPhone: "read",
  },
  {
    says: "an unprotected 6700 for more than 160 bytes",
    quirks: { maxReadBytes: 160, plainRefusals: true },
    onPhone: "read",
  },
  {
    says: "no EF.COM, and an unprotected 6A82 for it",
    quirks: { plainRefusals: true, closedUntilReset: 0x6985 },
    options: { files: withoutFile("COM") },
    onPhone: "read",
  },
  {
    says: "an EF.COM that names files which are not there",
    quirks: { plainRefusals: true, closedUntilReset: 0x6985 },
    options: { files: { ...plain.files, COM: buildCom([3, 4, 7, 11, 12, 16]) } },
    onPhone: "read",
  },
  {
    says: "an application that was selected before",
    quirks: {},
    options: { applicationSelected: true },
    onPhone: "read",
  },
  {
    says: "an application that was selected before, and no way to the master file",
    quirks: { refuseSelectMasterFile: true },
    options: { applicationSelected: true },
    onPhone: "read",
  },
];

function withoutFile(name: "COM" | "DG14" | "DG15") {
  const { [name]: _, ...files } = plain.files;
  return files;
}

for (const { says, quirks, options = {}, onPhone } of cases) {
  for (const method of ["PACE", "BAC"] as const satisfies readonly AccessMethod[]) {
    const make = () => chipOf({ quirks, ...options, ...(method === "BAC" ? bacOnly : {}) });

    test(`a chip with ${says} is read whole at a desk, after ${method}`, async () => {
      const desk = reader(make(), true);
      const files = await readDocument(await openChip(desk.transport, key), today);
      assert.deepEqual(Object.keys(files).sort(), ["DG1", "DG14", "DG15", "DG2", "SOD"]);
      for (const name of ["SOD", "DG1", "DG2", "DG14", "DG15"] as const)
        assert.deepEqual(files[name], plain.files[name], name);
      assert.deepEqual(sentInTheClear(desk.commands), []);
      if (onPhone === "read") assert.equal(desk.resets(), 0);
    });

    test(`a chip with ${says} is ${onPhone} by a phone, after ${method}`, async () => {
      const chip = make();
      const phone = reader(chip, false);
      const read = async () => readDocument(await openChip(phone.transport, key), today);
      if (onPhone === "laid down again") {
        await assert.rejects(read(), { code: "RESET_NEEDED" });
        assert.deepEqual(sentInTheClear(phone.commands), []);
        await chip.reset?.();
      }
      // Laid down once more, the chip is not lost in the same way again.
      assert.deepEqual((await read()).DG2, plain.files.DG2);
    });
  }
}

for (const [method, options] of [
  ["PACE", {}],
  ["BAC", bacOnly],
] as const) {
  for (const word of [0x6985, 0x6d00, 0x6a82, 0x6f00]) {
    const inHex = word.toString(16).toUpperCase();
    test(`a chip that refuses everything with ${inHex} from the first long command on is to be laid down again, and is read then, by ${method}`, async () => {
      const inner = chipOf(options);
      let isDead = false;
      const lay = () => {
        isDead = false;
      };
      const { transport, resets } = reader(
        {
          ...inner,
          reset: async () => {
            lay();
            await inner.reset?.();
          },
          transceive: async (command) => {
            // The long form has a zero in the place of the length, and more behind it.
            if (command.length > 5 && command[4] === 0) isDead = true;
            return isDead ? Uint8Array.of(word >> 8, word & 0xff) : await inner.transceive(command);
          },
        },
        false,
      );
      await assert.rejects(openChip(transport, key), { code: "RESET_NEEDED" });
      lay();
      const opened = await openChip(transport, key);
      assert.equal(opened.accessMethod, method);
      assert.deepEqual((await readDocument(opened, today)).DG2, plain.files.DG2);
      assert.equal(resets(), 0);
    });
  }
}

test("a card without the application is not asked to be laid down again", async () => {
  const phone = reader({ ...chipOf(), transceive: async () => Uint8Array.of(0x6a, 0x82) }, false);
  await assert.rejects(openChip(phone.transport, key), { code: "FILE_NOT_FOUND" });
});

test("a chip that does not find back to the application is opened without leaving it, once it was reset", async () => {
  const desk = reader(
    chipOf({ ...bacOnly, applicationSelected: true, quirks: { leavesApplicationForGood: true } }),
    true,
  );
  const opened = await openChip(desk.transport, key);
  assert.equal(opened.accessMethod, "BAC");
  assert.deepEqual((await readDocument(opened, today)).DG1, plain.files.DG1);
  assert.equal(desk.resets(), 1);
});

for (const missing of ["DG14", "DG15"] as const) {
  test(`a document whose security object names ${missing}, and whose chip says without protection that it has none, is read and refused`, async () => {
    const desk = reader(chipOf({ files: withoutFile(missing), quirks: { plainRefusals: true } }), false);
    const files = await readDocument(await openChip(desk.transport, key), today);
    assert.equal(files[missing], undefined);
    assert.deepEqual(files.DG2, plain.files.DG2);
    assert.deepEqual(sentInTheClear(desk.commands), []);
    const { report } = verifyDocument({
      files: documentFilesOf({ files }),
      trust: utopiaTrust,
      policy: defaultPolicy,
      now: today,
      checker,
    });
    assert.equal(report.level, null);
    const failed = report.checks.find(({ outcome }) => outcome === "failed");
    assert.equal(failed?.reason, `${missing.toLowerCase()}_declared_but_missing`);
  });
}

test("a document whose security object does not name DG14 and DG15 is not asked for them", async () => {
  const bare = document();
  const desk = reader(chipOf({ quirks: { plainRefusals: true, closedUntilReset: 0x6985 } }, bare), false, {
    extendedLength: false,
    maxResponseBytes: 258,
    maxCommandBytes: 261,
  });
  const files = await readDocument(await openChip(desk.transport, key), today);
  assert.deepEqual(Object.keys(files).sort(), ["DG1", "DG2", "SOD"]);
});

test("DG11 is read when the zone leaves the century of birth open, and never otherwise", async () => {
  const read = async (dateOfBirth: string, details: PersonalisationRequest["details"]) => {
    const made = document({
      mrz: { ...specimen, dateOfBirth },
      ...(details === undefined ? {} : { details }),
    });
    const asked: string[] = [];
    const opened = await openChip(
      chipOf({}, made),
      { mrz: made.chip.mrzKey },
      {
        onProgress: (progress) => {
          if (progress.kind === "reading") asked.push(progress.file);
        },
      },
    );
    const files = await readDocument(opened, today);
    assert.equal(asked.includes("DG11"), files.DG11 !== undefined);
    return files.DG11 !== undefined;
  };
  const details = { fullDateOfBirth: "19740812" };
  assert.equal(await read("740812", details), false);
  assert.equal(await read("150812", { fullDateOfBirth: "19150812" }), true);
  assert.equal(await read("150812", { fullDateOfBirth: "20150812" }), true);
  assert.equal(await read("150812", undefined), false);
});

test("a session that was lost with the last file is opened again for the proof, and no proof is sent in the clear", async () => {
  const desk = reader(chipOf({ quirks: { plainRefusals: true } }), false);
  const opened = await openChip(desk.transport, key);
  await assert.rejects(opened.readFile("DG12"), { code: "FILE_NOT_FOUND" });
  const challenge = { kind: "challenge", commands: [new Uint8Array(8)] } as const;
  assert.equal((await carryCommands(opened, challenge)).length, 1);
  assert.deepEqual(sentInTheClear(desk.commands), []);
});

test("a session that cannot be opened again is reported, and no command follows it in the clear", async () => {
  const quirks = { plainRefusals: true, closedUntilReset: 0x6985 };
  const phone = reader(chipOf({ quirks }), false);
  const opened = await openChip(phone.transport, key);
  await assert.rejects(opened.readFile("DG12"), { code: "FILE_NOT_FOUND" });
  const challenge = { kind: "challenge", commands: [new Uint8Array(8)] } as const;
  await assert.rejects(carryCommands(opened, challenge), { code: "RESET_NEEDED" });
  await assert.rejects(opened.readFile("DG1"), { code: "RESET_NEEDED" });
  await assert.rejects(opened.send({ cla: 0, ins: 0xb0, p1: 0, p2: 0, expectedBytes: 1 }), {
    code: "SECURE_MESSAGING_FAILED",
  });
  assert.deepEqual(sentInTheClear(phone.commands), []);
});

test("a chip that does not come back from a reset is lost", async () => {
  const quirks = { refuseExtendedReads: true, plainRefusals: true, closedUntilReset: 0x6985 };
  const { transport } = reader(chipOf({ quirks }), true);
  const reset = async () => {
    throw new Error("no answer");
  };
  const opened = await openChip({ ...transport, reset }, key);
  await assert.rejects(opened.readFile("DG2"), { code: "CHIP_LOST" });
});

test("a chip that had a session and then knows no access control is not taken for one that is open to everybody", async () => {
  const inner = chipOf(bacOnly);
  let lost = false;
  const { transport, commands } = reader(
    {
      ...inner,
      transceive: async (command) => {
        if (lost && command[1] === 0x84) return Uint8Array.of(0x6d, 0x00);
        if (lost && ((command[0] ?? 0) & 0x0c) === 0x0c) return Uint8Array.of(0x69, 0x88);
        return await inner.transceive(command);
      },
    },
    false,
  );
  const opened = await openChip(transport, key);
  lost = true;
  await assert.rejects(opened.readFile("DG1"), { code: "RESET_NEEDED" });
  assert.deepEqual(sentInTheClear(commands), []);
});
