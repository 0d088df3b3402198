import assert from "node:assert/strict";
import test, { afterEach, beforeEach, mock } from "node:test";
import type { ServiceMessage } from "@assay/contract/verify-socket";
import type { ChipSource, FaceCapture, OpenedChip } from "@assay/device/drive-device";
import { EmrtdError } from "@assay/emrtd/emrtd-error";
import type { SessionApi } from "../session/api.ts";
import type { Kept } from "../session/kept.ts";
import { PageDevice } from "./page-device.ts";
import { countRefusals, isSentBack, nothingRefused } from "./refused-keys.ts";

/** The service's end: records what the page sends, and answers. */
class FakeSocket {
  static readonly OPEN = 1;
  static all: FakeSocket[] = [];
  readonly said: Record<string, unknown>[] = [];
  binaryFrames = 0;
  readyState = FakeSocket.OPEN;
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: ((event: { reason: string }) => void) | null = null;

  constructor() {
    FakeSocket.all.push(this);
    setImmediate(() => this.onopen?.());
  }

  send(data: string | Uint8Array): void {
    if (typeof data === "string") this.said.push(JSON.parse(data) as Record<string, unknown>);
    else this.binaryFrames += 1;
  }

  /** By the page, or (lost) by the network. */
  close(): void {
    this.readyState = 3;
    this.onclose?.({ reason: "" });
  }

  tell(message: Record<string, unknown>): void {
    this.onmessage?.({ data: JSON.stringify(message) });
  }

  types(): unknown[] {
    return this.said.map(({ type }) => type);
  }
}

