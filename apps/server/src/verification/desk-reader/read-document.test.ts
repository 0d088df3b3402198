import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { oids } from "@assay/emrtd/ber/oid";
import { tlv } from "@assay/emrtd/ber/write";
import { EmrtdError } from "@assay/emrtd/emrtd-error";
import { buildDg1 } from "@assay/emrtd/lds/dg1";
import { buildDg14 } from "@assay/emrtd/lds/dg14";
import { buildDg15 } from "@assay/emrtd/lds/dg15";
import type { CardReaders } from "@assay/emrtd/node/pcsc";
import { PcscError, type PcscReaderState } from "@assay/emrtd/node/pcscd-client";
import type { ChipProof } from "@assay/emrtd/verify/report";
import { createVirtualChip, type VirtualChipOptions } from "@assay/emrtd/virtual/virtual-chip";
import { specimenLines } from "../../../test/support/specimen-mrz.ts";
import { accessKeyFromTyped } from "./access-key.ts";
import { type DeskVerdict, readDocumentAtDesk } from "./read-document.ts";

const typedFields = { documentNumber: "L898902C3", dateOfBirth: "1974-08-12", dateOfExpiry: "2030-04-15" };
const ec = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
const rsa = generateKeyPairSync("rsa", { modulusLength: 1024 });
const spki = (key: { export(options: { format: "der"; type: "spki" }): Buffer }) =>
  new Uint8Array(key.export({ format: "der", type: "spki" }));
const pkcs8 = (key: { export(options: { format: "der"; type: "pkcs8" }): Buffer }) =>
  new Uint8Array(key.export({ format: "der", type: "pkcs8" }));

const documentFiles = {
  SOD: tlv(0x77, new Uint8Array(500)),
  DG1: buildDg1(specimenLines({ dateOfExpiry: "300415", secondaryName: "Anna Maria" })),
  DG2: tlv(0x75, new Uint8Array(9000)),
  DG14: buildDg14([
    { kind: "chipAuthentication", protocol: oids.chipAuthenticationEcdhAes128, version: 1 },
    {
      kind: "chipAuthenticationPublicKey",
      protocol: oids.publicKeyEcdh,
      subjectPublicKeyInfo: spki(ec.publicKey),
    },
  ]),
  DG15: buildDg15(spki(rsa.publicKey)),
};

function desk(options: Partial<VirtualChipOptions> = {}, states?: readonly PcscReaderState[][]) {
  const chip = createVirtualChip({
    files: documentFiles,
    mrzKey: { documentNumber: "L898902C3", dateOfBirth: "740812", dateOfExpiry: "300415" },
    chipAuthentication: [{ privateKey: pkcs8(ec.privateKey) }],
    activeAuthentication: { privateKey: pkcs8(rsa.privateKey) },
    ...options,
  });
  const reader = { name: "Desk 00 00", cardPresent: true, atr: new Uint8Array(0) };
  const queue = [...(states ?? [])];
  const readers: CardReaders = {
    list: async () => queue.shift() ?? [reader],
    connect: async () => ({ transport: chip, disconnect: async () => {} }),
    close: async () => {},
  };
  return readers;
}

/** Accepts any files and asks for the given proofs until one passes. */
function judge(...proofs: ChipProof[]): DeskVerdict {
  return {
    lines: ["verdict"],
    nextProof: proofs[0] ?? null,
    accepted: proofs.length === 0,
    withProof: (result) => ({
      ...judge(...proofs.slice(1)),
      accepted: result.passed,
      lines: [JSON.stringify(result)],
    }),
  };
}

async function read(
  readers: CardReaders,
  proofs: ChipProof[] = [],
  options: { saveTo?: string; waitSeconds?: number; lines?: string[] } = {},
) {
  const { waitSeconds = 2, lines = [], saveTo } = options;
  const accepted = await readDocumentAtDesk(
    { accessKey: accessKeyFromTyped(typedFields), waitSeconds, ...(saveTo === undefined ? {} : { saveTo }) },
    {
      readers,
      judge: () => judge(...proofs),
      print: (line) => lines.push(line),
      delay: async () => {},
      now: () => new Date("2026-11-15T12:00:00Z"),
    },
  );
  return { accepted, text: lines.join("\n") };
}

