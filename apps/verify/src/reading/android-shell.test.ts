import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test, { type TestContext } from "node:test";
import { compileFunction } from "node:vm";
import { problemOf } from "@assay/device/answer-command";
import type { FrameVoucher } from "@assay/device/drive-device";
import { isEmrtdError } from "@assay/emrtd/emrtd-error";
import { testDocuments } from "@assay/emrtd/node/test-country/catalogue";
import { createVirtualChip } from "@assay/emrtd/virtual/virtual-chip";
import type { ShellTransport } from "../device/chip-transport.ts";
import { shellSource } from "./shell-document.ts";

const script = readFileSync(new URL("../../../android/assets/chip-transport.js", import.meta.url), "utf8");

type Heard = { source: object | null; data: unknown; ports: readonly MessagePort[] };

const antenna = { at: "top", fromTop: 0.2, fromLeft: 0.5, toldBy: "phone" } as const;
const facts = { reader: "ready", antenna, kept: null as Record<string, string> | null };

/** The part of the browser that the script uses. */
function sessionStorageOf(entries: Record<string, string> = {}) {
  const methods = {
    getItem: (key: string) => entries[key] ?? null,
    setItem: (key: string, value: string) => {
      entries[key] = value;
    },
    removeItem: (key: string) => {
      delete entries[key];
    },
  };
  return new Proxy(entries, {
    get: (target, key) => methods[key as keyof typeof methods] ?? target[key as string],
  });
}

/** A window with the shell's script in it. */
function windowWithScript({
  top,
  shellFacts = facts,
  sessionStorage = sessionStorageOf(),
}: {
  top?: object;
  shellFacts?: typeof facts;
  sessionStorage?: ReturnType<typeof sessionStorageOf>;
} = {}) {
  const listeners: ((event: Heard) => void)[] = [];
  const changes: string[] = [];
  const window = {
    addEventListener: (_type: string, listener: (event: Heard) => void) => listeners.push(listener),
    dispatchEvent: ({ type }: Event) => changes.push(type),
    sessionStorage,
  } as { top?: object; chipTransport?: ShellTransport; frameVoucher?: FrameVoucher };
  window.top = top ?? window;
  compileFunction(script, ["window", "shellFacts"])(window, shellFacts);
  return {
    transport: window.chipTransport,
    voucher: window.frameVoucher,
    changes,
    hear: (event: Heard) => {
      for (const listener of listeners) listener(event);
    },
  };
}

function pageWithScript(options: Parameters<typeof windowWithScript>[0] = {}) {
  const { transport, ...rest } = windowWithScript(options);
  assert.ok(transport);
  return { transport, ...rest };
}

const documents = testDocuments(new Date("2026-11-15T00:00:00Z"));

function passport() {
  const found = documents.find(({ id }) => id === "passport-valid");
  assert.ok(found);
  const { mrzKey, ...keys } = found.chip;
  return {
    files: found.files,
    key: { mrz: mrzKey },
    chip: createVirtualChip({ ...keys, files: found.files, mrzKey }),
  };
}

/** The native half as ChipReader.java has it, with a software chip in its field. */
function phone(
  t: TestContext,
  chip: { transceive(command: Uint8Array): Promise<Uint8Array>; reset?(): Promise<void> },
) {
  const { port1: page, port2: native } = new MessageChannel();
  t.after(() => native.close());
  const state = {
    page,
    limits: "limits 261 258 0",
    sent: [] as Uint8Array[],
    cancels: 0,
    connections: 0,
    connected: false,
    loseAt: 0,
    waiting: null as string | null,
    inField: true,
    resets: 0,
    others: [] as string[],
    tell: (message: string) => native.postMessage(message),
  };
  native.onmessage = async ({ data }: { data: string }) => {
    const [kind, number = "", hex = ""] = data.split(" ");
    if (kind === "cancel") {
      state.cancels += 1;
      state.connected = false;
      if (state.waiting !== null) native.postMessage(`lost ${state.waiting}`);
      state.waiting = null;
      return;
    }
    if (kind === "reset") {
      state.resets += 1;
      await chip.reset?.();
      native.postMessage(`done ${number}`);
      return;
    }
    if (kind !== "transceive") {
      state.others.push(data);
      return;
    }
    state.waiting = number;
    if (!state.inField) return;
    if (!state.connected) {
      state.connected = true;
      state.connections += 1;
      native.postMessage(state.limits);
    }
    state.waiting = null;
    state.sent.push(Buffer.from(hex, "hex"));
    if (state.sent.length === state.loseAt) {
      state.connected = false;
      // Removing the document cuts the chip's power.
      await chip.reset?.();
      native.postMessage(`lost ${number}`);
      return;
    }
    const answer = await chip.transceive(Buffer.from(hex, "hex"));
    native.postMessage(`answer ${number} ${Buffer.from(answer).toString("hex")}`);
  };
  return state;
}

