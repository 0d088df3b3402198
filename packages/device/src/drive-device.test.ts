import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import test, { after, before } from "node:test";
import { CallError } from "@assay/contract/client";
import { framesToSign } from "@assay/contract/verify-protocol";
import { EmrtdError } from "@assay/emrtd/emrtd-error";
import { testDocument } from "@assay/emrtd/node/test-country/catalogue";
import { createVirtualChip } from "@assay/emrtd/virtual/virtual-chip";
import { FakeSocket } from "../test/support/fake-socket.ts";
import { type ChipSource, DeviceDriver, type FrameVoucher, type OpenedChip } from "./drive-device.ts";
import { openDocument } from "./open-document.ts";

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
  const document = testDocument("passport-valid", new Date("2026-03-01T00:00:00Z"));
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
  let isOver = false;
  const late = answerWith({ makeKey: async () => [], sign: never }, () => {
    // The timer is set once the capture is over, a few turns of the loop from now.
    const turn = () => {
      if (isOver) return;
      t.mock.timers.tick(2000);
      setImmediate(turn);
    };
    setImmediate(turn);
  });
  assert.deepEqual(await late, { type: "face_done" });
  isOver = true;
});

// --- the connection ----------------------------------------------------------------------------------------

type Needs = ConstructorParameters<typeof DeviceDriver>[0];

/** A driver whose device has a token, on a socket that is open. */
async function connected(needs: Partial<Needs> = {}) {
  FakeSocket.forget();
  const driver = new DeviceDriver({
    baseUrl: "http://localhost/base",
    sessionId: "vs_1",
    claim: async () => "token",
    ...needs,
  });
  driver.feed({ kind: "start", token: "t".repeat(20) });
  await until(() => FakeSocket.latest?.sent.length === 1);
  return { driver, socket: latest() };
}

function latest(): FakeSocket {
  return FakeSocket.latest ?? assert.fail("no socket was opened");
}

const spoken = (socket: FakeSocket) => socket.messages().map(({ type }) => type);

test("the socket is that of the session, over the protocol of the link, and greeted with the token", async () => {
  const { driver, socket } = await connected();
  assert.equal(socket.url, "ws://localhost/base/v1/verify/session/vs_1");
  assert.deepEqual([socket.subprotocol, socket.binaryType], ["verify.v1", "arraybuffer"]);
  assert.deepEqual(socket.messages(), [{ type: "hello", socket_token: "t".repeat(20) }]);
  driver.feed({ kind: "stop" });
  assert.equal(socket.closedWith, 1000);
  const secure = await connected({ baseUrl: "https://id.example" });
  assert.equal(secure.socket.url, "wss://id.example/v1/verify/session/vs_1");
  secure.driver.feed({ kind: "stop" });
});

test("after the device has left, nothing is heard of its socket any more", async () => {
  const { driver, socket } = await connected();
  driver.feed({ kind: "stop" });
  const { state } = driver;
  assert.deepEqual([socket.onopen, socket.onmessage, socket.onclose], [null, null, null]);
  assert.equal(driver.state, state);
});

test("what is no message of the service is ignored", async () => {
  const { driver, socket } = await connected();
  const { state } = driver;
  for (const data of ["", "no JSON", "null", "17", '"welcome"', "{}", "[]", new ArrayBuffer(8)])
    socket.onmessage?.({ data });
  assert.equal(driver.state, state);
  socket.tell(welcome);
  assert.equal(driver.state.connection, "open");
  driver.feed({ kind: "stop" });
});

test("nothing is written to a socket that is closing", async () => {
  const { source } = testPassport();
  const { driver, socket } = await connected();
  driver.setChip(source);
  socket.tell(welcome);
  socket.readyState = 2;
  driver.feed({ kind: "read_chip" });
  await until(() => driver.state.phase === "chip_check");
  assert.deepEqual([spoken(socket), socket.copies.length], [["hello"], 0]);
  driver.feed({ kind: "stop" });
});

test("a lost connection is made again when its time has come, and not after the device has stopped", async (t) => {
  const { driver, socket } = await connected();
  socket.tell(welcome);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  socket.end();
  t.mock.timers.tick(299);
  assert.equal(latest(), socket);
  t.mock.timers.tick(1);
  const second = latest();
  assert.notEqual(second, socket);
  await until(() => spoken(second).includes("hello"));
  second.end();
  driver.feed({ kind: "stop" });
  t.mock.timers.tick(60_000);
  assert.equal(latest(), second);
});