test("the desk reads a document and prints progress, holder and verdict", async () => {
  const { accepted, text } = await read(desk());
  assert.equal(accepted, true);
  assert.match(text, /Opened with BAC/);
  assert.match(text, /Read DG2: 9004 bytes/);
  assert.match(text, /ANNA MARIA ERIKSSON/);
  assert.match(text, /Born: {9}1974-08-12/);
  assert.match(text, /verdict/);
});

test("the chip proves itself by agreement and by signature, and a copy by neither", async () => {
  const proofs: ChipProof[] = ["chip_authentication", "active_authentication"];
  for (const proof of proofs) {
    const genuine = await read(desk(), [proof]);
    assert.equal(genuine.accepted, true, genuine.text);
    const copy = await read(desk({ clone: true }), [proof]);
    assert.equal(copy.accepted, false);
    assert.match(copy.text, /"passed":false,"reason":"[a-z_]+"/);
  }
});

test("a chip that knows only one way into chip authentication with triple DES is asked in that way", async () => {
  const dg14 = buildDg14([
    { kind: "chipAuthentication", protocol: oids.chipAuthenticationEcdh3Des, version: 1 },
    {
      kind: "chipAuthenticationPublicKey",
      protocol: oids.publicKeyEcdh,
      subjectPublicKeyInfo: spki(ec.publicKey),
    },
  ]);
  for (const refuseKeyAgreementTemplate of [false, true]) {
    const files = { ...documentFiles, DG14: dg14 };
    const read3Des = await read(desk({ files, quirks: { refuseKeyAgreementTemplate } }), [
      "chip_authentication",
    ]);
    assert.equal(read3Des.accepted, true, read3Des.text);
  }
});

