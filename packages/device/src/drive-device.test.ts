import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import test, { after, before } from "node:test";
import { framesToSign } from "@assay/contract/verify-protocol";
import { testDocuments } from "@assay/emrtd/node/test-country/catalogue";
import { createVirtualChip } from "@assay/emrtd/virtual/virtual-chip";
import { type ChipSource, DeviceDriver, type FrameVoucher } from "./drive-device.ts";
import { openDocument } from "./open-document.ts";

/** The service's end of the socket. What it was sent is copied, as a real socket does. */
class FakeSocket {
  static readonly OPEN = 1;
  static latest: FakeSocket | null = null;
  readonly readyState = FakeSocket.OPEN;
  readonly sent: (string | Uint8Array)[] = [];
  readonly copies: Uint8Array[] = [];
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: (() => void) | null = null;

  constructor() {
    FakeSocket.latest = this;
    setImmediate(() => this.onopen?.());
  }

  send(data: string | Uint8Array): void {
    this.sent.push(data);
    if (typeof data !== "string") this.copies.push(Uint8Array.from(data));
  }

  close(): void {}

  static forget(): void {
    FakeSocket.latest = null;
  }

  tell(message: Record<string, unknown>): void {
    this.onmessage?.({ data: JSON.stringify(message) });
  }
}

const real = globalThis.WebSocket;
before(() => Object.assign(globalThis, { WebSocket: FakeSocket }));
after(() => Object.assign(globalThis, { WebSocket: real }));

const triesLeft = { chip: 3, face: 3 };
const welcome = { type: "welcome", phase: "chip", face: "camera", tries_left: triesLeft };
const passed = {
  type: "step_result",
  step: "chip",
  passed: true,
  failure_code: null,
  tries_left: triesLeft,
  phase: "face",
};