test("a device that was stopped, or needs no timer any more, leaves none that keeps a program running", async (t) => {
  const { driver, socket } = await connected();
  socket.tell(welcome);
  const running = new Set<unknown>();
  t.mock.method(globalThis, "setTimeout", () => {
    const timer = {};
    running.add(timer);
    return timer;
  });
  t.mock.method(globalThis, "clearTimeout", (timer: unknown) => running.delete(timer));
  socket.end();
  assert.equal(running.size, 1);
  driver.feed({ kind: "awake" });
  assert.equal(running.size, 0);
  const second = latest();
  assert.notEqual(second, socket);
  second.end();
  driver.feed({ kind: "stop" });
  assert.equal(running.size, 0);
});

test("the token of a claim is kept; the code of a refused claim is known, and one without an answer is tried again", async (t) => {
  const kept: (string | null)[] = [];
  FakeSocket.forget();
  const needs = {
    baseUrl: "http://localhost",
    sessionId: "vs_1",
    keepToken: (token: string | null) => kept.push(token),
  };
  const lucky = new DeviceDriver({ ...needs, claim: async () => "claimed" });
  lucky.feed({ kind: "start", token: null });
  await until(() => FakeSocket.latest?.sent.length === 1);
  assert.deepEqual(kept, ["claimed"]);
  assert.deepEqual(latest().messages(), [{ type: "hello", socket_token: "claimed" }]);
  lucky.feed({ kind: "stop" });
  const refusal = new CallError(409, { code: "SESSION_ENDED", message: "", hint: "", docs: "" }, null);
  const refused = new DeviceDriver({ ...needs, claim: () => Promise.reject(refusal) });
  refused.feed({ kind: "start", token: null });
  await until(() => refused.state.refused === "SESSION_ENDED");
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let asked = 0;
  const unheard = new DeviceDriver({
    ...needs,
    claim: () => {
      asked += 1;
      return Promise.reject(new TypeError("fetch failed"));
    },
  });
  unheard.feed({ kind: "start", token: null });
  await until(() => unheard.state.connection === "lost");
  t.mock.timers.tick(300);
  assert.equal(asked, 2);
  unheard.feed({ kind: "stop" });
});

test("what an effect causes is dealt with after the other effects of the same step", async () => {
  FakeSocket.forget();
  const driver: DeviceDriver = new DeviceDriver({
    baseUrl: "http://localhost",
    sessionId: "vs_1",
    claim: async () => "token",
    // The claim is answered with two effects, of which this is the first.
    keepToken: () => driver.feed({ kind: "stop" }),
  });
  driver.feed({ kind: "start", token: null });
  await until(() => FakeSocket.latest !== null);
  assert.equal(latest().closedWith, 1000, "the socket that was opened last is left open");
});

test("who watches is told each change once, and of no input that changes nothing", async () => {
  const changes: (string | null)[] = [];
  const { driver, socket } = await connected({ onChange: ({ phase }) => changes.push(phase) });
  const before = changes.length;
  socket.tell(welcome);
  driver.feed({ kind: "awake" });
  socket.tell({ type: "of a newer service" });
  assert.deepEqual(changes.slice(before), ["chip"]);
  driver.feed({ kind: "stop" });
});

// --- the chip ----------------------------------------------------------------------------------------------

const file = (...bytes: number[]) => Uint8Array.from(bytes);

/** A chip that answers at once, and records its requests. */
function plainChip(own: Partial<OpenedChip> = {}) {
  const asked: string[] = [];
  const chip: OpenedChip = {
    readFiles: async () => ({ SOD: file(1), DG1: file(2, 2), DG2: file(3, 3, 3) }),
    answer: async ({ commands }) => {
      asked.push(`answer ${commands.join()}`);
      return ["kAA="];
    },
    reopen: async () => {
      asked.push("reopen");
    },
    release: () => {
      asked.push("release");
    },
    ...own,
  };
  return { chip, asked, source: async () => chip };
}

const commandOf = (exchange: string) => ({
  type: "chip_command",
  exchange,
  proof: "chip_authentication",
  kind: "in_session",
  commands: ["AAAA"],
});

