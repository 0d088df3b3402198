import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { compileFunction } from "node:vm";
import { problemOf } from "@assay/device/answer-command";
import { toHex } from "@assay/emrtd/bytes";
import { ldsApplicationId } from "@assay/emrtd/lds/chip-files";
import { testDocuments } from "@assay/emrtd/node/test-country/catalogue";
import { createVirtualChip, type VirtualChipOptions } from "@assay/emrtd/virtual/virtual-chip";
import type { ShellTransport } from "../device/chip-transport.ts";
import { shellSource } from "./shell-document.ts";

const script = readFileSync(
  new URL("../../../ios/Shared/Resources/chip-transport.js", import.meta.url),
  "utf8",
);

class MemoryStorage {
  [key: string]: unknown;

  constructor(entries: Readonly<Record<string, string>> = {}) {
    Object.assign(this, entries);
    const hidden = (name: string, value: unknown) => Object.defineProperty(this, name, { value });
    hidden("getItem", (key: string) => (Object.hasOwn(this, key) ? this[key] : null));
    hidden("setItem", (key: string, value: string) => {
      this[key] = value;
    });
  }
}

type Listener = () => void;
type Facts = { reader: "ready" | "absent"; kept?: Record<string, Record<string, string>> };

/** A web view that has the script run as PageController.swift does. */
function webView(
  native: { postMessage(message: string): Promise<string> },
  { facts = { reader: "ready" }, framed = false }: { facts?: Facts; framed?: boolean } = {},
) {
  const listeners = new Map<string, Listener>();
  const listen = (type: string, listener: Listener) => listeners.set(type, listener);
  const window = {
    webkit: { messageHandlers: { chip: native } },
    sessionStorage: new MemoryStorage(),
    localStorage: new MemoryStorage(),
    addEventListener: listen,
  } as {
    top?: object;
    chipTransport?: ShellTransport;
    sessionStorage: MemoryStorage;
    localStorage: MemoryStorage;
  };
  window.top = framed ? {} : window;
  const document = { visibilityState: "visible", addEventListener: listen };
  compileFunction(script, ["window", "document", "shellFacts"])(window, document, facts);
  return {
    window,
    hide: () => {
      document.visibilityState = "hidden";
      listeners.get("visibilitychange")?.();
    },
  };
}

const documents = testDocuments(new Date("2026-11-15T00:00:00Z"));

function passport(options: Partial<VirtualChipOptions> = {}) {
  const found = documents.find(({ id }) => id === "passport-valid");
  assert.ok(found);
  const { mrzKey, ...keys } = found.chip;
  const chip = createVirtualChip({
    ...keys,
    files: found.files,
    mrzKey,
    applicationSelected: true,
    ...options,
  });
  return { files: found.files, key: { mrz: mrzKey }, chip };
}

type Chip = ReturnType<typeof passport>["chip"];

/** The native half as ChipReader.swift has it: one sheet, in which a chip may be lost and found again. */
function phone(
  chip: Chip,
  state: { loseAt?: readonly number[]; sheetEnds?: string; selects?: boolean } = {},
) {
  const heard: string[] = [];
  const sent: Uint8Array[] = [];
  let sheets = 0;
  let open = false;
  const selected = state.selects === false ? 0 : 1;
  const carry = async (hex: string) => {
    if (!open) sheets += 1;
    open = true;
    sent.push(Buffer.from(hex, "hex"));
    if (state.sheetEnds !== undefined) {
      open = false;
      return `lost ${state.sheetEnds} ${selected}`;
    }
    if (state.loseAt?.includes(sent.length)) {
      await chip.reset();
      return `lost left ${selected}`;
    }
    const answer = await chip.transceive(Buffer.from(hex, "hex"));
    return `answer ${Buffer.from(answer).toString("hex")} ${selected}`;
  };
  return {
    heard,
    sent,
    sheets: () => sheets,
    isOpen: () => open,
    postMessage: async (message: string) => {
      const [kind, hex = ""] = message.split(" ");
      heard.push(message);
      if (kind === "transceive") return await carry(hex);
      if (kind === "reset") await chip.reset();
      if (kind === "cancel") open = false;
      return `done ${selected}`;
    },
  };
}

function transportOf(native: { postMessage(message: string): Promise<string> }): ShellTransport {
  const { chipTransport } = webView(native).window;
  assert.ok(chipTransport);
  return chipTransport;
}

async function readAll(transport: ShellTransport, key: ReturnType<typeof passport>["key"]) {
  const opened = await shellSource(transport, key)(() => {});
  return { opened, files: await opened.readFiles() };
}

