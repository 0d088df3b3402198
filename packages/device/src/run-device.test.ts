import assert from "node:assert/strict";
import test, { after, afterEach, before } from "node:test";
import { EmrtdError } from "@assay/emrtd/emrtd-error";
import { FakeSocket } from "../test/support/fake-socket.ts";
import type { ChipSource } from "./drive-device.ts";
import { type DeviceOutcome, describeOutcome, runDevice } from "./run-device.ts";
import { DeviceError } from "./verification-url.ts";

const real = globalThis.WebSocket;
before(() => Object.assign(globalThis, { WebSocket: FakeSocket }));
after(() => Object.assign(globalThis, { WebSocket: real }));
afterEach(() => FakeSocket.forget());

const sessionId = `vs_${"a".repeat(64)}`;
const triesLeft = { chip: 3, face: 3 };

/** A session to whose sharing the person has agreed; each claim gives another token. */
function service() {
  let claims = 0;
  return async (url: string | URL | Request) => {
    const path = String(url).split("/").at(-1);
    const data =
      path === "details"
        ? { sandbox: false, consent: { fixed: true }, share_fields: {}, requirements: {} }
        : path === "handoff"
          ? { handoff_token: "handoff" }
          : { socket_token: `token+${++claims}` };
    return new Response(JSON.stringify({ data, error: null }));
  };
}

const file = (...bytes: number[]) => Uint8Array.from(bytes);
const chip: ChipSource = async () => ({
  readFiles: async () => ({ SOD: file(1), DG1: file(2), DG2: file(3) }),
  answer: async () => ["kAA="],
  reopen: async () => {},
  release: () => {},
});

type Run = Parameters<typeof runDevice>[0];

/** Begins a run, and gives the socket once the device has said hello. */
async function begin(own: Partial<Run> = {}) {
  FakeSocket.forget();
  const outcome = runDevice({
    verificationUrl: `https://id.example/base/verify/${sessionId}`,
    chip,
    fetch: service(),
    ...own,
  });
  // Whatever it ends with is looked at later.
  outcome.catch(() => {});
  return { outcome, socket: await greeted() };
}