async function readingChip(source: ChipSource, needs: Partial<Needs> = {}) {
  const { driver, socket } = await connected(needs);
  driver.setChip(source);
  socket.tell(welcome);
  driver.feed({ kind: "read_chip" });
  return { driver, socket };
}

const announced = (socket: FakeSocket) =>
  socket
    .messages()
    .flatMap(({ type, artifact, file, size }) => (type === "chip_file" ? [[artifact, file, size]] : []));

test("files are numbered from one on every connection, and sent again on the next", async () => {
  const { source } = plainChip();
  const { driver, socket } = await readingChip(source);
  const expected = [
    [1, "SOD", 1],
    [2, "DG1", 2],
    [3, "DG2", 3],
  ];
  await until(() => spoken(socket).includes("chip_done"));
  assert.deepEqual(announced(socket), expected);
  socket.end();
  driver.feed({ kind: "awake" });
  const second = latest();
  await until(() => spoken(second).includes("hello"));
  second.tell(welcome);
  await until(() => spoken(second).includes("chip_done"));
  assert.deepEqual(announced(second), expected);
  driver.feed({ kind: "stop" });
});

test("a device without a chip to read says so to who watches, and to the person as a fault of the device", async () => {
  const errors: unknown[] = [];
  const { driver, socket } = await connected({ onError: (error) => errors.push(error) });
  socket.tell(welcome);
  driver.feed({ kind: "read_chip" });
  await until(() => driver.state.problem === "device");
  assert.equal(errors.length, 1);
  driver.feed({ kind: "stop" });
});

test("the error of a chip that cannot be read reaches who watches, and its kind the person", async () => {
  const errors: unknown[] = [];
  const wrong = new EmrtdError("ACCESS_KEY_INVALID", "wrong key");
  const { driver } = await readingChip(() => Promise.reject(wrong), {
    onError: (error) => errors.push(error),
  });
  await until(() => driver.state.problem === "key");
  assert.deepEqual(errors, [wrong]);
  driver.feed({ kind: "stop" });
});

test("a chip that opens after the person has left is let go unread", async () => {
  const opening = Promise.withResolvers<OpenedChip>();
  const { chip, asked } = plainChip({ readFiles: () => assert.fail("it was read") });
  const { driver } = await readingChip(() => opening.promise);
  driver.feed({ kind: "stop" });
  opening.resolve(chip);
  await until(() => asked.length > 0);
  assert.deepEqual(asked, ["release"]);
});

test("commands of the service reach the chip, and the chip is let go with the verdict", async () => {
  const { source, asked } = plainChip();
  const { driver, socket } = await readingChip(source);
  await until(() => driver.state.phase === "chip_check");
  socket.tell(commandOf("e".repeat(22)));
  await until(() => spoken(socket).includes("chip_answer"));
  assert.deepEqual(socket.messages().at(-1), {
    type: "chip_answer",
    exchange: "e".repeat(22),
    answers: ["kAA="],
  });
  assert.deepEqual(asked, ["answer AAAA"]);
  socket.tell(passed);
  assert.deepEqual(asked, ["answer AAAA", "release"]);
  driver.feed({ kind: "stop" });
});

test("a chip with the session of an earlier connection is opened again before it hears a command", async () => {
  const { source, asked } = plainChip();
  const { driver, socket } = await readingChip(source);
  await until(() => driver.state.phase === "chip_check");
  socket.end();
  driver.feed({ kind: "awake" });
  const second = latest();
  await until(() => spoken(second).includes("hello"));
  second.tell({ ...welcome, phase: "chip_proof" });
  second.tell(commandOf("f".repeat(22)));
  await until(() => spoken(second).includes("chip_answer"));
  assert.deepEqual(asked, ["reopen", "answer AAAA"]);
  driver.feed({ kind: "stop" });
});

test("a chip that left the field is opened again, and then the service begins its proof again", async () => {
  const { source, asked } = plainChip({ answer: async () => "lost" });
  const { driver, socket } = await readingChip(source);
  await until(() => driver.state.phase === "chip_check");
  socket.tell(commandOf("e".repeat(22)));
  await until(() => spoken(socket).includes("chip_lost"));
  assert.deepEqual(asked, ["reopen"]);
  driver.feed({ kind: "stop" });
});