test("nothing is saved unless asked for, and then for the owner only and never over something", async () => {
  const folder = mkdtempSync(join(tmpdir(), "assay-desk-"));
  try {
    await read(desk());
    assert.deepEqual(readdirSync(folder), []);
    const target = join(folder, "document");
    await read(desk(), [], { saveTo: target });
    assert.deepEqual(readdirSync(target).sort(), ["DG1.bin", "DG14.bin", "DG15.bin", "DG2.bin", "SOD.bin"]);
    assert.equal(statSync(join(target, "DG1.bin")).mode & 0o777, 0o600);
    assert.equal(statSync(target).mode & 0o777, 0o700);
    assert.deepEqual(new Uint8Array(readFileSync(join(target, "DG2.bin"))), documentFiles.DG2);
    await assert.rejects(read(desk(), [], { saveTo: target }), { code: "EEXIST" });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("the desk waits for a card, names the readers, and gives up in time", async () => {
  const empty = [{ name: "Desk 00 00", cardPresent: false, atr: new Uint8Array(0) }];
  const waited = await read(desk({}, [empty, empty]));
  assert.match(waited.text, /Put the document on the reader: Desk 00 00/);
  await assert.rejects(
    read(
      desk(
        {},
        Array.from({ length: 8 }, () => empty),
      ),
    ),
    { code: "CHIP_LOST", message: /in time/ },
  );
  await assert.rejects(read(desk({}, [[]])), { code: "CHIP_LOST", message: /No reader/ });
});

const slippedNotice = "The document left the reader. Put it back.";

function times(text: string, line: string): number {
  return text.split("\n").filter((candidate) => candidate === line).length;
}

/** Readers with something in front of every command to the chip. */
function onCommand(readers: CardReaders, before: () => void): CardReaders {
  return {
    ...readers,
    connect: async (name) => {
      const { transport, disconnect } = await readers.connect(name);
      const transceive = async (command: Uint8Array) => {
        before();
        return await transport.transceive(command);
      };
      return { disconnect, transport: { ...transport, transceive } };
    },
  };
}

/** A reader whose document slips off in these connections, after as many commands; 0: on connecting. */
function slippery(slips: readonly number[], states?: readonly PcscReaderState[][]) {
  const lost = () => new EmrtdError("CHIP_LOST", "SCardConnect: there is no card in the reader");
  let connections = 0;
  let commandsLeft = 0;
  const answering = onCommand(desk({}, states), () => {
    if (commandsLeft-- <= 0) throw lost();
  });
  const readers: CardReaders = {
    ...answering,
    connect: async (name) => {
      commandsLeft = slips[connections++] ?? Number.POSITIVE_INFINITY;
      if (commandsLeft === 0) throw lost();
      return await answering.connect(name);
    },
  };
  return { readers, connections: () => connections };
}

const state = (cardPresent: boolean): PcscReaderState[] => [
  { name: "Desk 00 00", cardPresent, atr: new Uint8Array(0) },
];

test("a document that leaves the reader is waited for, at whichever command it left", async () => {
  let commands = 0;
  const counted = onCommand(desk(), () => commands++);
  await read(counted, ["chip_authentication"]);
  assert.ok(commands > 20);
  for (let slip = 0; slip < commands; slip++) {
    const { accepted, text } = await read(slippery([slip]).readers, ["chip_authentication"]);
    assert.equal(accepted, true, `${slip}: ${text}`);
    assert.equal(times(text, slippedNotice), 1, `${slip}: ${text}`);
  }
});

test("what was read is kept when the document slips off during its proof, and saved once", async () => {
  const folder = mkdtempSync(join(tmpdir(), "assay-desk-"));
  try {
    const lines: string[] = [];
    let slipped = false;
    const readers = onCommand(desk(), () => {
      if (slipped || !lines.at(-1)?.startsWith("Asking the chip")) return;
      slipped = true;
      throw new Error("no answer");
    });
    const saveTo = join(folder, "document");
    const { accepted, text } = await read(readers, ["chip_authentication"], { saveTo, lines });
    assert.equal(accepted, true, text);
    assert.equal(times(text, slippedNotice), 1);
    assert.equal(times(text, "Read DG2: 9004 bytes"), 1);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a copy that is put back in place of the document does not pass for it", async () => {
  const lines: string[] = [];
  const copy = desk({ clone: true });
  let taken = false;
  const genuine = onCommand(desk(), () => {
    taken ||= lines.at(-1)?.startsWith("Asking the chip") ?? false;
    if (taken) throw new Error("no answer");
  });
  const readers: CardReaders = {
    ...genuine,
    connect: async (name) => await (taken ? copy : genuine).connect(name),
  };
  const { accepted, text } = await read(readers, ["chip_authentication"], { lines });
  assert.equal(times(text, slippedNotice), 1);
  assert.equal(accepted, false, text);
});

test("a card that is said to be there after it left is not taken for one that came back", async () => {
  // Present, lost on connecting, said to be there a little longer, gone, and back.
  const { readers, connections } = slippery(
    [0],
    [state(true), state(true), state(true), state(false), state(false)],
  );
  const { accepted, text } = await read(readers);
  assert.equal(accepted, true);
  assert.equal(connections(), 2);
  assert.equal(times(text, slippedNotice), 1);
  assert.doesNotMatch(text, /Put the document on/);
});

test("the desk does not wait without end for a document that keeps leaving", async () => {
  const restless = slippery([0, 5, 0, 3, 9]);
  await assert.rejects(read(restless.readers, [], { waitSeconds: 3600 }), { code: "CHIP_LOST" });
  assert.equal(restless.connections(), 4);

  // Two seconds are eight polls, for all waiting together. The second poll finds a card.
  let looks = 0;
  const leaving = slippery([0]);
  await assert.rejects(read({ ...leaving.readers, list: async () => state(looks++ === 1) }), {
    code: "CHIP_LOST",
    message: /in time/,
  });
  assert.equal(looks, 9);
});

test("what waiting does not mend ends the reading at once", async () => {
  let connections = 0;
  const taken: CardReaders = {
    ...desk(),
    connect: async () => {
      connections++;
      throw new PcscError("SCardConnect", 0x8010000b);
    },
  };
  await assert.rejects(read(taken), { name: "PcscError", message: /exclusively/ });
  assert.equal(connections, 1);

  // Without a waiting time there is no second connection.
  const lost = slippery([0]);
  await assert.rejects(read(lost.readers, [], { waitSeconds: 0 }), { message: /no card in the reader/ });
  assert.equal(lost.connections(), 1);
});

test("what was typed becomes a key, or an error that names what is missing", () => {
  assert.deepEqual(accessKeyFromTyped({ can: "123456" }), { can: "123456" });
  assert.throws(() => accessKeyFromTyped({ can: "12345" }), { message: /six digits/ });
  assert.throws(() => accessKeyFromTyped({ can: "123456", documentNumber: "X" }), { message: /not both/ });
  assert.throws(() => accessKeyFromTyped({ documentNumber: "X1" }), { message: /date of birth/ });
  assert.throws(() => accessKeyFromTyped({ ...typedFields, dateOfBirth: "soon" }), {
    message: /date of birth/,
  });
});