async function until(isSo: () => boolean): Promise<void> {
  for (let round = 0; round < 20_000; round++) {
    if (isSo()) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error("It did not come to that");
}

async function greeted(but: FakeSocket | null = null): Promise<FakeSocket> {
  await until(() => FakeSocket.latest !== but && FakeSocket.latest?.sent.length === 1);
  return FakeSocket.latest ?? assert.fail();
}

const welcome = (phase: string, face = "camera") => ({ type: "welcome", phase, face, tries_left: triesLeft });
const spoken = (socket: FakeSocket) => socket.messages().map(({ type }) => type);

test("a device without a person takes the session from its link to its outcome", async () => {
  const steps: string[] = [];
  const { outcome, socket } = await begin({ onStep: (step) => steps.push(step) });
  socket.tell(welcome("chip", "simulated"));
  await until(() => spoken(socket).includes("chip_done"));
  socket.tell({
    ...{ type: "step_result", step: "chip", passed: true, failure_code: null },
    ...{ tries_left: triesLeft, phase: "face" },
  });
  assert.deepEqual(socket.messages().at(-1), { type: "face_start" });
  socket.tell({ type: "outcome", status: "succeeded", failure_code: null });
  assert.deepEqual(await outcome, { kind: "succeeded", sessionId });
  assert.deepEqual(steps, ["consent", "handoff", "claim", "chip_passed"]);
  assert.equal(socket.closedWith, 1000);
});

test("a session that fails says why, and which requirement was not met", async () => {
  const { outcome, socket } = await begin();
  socket.tell(welcome("chip"));
  const failure = {
    failure_code: "document_chip_authentication_failed",
    unmet_requirement: "clone_detection",
  };
  socket.tell({ type: "outcome", status: "failed", ...failure });
  assert.deepEqual(await outcome, {
    kind: "failed",
    sessionId,
    failureCode: failure.failure_code,
    unmetRequirement: "clone_detection",
  });
});

test("it stops where it is asked to: before the socket, and after the chip", async () => {
  const claimed = await runDevice({
    ...{ verificationUrl: `https://id.example/verify/${sessionId}`, chip, fetch: service() },
    stopAfter: "claim",
  });
  assert.deepEqual(claimed, { kind: "stopped", sessionId, after: "claim" });
  assert.equal(FakeSocket.latest, null);
  const { outcome, socket } = await begin({ stopAfter: "chip" });
  socket.tell(welcome("face"));
  assert.deepEqual(await outcome, { kind: "stopped", sessionId, after: "chip" });
});

test("without a camera the face is shown to a browser, whose link holds the newest token", async (t) => {
  const { outcome, socket } = await begin();
  t.mock.timers.enable({ apis: ["setTimeout"] });
  socket.end("SOCKET_TOKEN_INVALID");
  t.mock.timers.tick(300);
  const again = await greeted(socket);
  assert.deepEqual(again.messages(), [{ type: "hello", socket_token: "token+2" }]);
  again.tell(welcome("face"));
  assert.deepEqual(await outcome, {
    kind: "face_elsewhere",
    sessionId,
    url: `https://id.example/base/verify/${sessionId}#socket=token%2B2`,
  });
});

test("with a camera its pictures are sent until the service needs no more of them", async () => {
  let taken = 0;
  const { outcome, socket } = await begin({
    camera: async function* (challenge) {
      assert.deepEqual(challenge.movements, ["look_up"]);
      for (;;) {
        taken += 1;
        yield { jpeg: file(taken), atMs: taken };
        if (taken === 2) socket.end("REPLACED");
        assert.ok(taken < 4, "it goes on although nobody looks");
      }
    },
  });
  socket.tell(welcome("face"));
  assert.deepEqual(socket.messages().at(-1), { type: "face_start", camera: true });
  const asked = { movements: ["look_up"], colours: ["red"], colour_ms: 900, deadline_ms: 45_000 };
  socket.tell({ type: "face_challenge", ...asked });
  assert.deepEqual(await outcome, { kind: "closed", sessionId, code: "REPLACED" });
  assert.equal(spoken(socket).filter((type) => type === "face_frame").length, 2);
  await until(() => taken === 3);
});

test("a film that is over is judged", async () => {
  const { outcome, socket } = await begin({
    camera: async function* () {
      yield { jpeg: file(1), atMs: 1 };
    },
  });
  socket.tell(welcome("face"));
  const asked = { movements: ["look_up"], colours: ["red"], colour_ms: 900, deadline_ms: 45_000 };
  socket.tell({ type: "face_challenge", ...asked });
  await until(() => spoken(socket).includes("face_done"));
  socket.tell({ type: "outcome", status: "succeeded", failure_code: null });
  assert.equal((await outcome).kind, "succeeded");
});

test("a chip that cannot be read is thrown as its own error, a camera without a picture as a mistake of the device", async () => {
  const wrong = new EmrtdError("ACCESS_KEY_INVALID", "wrong key");
  const { outcome, socket } = await begin({ chip: () => Promise.reject(wrong) });
  socket.tell(welcome("chip"));
  await assert.rejects(outcome, wrong);
  const silent = await begin({ chip: () => Promise.reject(null) });
  silent.socket.tell(welcome("chip"));
  await assert.rejects(silent.outcome, DeviceError);
});

test("a device that is told to stop leaves the session as it is, and says why it stopped", async () => {
  const controller = new AbortController();
  const { outcome, socket } = await begin({ signal: controller.signal });
  socket.tell(welcome("chip"));
  controller.abort(new Error("closing time"));
  await assert.rejects(outcome, { message: "closing time" });
  assert.equal(socket.closedWith, 1000);
  assert.deepEqual(spoken(socket), ["hello"]);
  FakeSocket.forget();
  const early = runDevice({
    ...{ verificationUrl: `https://id.example/verify/${sessionId}`, chip, fetch: service() },
    signal: AbortSignal.abort(new Error("too early")),
  });
  await assert.rejects(early, { message: "too early" });
});

test("a run that is over listens to its signal no more", async () => {
  const controller = new AbortController();
  const listening = new Set<unknown>();
  const { signal } = controller;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  Object.assign(signal, {
    addEventListener: (type: "abort", listener: () => void) => {
      listening.add(listener);
      add(type, listener);
    },
    removeEventListener: (type: "abort", listener: () => void) => {
      listening.delete(listener);
      remove(type, listener);
    },
  });
  const { outcome, socket } = await begin({ signal });
  assert.equal(listening.size, 1);
  socket.tell(welcome("chip"));
  socket.tell({ type: "outcome", status: "succeeded", failure_code: null });
  await outcome;
  assert.equal(listening.size, 0);
});

test("every outcome is described in a sentence of its own", () => {
  const outcomes: readonly DeviceOutcome[] = [
    { kind: "succeeded", sessionId },
    { kind: "failed", sessionId, failureCode: "document_expired", unmetRequirement: null },
    { kind: "failed", sessionId, failureCode: "document_expired", unmetRequirement: "revocation" },
    { kind: "stopped", sessionId, after: "chip" },
    { kind: "face_elsewhere", sessionId, url: "https://id.example/verify#socket=t" },
    { kind: "fault", sessionId, code: "TRUST_STORE_EMPTY", message: "None." },
    { kind: "closed", sessionId, code: "REPLACED" },
  ];
  const described = outcomes.map(describeOutcome);
  assert.equal(new Set(described).size, outcomes.length);
  assert.match(described[2] ?? "", /revocation/);
  assert.doesNotMatch(described[1] ?? "", /null/);
  assert.match(described[4] ?? "", /Within 2 minutes.*https:\/\/id\.example\/verify#socket=t/);
});