test("an error between device and chip is no answer: the chip's part begins again", async () => {
  const errors: unknown[] = [];
  const broken = new TypeError("x is undefined");
  const { source } = plainChip({ answer: () => Promise.reject(broken) });
  const { driver, socket } = await readingChip(source, { onError: (error) => errors.push(error) });
  await until(() => driver.state.phase === "chip_check");
  socket.tell(commandOf("e".repeat(22)));
  await until(() => spoken(socket).includes("chip_restart"));
  assert.ok(!spoken(socket).includes("chip_answer"));
  assert.deepEqual([errors, driver.state.problem], [[broken], "device"]);
  driver.feed({ kind: "stop" });
});

// --- the camera --------------------------------------------------------------------------------------------

const challenge = {
  type: "face_challenge",
  movements: ["look_up"],
  colours: ["red"],
  colour_ms: 900,
  deadline_ms: 45_000,
};

test("frames are numbered and say when they were taken, in whole milliseconds from the beginning", async () => {
  const { driver, socket } = await connected();
  driver.setCamera(async (_challenge, sendFrame) => {
    sendFrame(file(1, 2, 3), -0.4);
    sendFrame(file(4, 5), 300.6);
  });
  socket.tell({ ...welcome, phase: "face" });
  driver.feed({ kind: "start_face", source: "camera" });
  socket.tell(challenge);
  await until(() => spoken(socket).includes("face_done"));
  assert.deepEqual(
    socket.messages().filter(({ type }) => type === "face_frame"),
    [
      { type: "face_frame", artifact: 1, size: 3, at_ms: 0 },
      { type: "face_frame", artifact: 2, size: 2, at_ms: 301 },
    ],
  );
  assert.deepEqual(
    socket.copies.map((bytes) => [...bytes.slice(-2)]),
    [
      [2, 3],
      [4, 5],
    ],
  );
  assert.deepEqual(socket.messages().at(-1), { type: "face_done" }, "nothing vouches for them");
  driver.feed({ kind: "stop" });
});

test("a camera that is no longer needed hears of it, and its error reaches who watches", async () => {
  const errors: unknown[] = [];
  const { driver, socket } = await connected({ onError: (error) => errors.push(error) });
  socket.tell({ ...welcome, phase: "face" });
  driver.feed({ kind: "start_face", source: "camera" });
  socket.tell(challenge);
  await until(() => errors.length === 1);
  assert.equal(driver.state.capture, null, "there is no camera");
  const second = latest();
  assert.notEqual(second, socket, "what was sent is left behind with its connection");
  await until(() => spoken(second).includes("hello"));
  const signals: AbortSignal[] = [];
  driver.setCamera((_challenge, _sendFrame, signal) => {
    signals.push(signal);
    return new Promise(() => {});
  });
  second.tell({ ...welcome, phase: "face" });
  driver.feed({ kind: "start_face", source: "camera" });
  second.tell(challenge);
  await until(() => signals.length === 1);
  assert.equal(signals[0]?.aborted, false);
  driver.feed({ kind: "stop_face" });
  assert.equal(signals[0]?.aborted, true);
  driver.feed({ kind: "stop" });
});

test("a signature is over the frames of its own try, and a service that gives no nonce gets none", async () => {
  const signed: Uint8Array[] = [];
  const { driver, socket } = await connected();
  driver.setVoucher({
    makeKey: async () => [file(7)],
    sign: async (message) => {
      signed.push(message);
      return file(10);
    },
  });
  let frame = 0;
  driver.setCamera(async (_challenge, sendFrame) => sendFrame(file(++frame), 0));
  socket.tell({ ...welcome, phase: "face" });
  const tries = [{ nonce: "bm9uY2U=" }, { nonce: "bm9uY2U=" }, {}];
  for (const [index, more] of tries.entries()) {
    if (index > 0) socket.tell({ ...passed, step: "face", passed: false, failure_code: "liveness_failed" });
    driver.feed({ kind: "start_face", source: "camera" });
    socket.tell({ ...challenge, ...more });
    await until(() => spoken(socket).filter((type) => type === "face_done").length === index + 1);
  }
  const nonce = new TextEncoder().encode("nonce");
  const digestOf = (byte: number) => createHash("sha256").update(file(byte)).digest();
  assert.deepEqual(signed, [framesToSign(nonce, [digestOf(1)]), framesToSign(nonce, [digestOf(2)])]);
  assert.deepEqual(socket.messages().at(-1), { type: "face_done" });
  driver.feed({ kind: "stop" });
});