async function until(isSo: () => boolean): Promise<void> {
  for (let round = 0; round < 20_000; round++) {
    if (isSo()) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error("It did not come to that");
}

function testPassport() {
  const document = testDocuments(new Date("2026-03-01T00:00:00Z")).find(({ id }) => id === "passport-valid");
  assert.ok(document);
  const chip = createVirtualChip({ files: document.files, ...document.chip });
  const read: Uint8Array[] = [];
  const source: ChipSource = async (onStep) => {
    const opened = await openDocument(chip, { mrz: document.chip.mrzKey }, onStep, () => {});
    return {
      ...opened,
      readFiles: async () => {
        const files = await opened.readFiles();
        read.push(...Object.values(files));
        return files;
      },
    };
  };
  return { source, read, files: document.files };
}

async function driverWith(source: ChipSource) {
  const driver = new DeviceDriver({
    baseUrl: "http://localhost",
    sessionId: "vs_1",
    claim: async () => "token",
  });
  driver.setChip(source);
  driver.feed({ kind: "start", token: "t".repeat(20) });
  await until(() => FakeSocket.latest?.sent.length === 1);
  const socket = FakeSocket.latest;
  assert.ok(socket);
  socket.tell(welcome);
  driver.feed({ kind: "read_chip" });
  return { driver, socket };
}

const isOverwritten = (bytes: Uint8Array) => bytes.length > 0 && bytes.every((byte) => byte === 0);

test("what was read of the chip is sent whole, and overwritten once the chip has passed", async () => {
  const { source, read, files } = testPassport();
  const { driver, socket } = await driverWith(source);
  await until(() => driver.state.phase === "chip_check");
  assert.ok(read.length >= 3);
  assert.equal(read.some(isOverwritten), false, "the service may ask for them again until it has judged");
  const arrived = Buffer.concat(socket.copies);
  assert.ok(arrived.includes(Buffer.from(files.DG1 ?? [])), "DG1 did not arrive");
  const frames = socket.sent.filter((data) => typeof data !== "string");
  assert.ok(frames.length > 0 && frames.every(isOverwritten), "a frame keeps a copy of the files");
  socket.tell(passed);
  assert.deepEqual(
    read.map(isOverwritten),
    read.map(() => true),
  );
  driver.feed({ kind: "stop" });
});

test("what was read is overwritten when the person leaves, and when the session ends", async () => {
  for (const end of ["stop", "outcome"] as const) {
    const { source, read } = testPassport();
    const { driver, socket } = await driverWith(source);
    await until(() => driver.state.phase === "chip_check");
    if (end === "stop") driver.feed({ kind: "stop" });
    else socket.tell({ type: "outcome", status: "failed", failure_code: "document_expired" });
    assert.deepEqual(
      read.map(isOverwritten),
      read.map(() => true),
      end,
    );
  }
});

test("a reading that comes too late is overwritten as well", async () => {
  const { source, read } = testPassport();
  const { driver } = await driverWith(async (onStep) => {
    const opened = await source(onStep);
    return {
      ...opened,
      readFiles: async () => {
        const files = await opened.readFiles();
        driver.feed({ kind: "stop" });
        return files;
      },
    };
  });
  await until(() => read.length > 0 && read.every(isOverwritten));
});

/** A device with this voucher answers a challenge with two frames; what it says at the end. */
async function answerWith(voucher: FrameVoucher, whileVouching = () => {}): Promise<unknown> {
  FakeSocket.forget();
  const driver = new DeviceDriver({
    baseUrl: "http://localhost",
    sessionId: "vs_1",
    claim: async () => "token",
  });
  driver.setVoucher(voucher);
  driver.setCamera(async (_challenge, sendFrame) => {
    sendFrame(Uint8Array.of(1, 2, 3), 0);
    sendFrame(Uint8Array.of(4, 5), 300);
  });
  driver.feed({ kind: "start", token: null });
  await until(() => FakeSocket.latest?.sent.length === 1);
  const socket = FakeSocket.latest;
  assert.ok(socket);
  socket.tell({ ...welcome, phase: "face" });
  driver.feed({ kind: "start_face", source: "camera" });
  const asked = { movements: ["look_up"], colours: ["red"], colour_ms: 900, deadline_ms: 45_000 };
  socket.tell({ type: "face_challenge", ...asked, nonce: Buffer.from("nonce").toString("base64") });
  const messages = () =>
    socket.sent.flatMap((data) => (typeof data === "string" ? [JSON.parse(data) as { type: string }] : []));
  await until(() => messages().filter(({ type }) => type === "face_frame").length === 2);
  whileVouching();
  await until(() => messages().some(({ type }) => type === "face_done"));
  driver.feed({ kind: "stop" });
  FakeSocket.forget();
  return messages().find(({ type }) => type === "face_done");
}

test("where the phone's hardware can vouch, a key made for the challenge signs the frames that were sent", async () => {
  const signed: Uint8Array[] = [];
  const made: Uint8Array[] = [];
  const done = await answerWith({
    makeKey: async (nonce) => {
      made.push(nonce);
      return [Uint8Array.of(7), Uint8Array.of(8, 9)];
    },
    sign: async (message) => {
      signed.push(message);
      return Uint8Array.of(10);
    },
  });
  const nonce = new TextEncoder().encode("nonce");
  const digests = [Uint8Array.of(1, 2, 3), Uint8Array.of(4, 5)].map((frame) =>
    createHash("sha256").update(frame).digest(),
  );
  assert.deepEqual(made, [nonce]);
  assert.deepEqual(signed, [framesToSign(nonce, digests)]);
  assert.deepEqual(done, {
    type: "face_done",
    attestation: { certificates: ["Bw==", "CAk="], signature: "Cg==" },
  });
});

test("a phone that cannot vouch, or takes too long, sends its frames all the same", async (t) => {
  const refuses = async () => Promise.reject(new Error("no secure hardware"));
  assert.deepEqual(await answerWith({ makeKey: refuses, sign: refuses }), { type: "face_done" });
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const never = () => new Promise<never>(() => {});
  const late = answerWith({ makeKey: async () => [], sign: never }, () => {
    // The timer is set once the capture is over, a few turns of the loop from now.
    const turn = () => {
      if (FakeSocket.latest === null) return;
      t.mock.timers.tick(2000);
      setImmediate(turn);
    };
    setImmediate(turn);
  });
  assert.deepEqual(await late, { type: "face_done" });
});