const offer = (port: MessagePort): Heard => ({ source: null, data: "chip-transport", ports: [port] });

for (const [name, limits] of [
  ["short commands only", "limits 261 258 0"],
  ["extended length", "limits 65279 65279 1"],
] as const) {
  test(`the page reads a whole chip through the Android shell's script: ${name}`, async (t) => {
    const { chip, files, key } = passport();
    const native = Object.assign(phone(t, chip), { limits });
    const { transport, hear } = pageWithScript();
    // The page may begin before the shell has handed its port over.
    const opening = shellSource(transport, key)(() => {});
    hear(offer(native.page));
    const opened = await opening;
    const read = await opened.readFiles();
    for (const file of ["DG1", "DG2", "DG14", "DG15", "SOD"] as const) {
      assert.ok(read[file] !== undefined && files[file] !== undefined, file);
      assert.deepEqual(Buffer.from(read[file]), Buffer.from(files[file]), file);
    }
    const [, commandBytes, responseBytes, extended] = limits.split(" ");
    assert.deepEqual(
      [transport.maxCommandBytes, transport.maxResponseBytes, transport.extendedLength],
      [Number(commandBytes), Number(responseBytes), extended === "1"],
    );
    const longReads = native.sent.filter((command) => command[4] === 0 && command.length > 7).length;
    assert.equal(longReads > 0, extended === "1");
    assert.equal(native.connections, 1);
    opened.release();
    await opened.answer({ kind: "challenge", commands: ["AAAAAAAAAAA="] });
    assert.equal(native.cancels, 1);
  });
}

test("a chip that leaves the field before it is open is lost to the page, and the next reading begins anew", async (t) => {
  const { chip, key } = passport();
  const native = Object.assign(phone(t, chip), { loseAt: 4 });
  const { transport, hear } = pageWithScript();
  hear(offer(native.page));
  const read = async () => {
    const opened = await shellSource(transport, key)(() => {});
    return await opened.readFiles();
  };
  await assert.rejects(read(), (error) => isEmrtdError(error) && problemOf(error) === "lost");
  assert.ok((await read()).DG1);
  assert.equal(native.connections, 2);
  // Messages arrive in order: once this one is answered, the phone has heard those before it.
  await transport.reset?.();
  assert.deepEqual(native.others, ["feel problem", "feel read"]);
});

test("a document that slips in the middle of its portrait is read on from there", async (t) => {
  const { chip, files, key } = passport();
  const native = phone(t, chip);
  const { transport, hear } = pageWithScript();
  hear(offer(native.page));
  const steps: number[] = [];
  const opened = await shellSource(
    transport,
    key,
  )((step) => {
    if (step.at !== "portrait") return;
    steps.push(step.readBytes);
    if (steps.length === 10) native.loseAt = native.sent.length + 1;
  });
  const read = await opened.readFiles();
  assert.ok(files.DG2);
  assert.deepEqual(Buffer.from(read.DG2), Buffer.from(files.DG2));
  assert.equal(native.connections, 2);
  assert.deepEqual(
    steps,
    steps.toSorted((a, b) => a - b),
    "what was read is not read again",
  );
  // Messages arrive in order: once this one is answered, the phone has heard those before it.
  await transport.reset?.();
  assert.deepEqual(native.others, ["feel read"]);
});

test("the shell resets the chip, and says when its reader is turned on or off", async (t) => {
  const { chip } = passport();
  const native = phone(t, chip);
  const { transport, hear, changes } = pageWithScript();
  hear(offer(native.page));
  await transport.reset?.();
  assert.equal(native.resets, 1);
  assert.equal(transport.readerState, "ready");
  assert.deepEqual(transport.antenna, antenna);
  for (const state of ["off", "off", "ready"]) native.tell(`reader ${state}`);
  await transport.reset?.();
  assert.deepEqual(changes, ["chiptransportchange", "chiptransportchange"]);
  native.tell("unavailable 3");
  await assert.rejects(transport.transceive(Uint8Array.of(0)), /turned off/);
});