const stubs = {
  WebSocket: FakeSocket,
  window: new EventTarget(),
  document: Object.assign(new EventTarget(), { visibilityState: "visible" }),
  location: { origin: "http://localhost" },
};
const untouched = Object.keys(stubs).map(
  (name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const,
);

beforeEach(() => {
  FakeSocket.all = [];
  for (const [name, value] of Object.entries(stubs))
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  mock.timers.enable({ apis: ["setTimeout", "Date"], now: Date.UTC(2026, 0, 1) });
});
afterEach(() => {
  mock.timers.reset();
  for (const [name, descriptor] of untouched)
    if (descriptor === undefined) Reflect.deleteProperty(globalThis, name);
    else Object.defineProperty(globalThis, name, descriptor);
});

/** Waits until all pending work without the clock is done. */
async function settle(): Promise<void> {
  for (let round = 0; round < 20; round++) await new Promise((resolve) => setImmediate(resolve));
}

async function untilSocket(number: number): Promise<FakeSocket> {
  for (let round = 0; round < 500; round++) {
    const socket = FakeSocket.all[number - 1];
    if (socket !== undefined) {
      await settle();
      return socket;
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error(`There is no socket ${number}`);
}

const welcome = (phase: string, face = "camera") => ({
  type: "welcome",
  phase,
  face,
  tries_left: { chip: 3, face: 3 },
});
const challenge = (deadlineMs = 45_000) =>
  ({
    type: "face_challenge",
    movements: ["look_up"],
    colours: ["red", "blue"],
    colour_ms: 900,
    deadline_ms: deadlineMs,
    nonce: "bm9uY2U=",
  }) satisfies Extract<ServiceMessage, { type: "face_challenge" }>;

/** Sends a frame at once, then waits to be ended by the test or by its signal. */
function camera() {
  const takes: { challenge: Parameters<FaceCapture>[0]; end: () => void; aborted: () => boolean }[] = [];
  const capture: FaceCapture = (given, sendFrame, signal) =>
    new Promise((resolve) => {
      sendFrame(new Uint8Array(10), 12.4);
      takes.push({ challenge: given, end: resolve, aborted: () => signal.aborted });
      signal.addEventListener("abort", () => resolve());
    });
  return { takes, capture };
}

async function inPhase(phase: string, face?: string) {
  const kept = { reading: { handoffToken: null, socketToken: "t".repeat(20) } } as Kept;
  const device = new PageDevice({ sessionId: "vs_1" } as SessionApi, kept);
  device.start();
  const socket = await untilSocket(1);
  socket.tell(welcome(phase, face));
  return { device, socket };
}

const inFace = (face?: string) => inPhase("face", face);

const files = { SOD: new Uint8Array(3), DG1: new Uint8Array(4), DG2: new Uint8Array(70_000) };

/** A chip that has been read at once; the test says how it answers. */
function chipThatAnswers(answer: OpenedChip["answer"]) {
  const done = { reopened: 0, released: 0 };
  const source: ChipSource = async () => ({
    readFiles: async () => files,
    answer,
    reopen: async () => {
      done.reopened += 1;
    },
    release: () => {
      done.released += 1;
    },
  });
  return { source, done };
}

const command = {
  type: "chip_command",
  exchange: "e".repeat(22),
  proof: "chip_authentication",
  kind: "in_session",
  commands: ["AAAA"],
};

test("a chip is read and sent in numbered parts, and its answer goes back to the service", async () => {
  const { device, socket } = await inPhase("chip");
  const { source, done } = chipThatAnswers(async () => ["kAA="]);
  device.readChip(source);
  await settle();
  assert.deepEqual(socket.types(), ["hello", "chip_file", "chip_file", "chip_file", "chip_done"]);
  assert.deepEqual(
    socket.said.slice(1, 4).map(({ artifact, file, size }) => [artifact, file, size]),
    [
      [1, "SOD", 3],
      [2, "DG1", 4],
      [3, "DG2", 70_000],
    ],
  );
  assert.equal(socket.binaryFrames, 4);
  assert.equal(device.state().reading, true);
  socket.tell(command);
  await settle();
  assert.deepEqual(socket.said.at(-1), {
    type: "chip_answer",
    exchange: command.exchange,
    answers: ["kAA="],
  });
  socket.tell({
    type: "step_result",
    step: "chip",
    passed: true,
    failure_code: null,
    tries_left: { chip: 2, face: 3 },
    phase: "face",
  });
  assert.deepEqual([done.released, device.state().phase], [1, "face"]);
  device.stop();
});

for (const [what, error, problem] of [
  ["a fault of our own reader", new TypeError("x is undefined"), "device"],
  ["a command that it cannot send", new EmrtdError("APDU_INVALID", "too long"), "device"],
  ["a protocol that it lacks", new EmrtdError("PROTOCOL_UNSUPPORTED", "no extended length"), "unsupported"],
] as const)
  test(`${what} is never told to the service as a refusal of the chip: the step begins anew, and the person is told`, async () => {
    const { device, socket } = await inPhase("chip");
    const { source, done } = chipThatAnswers(() => Promise.reject(error));
    device.readChip(source);
    await settle();
    socket.tell(command);
    await settle();
    assert.ok(!socket.types().includes("chip_answer"));
    assert.deepEqual(socket.said.at(-1), { type: "chip_restart" });
    const { phase, problem: told, reading } = device.state();
    assert.deepEqual([phase, told, reading, done.released], ["chip", problem, false, 1]);
    device.stop();
  });

test("a wrong key never uses up a try: the service hears nothing of it, and after three the person is sent back to read the lines again", async () => {
  const { device, socket } = await inPhase("chip");
  const wrongKey: ChipSource = () => Promise.reject(new EmrtdError("BAC_FAILED", "the chip refused the key"));
  let refused = nothingRefused;
  const leave = device.subscribe(() => {
    refused = countRefusals(refused, device.state());
  });
  const heard = socket.said.length;
  const sentBack: boolean[] = [];
  for (let n = 0; n < 4; n++) {
    device.readChip(wrongKey);
    await settle();
    assert.deepEqual([device.state().problem, device.state().phase], ["key", "chip"]);
    sentBack.push(isSentBack(refused));
  }
  assert.deepEqual(sentBack, [false, false, true, false]);
  assert.deepEqual([socket.said.length, socket.binaryFrames], [heard, 0]);
  assert.deepEqual(device.state().triesLeft, { chip: 3, face: 3 });
  leave();
  device.stop();
});

test("what is no message, or one that this page does not know yet, changes nothing", async () => {
  const { device, socket } = await inPhase("chip");
  const before = device.state();
  for (const data of [
    "<html>",
    "null",
    "7",
    '{"kind":"welcome"}',
    '{"type":"weather"}',
    '{"type":"toString"}',
  ])
    socket.onmessage?.({ data });
  assert.deepEqual(device.state(), before);
  device.stop();
});

test("a chip that opens after the page was left is let go", async () => {
  const { device } = await inPhase("chip");
  const { source, done } = chipThatAnswers(async () => []);
  const opening = Promise.withResolvers<void>();
  device.readChip(async (onStep) => {
    await opening.promise;
    return await source(onStep);
  });
  device.stop();
  opening.resolve();
  await settle();
  assert.equal(done.released, 1);
});

test("a page that is online or looked at again connects at once, and one in the background does not", async () => {
  const { device, socket } = await inPhase("chip");
  socket.close();
  assert.equal(device.state().connection, "lost");
  stubs.document.visibilityState = "hidden";
  stubs.document.dispatchEvent(new Event("visibilitychange"));
  await settle();
  assert.equal(FakeSocket.all.length, 1);
  stubs.document.visibilityState = "visible";
  stubs.window.dispatchEvent(new Event("online"));
  await untilSocket(2);
  device.stop();
});

test("without a token the page claims: with the scanned code, or with a handoff of its own, and keeps what it gets", async () => {
  for (const handoffToken of ["scanned", null]) {
    FakeSocket.all = [];
    const calls: unknown[] = [];
    const api = {
      sessionId: "vs_1",
      handoff: async (cancelToken: string | null) => {
        calls.push(["handoff", cancelToken]);
        return { handoff_token: "made" };
      },
      claim: async (token: string, deviceId: string) => {
        calls.push(["claim", token, deviceId]);
        return { socket_token: `socket of ${token}` };
      },
    } as unknown as SessionApi;
    const kept = {
      reading: { handoffToken, socketToken: null },
      cancelToken: "cancel",
      deviceId: () => "device",
    } as unknown as Kept;
    const device = new PageDevice(api, kept);
    device.start();
    const socket = await untilSocket(1);
    const expected = handoffToken ?? "made";
    assert.deepEqual(calls, [
      ...(handoffToken === null ? [["handoff", "cancel"]] : []),
      ["claim", expected, "device"],
    ]);
    assert.deepEqual(socket.said, [{ type: "hello", socket_token: `socket of ${expected}` }]);
    assert.deepEqual(kept.reading, { handoffToken, socketToken: `socket of ${expected}` });
    socket.tell({ type: "closing", code: "SOCKET_TOKEN_INVALID", message: "" });
    socket.close();
    assert.deepEqual(kept.reading, { handoffToken, socketToken: null });
    device.stop();
  }
});

test("a try with the camera: asked for with it, colours and movements reach it, its frames are sent, then it is done", async () => {
  const { device, socket } = await inFace();
  const { takes, capture } = camera();
  device.startFace(capture);
  assert.deepEqual(socket.said.at(-1), { type: "face_start", camera: true });
  socket.tell(challenge());
  assert.equal(device.state().phase, "face_capture");
  assert.deepEqual(takes[0]?.challenge.movements, ["look_up"]);
  assert.deepEqual(takes[0]?.challenge.colours, ["red", "blue"]);
  assert.equal(takes[0]?.challenge.colourMs, 900);
  assert.deepEqual(socket.said.at(-1), { type: "face_frame", artifact: 1, size: 10, at_ms: 12 });
  assert.equal(socket.binaryFrames, 1);
  takes[0]?.end();
  await settle();
  assert.deepEqual(socket.said.at(-1), { type: "face_done" });
  assert.equal(device.state().phase, "face_check");
  device.stop();
});

test("the test document decides when the camera is not asked for", async () => {
  const { device, socket } = await inFace("simulated");
  device.startFace("test_document");
  assert.deepEqual(socket.said.at(-1), { type: "face_start" });
  device.stop();
});

test("a connection lost in the middle ends the capture, and the same challenge is taken up on the next one", async () => {
  const { device, socket } = await inFace();
  const { takes, capture } = camera();
  device.startFace(capture);
  socket.tell(challenge());
  socket.close();
  await settle();
  assert.equal(takes[0]?.aborted(), true);
  assert.ok(!socket.types().includes("face_done"));
  mock.timers.tick(400);
  const second = await untilSocket(2);
  second.tell(welcome("face_capture"));
  second.tell(challenge(38_000));
  assert.equal(takes.length, 2);
  takes[1]?.end();
  await settle();
  assert.deepEqual(second.types(), ["hello", "face_frame", "face_done"]);
  device.stop();
});

test("a challenge with too little time left is left to run out, and a fresh one is asked for by itself", async () => {
  const { device, socket } = await inFace();
  const { takes, capture } = camera();
  device.startFace(capture);
  socket.tell(challenge());
  socket.close();
  mock.timers.tick(400);
  const second = await untilSocket(2);
  second.tell(welcome("face_capture"));
  second.tell(challenge(9_000));
  assert.equal(takes.length, 1, "nobody is asked to move in a hurry");
  assert.equal(device.state().faceWaits, true);
  mock.timers.tick(9_400);
  const third = await untilSocket(3);
  assert.equal(device.state().faceWaits, false);
  third.tell(welcome("face"));
  assert.deepEqual(third.said.at(-1), { type: "face_start", camera: true });
  // A fresh one is carried out however short the service makes it.
  third.tell(challenge(15_000));
  assert.equal(takes.length, 2);
  device.stop();
});

test("stopping uses no try: nothing is declared done, and the frames are left behind with their connection", async () => {
  const { device, socket } = await inFace();
  const { takes, capture } = camera();
  device.startFace(capture);
  socket.tell(challenge());
  device.stopFace();
  assert.equal(takes[0]?.aborted(), true);
  assert.equal(device.state().phase, "face");
  assert.ok(!socket.types().includes("face_done"));
  const second = await untilSocket(2);
  second.tell(welcome("face_capture"));
  second.tell(challenge(40_000));
  assert.equal(device.state().phase, "face", "it is the person's turn to start again");
  assert.equal(takes.length, 1);
  device.startFace(capture);
  assert.equal(takes.length, 2);
  assert.deepEqual(second.types(), ["hello", "face_frame"], "the challenge is there already");
  device.stop();
});

test("who starts while the connection is being made is not forgotten", async () => {
  const { device, socket } = await inFace();
  const { takes, capture } = camera();
  socket.close();
  device.startFace(capture);
  mock.timers.tick(400);
  const second = await untilSocket(2);
  second.tell(welcome("face"));
  assert.deepEqual(second.types(), ["hello", "face_start"]);
  second.tell(challenge());
  assert.equal(takes.length, 1);
  device.stop();
});

test("a fault ends what was started; the next connection asks for nothing", async () => {
  const { device, socket } = await inFace();
  const { capture } = camera();
  device.startFace(capture);
  socket.tell({ type: "fault", code: "FACE_CHECK_BUSY", message: "", phase: "face" });
  assert.equal(device.state().fault, "FACE_CHECK_BUSY");
  socket.close();
  mock.timers.tick(400);
  const second = await untilSocket(2);
  second.tell(welcome("face"));
  assert.deepEqual(second.types(), ["hello"]);
  device.stop();
});