for (const [name, options] of [
  ["has the application selected already", {}],
  ["refuses to leave it", { quirks: { refuseSelectMasterFile: true } }],
  ["opens only with PACE", { withoutBac: true, applicationSelected: false }],
] as const) {
  test(`the page reads a whole chip through the iPhone shell's script, one that ${name}`, async () => {
    const { chip, files, key } = passport(options);
    const native = phone(chip, { selects: !("applicationSelected" in options) });
    const { opened, files: read } = await readAll(transportOf(native), key);
    for (const file of ["DG1", "DG2", "DG14", "DG15", "SOD"] as const) {
      assert.ok(read[file] !== undefined && files[file] !== undefined, file);
      assert.deepEqual(Buffer.from(read[file]), Buffer.from(files[file]), file);
    }
    assert.equal(native.sheets(), 1);
    // iOS carries no SELECT of an application that Info.plist does not name.
    const byName = native.sent.filter(([cla, ins, p1]) => cla === 0 && ins === 0xa4 && p1 === 0x04);
    for (const command of byName) assert.equal(toHex(command.slice(5, 12)), toHex(ldsApplicationId));
    assert.ok(native.sent.every(({ length }) => length <= 261));
    assert.ok(native.heard.includes("progress portrait 50"), "the sheet is told how far it is");
    const told = native.heard.filter((message) => message.startsWith("progress"));
    assert.ok(
      told.every((message, index) => message !== told[index - 1]),
      "and nothing twice in a row",
    );
    opened.release();
    assert.equal(native.isOpen(), false);
  });
}

test("a document that slips goes on in the same sheet, without a new beginning by the person", async () => {
  const { chip, key } = passport();
  const native = phone(chip, { loseAt: [4, 30, 60] });
  const { files } = await readAll(transportOf(native), key);
  assert.ok(files.DG2);
  assert.equal(native.sheets(), 1);
  assert.ok(!native.heard.includes("cancel"));
});

test("a document that keeps slipping is given up, and the sheet closed", async () => {
  const { chip, key } = passport();
  const native = phone(chip, { loseAt: [4, 8, 12, 16] });
  await assert.rejects(readAll(transportOf(native), key), (error) => problemOf(error) === "lost");
  assert.equal(native.sent.length, 16);
  await new Promise(setImmediate);
  assert.equal(native.isOpen(), false);
});

for (const reason of ["cancelled", "timeout", "busy", "unavailable", "refused"]) {
  test(`a sheet that ended (${reason}) is not opened again by itself, and the page is told why`, async () => {
    const { chip, key } = passport();
    const native = phone(chip, { sheetEnds: reason });
    const transport = transportOf(native);
    await assert.rejects(transport.transceive(Uint8Array.of(0)), { reason });
    await assert.rejects(readAll(transport, key), (error) => problemOf(error) === "lost");
    assert.equal(native.sent.length, 2);
  });
}

test("a chip that refuses every session after one was lost is reset by the phone", async () => {
  const { chip, key } = passport({ quirks: { loseSessionAfterCommands: 12, closedUntilReset: 0x6985 } });
  const native = phone(chip);
  const { files } = await readAll(transportOf(native), key);
  assert.ok(files.DG2);
  assert.ok(native.heard.includes("reset"));
});

test("a key that does not open the chip closes the sheet and is told as one", async () => {
  const { chip, key } = passport();
  const native = phone(chip);
  const wrong = { mrz: { ...key.mrz, dateOfExpiry: "310101" } };
  await assert.rejects(readAll(transportOf(native), wrong), (error) => problemOf(error) === "key");
  assert.equal(native.isOpen(), false);
});

test("the page learns when a chip will not have the application selected", async () => {
  const { chip } = passport();
  const transport = transportOf(phone(chip, { selects: false, sheetEnds: "timeout" }));
  assert.equal(transport.applicationSelected, true);
  await assert.rejects(transport.transceive(Uint8Array.of(0)));
  assert.equal(transport.applicationSelected, false);
});

test("what the page stored is kept when the app goes to the background, and found again in a new web view", () => {
  const heard: string[] = [];
  const native = {
    postMessage: async (message: string) => {
      heard.push(message);
      return "done 1";
    },
  };
  const first = webView(native);
  first.window.sessionStorage["assay:vs_1:reading"] = "token";
  first.window.localStorage["assay:devices"] = "name";
  first.window.localStorage.other = "not ours";
  first.hide();
  const [kept = ""] = heard;
  assert.ok(kept.startsWith("keep "));
  const entries = JSON.parse(kept.slice("keep ".length));
  assert.deepEqual(entries, {
    session: { "assay:vs_1:reading": "token" },
    device: { "assay:devices": "name" },
  });
  const second = webView(native, { facts: { reader: "ready", kept: entries } });
  assert.equal(second.window.sessionStorage["assay:vs_1:reading"], "token");
  assert.equal(second.window.localStorage["assay:devices"], "name");
  // Once the session has ended there is nothing left to keep.
  const third = webView(native);
  third.hide();
  assert.equal(heard.at(-1), "keep ");
});

test("a frame gets no transport, nor does a page on a phone without a reader", () => {
  const native = { postMessage: async () => "done 1" };
  assert.equal(webView(native, { framed: true }).window.chipTransport, undefined);
  assert.equal(webView(native, { facts: { reader: "absent" } }).window.chipTransport, undefined);
});