test("what the page keeps is given to the shell, and comes back where sessionStorage was lost", async (t) => {
  const native = phone(t, { transceive: async () => Uint8Array.of(0x90, 0) });
  const { transport, hear } = pageWithScript({ shellFacts: { ...facts, kept: { a: "1" } } });
  hear(offer(native.page));
  assert.equal(transport.storage?.getItem("a"), "1");
  transport.storage?.setItem("b", "2");
  transport.storage?.removeItem("a");
  transport.storage?.removeItem("b");
  await transport.transceive(Uint8Array.of(0));
  assert.deepEqual(native.others, ['keep {"a":"1","b":"2"}', 'keep {"b":"2"}', "keep "]);
  // A reload: the shell's script is older than what the page has done since.
  const sessionStorage = sessionStorageOf();
  pageWithScript({ sessionStorage, shellFacts: { ...facts, kept: { a: "1" } } }).transport.storage?.setItem(
    "a",
    "2",
  );
  const reloaded = pageWithScript({ sessionStorage, shellFacts: { ...facts, kept: { a: "1" } } });
  assert.equal(reloaded.transport.storage?.getItem("a"), "2");
});

test("a reading that is given up ends what waits for a chip, also before the shell is there", async (t) => {
  const { chip } = passport();
  const native = Object.assign(phone(t, chip), { inField: false });
  const { transport, hear } = pageWithScript();
  const early = transport.transceive(Uint8Array.of(0, 0xa4, 0, 0x0c));
  transport.cancel();
  hear(offer(native.page));
  await assert.rejects(early, /given up/);
  const later = transport.transceive(Uint8Array.of(0, 0xa4, 0, 0x0c));
  transport.cancel();
  transport.cancel();
  await assert.rejects(later, /given up/);
});

test("a key that does not open the chip lets the chip go", async (t) => {
  const { chip, key } = passport();
  const native = phone(t, chip);
  const { transport, hear } = pageWithScript();
  hear(offer(native.page));
  const wrong = { mrz: { ...key.mrz, dateOfExpiry: "310101" } };
  await assert.rejects(
    shellSource(transport, wrong)(() => {}),
    (error) => problemOf(error) === "key",
  );
  // Messages arrive in order: once this one is answered, the phone has heard of the end before it.
  await transport.transceive(Uint8Array.of(0, 0xa4, 0, 0x0c, 2, 0x3f, 0));
  assert.equal(native.cancels, 1);
});

test("a port from a frame or another window is not taken, nor a second one", async (t) => {
  const { chip, key } = passport();
  const native = phone(t, chip);
  const foreign = new MessageChannel();
  t.after(() => foreign.port2.close());
  const taken: unknown[] = [];
  foreign.port2.onmessage = ({ data }: { data: unknown }) => taken.push(data);
  const { transport, hear } = pageWithScript();
  hear({ ...offer(foreign.port1), source: {} });
  hear({ source: null, data: "something else", ports: [foreign.port1] });
  hear({ source: null, data: "chip-transport", ports: [] });
  hear(offer(native.page));
  hear(offer(foreign.port1));
  await shellSource(transport, key)(() => {});
  assert.deepEqual(taken, []);
});

test("a frame gets no transport", () => {
  assert.equal(windowWithScript({ top: {} }).transport, undefined);
});

test("the phone's secure hardware is reached through the shell, and its refusal is told", async (t) => {
  const { voucher, hear } = pageWithScript();
  assert.ok(voucher);
  const { port1: page, port2: native } = new MessageChannel();
  t.after(() => native.close());
  const asked: string[] = [];
  native.onmessage = ({ data }: { data: string }) => {
    asked.push(data);
    if (data.startsWith("makekey")) native.postMessage("certificates 1 0708.09");
    else native.postMessage(data.endsWith("0a") ? "answer 2 0b" : "refused 3");
  };
  hear({ source: null, data: "chip-transport", ports: [page] });
  assert.deepEqual(await voucher.makeKey(Uint8Array.of(1, 2)), [Uint8Array.of(7, 8), Uint8Array.of(9)]);
  assert.deepEqual(await voucher.sign(Uint8Array.of(10)), Uint8Array.of(11));
  await assert.rejects(voucher.sign(Uint8Array.of(12)), /secure hardware/);
  assert.deepEqual(asked, ["makekey 1 0102", "sign 2 0a", "sign 3 0c"]);
});
