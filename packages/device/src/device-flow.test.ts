import assert from "node:assert/strict";
import test from "node:test";
import type { AttemptId, SessionId } from "@assay/contract/ids";
import type { FailureCode } from "@assay/contract/sessions";
import {
  type DeviceInputType,
  phaseRules,
  type VerifyPhase,
  verifyCloseCodes,
  verifyPhases,
  verifySocketLimits,
} from "@assay/contract/verify-protocol";
import type { ServiceMessage } from "@assay/contract/verify-socket";
import fc from "fast-check";
import { advance, openWishes } from "./device-flow.ts";
import { closeRules, deviceLimits } from "./device-rules.ts";
import {
  type DeviceEffect,
  type DeviceInput,
  type DeviceState,
  type DeviceTimer,
  type PersonWish,
  startDevice,
  type UnattendedPlan,
} from "./device-state.ts";
import { viewOf } from "./device-view.ts";

const token = "t".repeat(24);
const exchange = (letter: string) => letter.repeat(22);

function welcome(
  phase: VerifyPhase,
  more: { chip?: number; face?: number; mode?: "camera" | "simulated" | "unavailable" } = {},
): ServiceMessage {
  return {
    type: "welcome",
    protocol: "verify.v1",
    session_id: "vs_" as SessionId,
    attempt_id: "va_" as AttemptId,
    sandbox: false,
    phase,
    resumed: false,
    tries_left: { chip: more.chip ?? 3, face: more.face ?? 3 },
    face: more.mode ?? "camera",
    expires_at: "2026-01-01T00:00:00Z",
  };
}

const challenge = (deadlineMs = 45_000): ServiceMessage => ({
  type: "face_challenge",
  movements: ["look_up"],
  colours: ["red", "blue"],
  colour_ms: 900,
  deadline_ms: deadlineMs,
  nonce: "bm9uY2U=",
});

const command = (letter: string): ServiceMessage => ({
  type: "chip_command",
  exchange: exchange(letter),
  proof: "chip_authentication",
  kind: "in_session",
  commands: ["AAAA"],
});

const result = (
  step: "chip" | "face",
  failure: FailureCode | null,
  phase: VerifyPhase,
  left = { chip: 3, face: 3 },
): ServiceMessage => ({
  type: "step_result",
  step,
  passed: failure === null,
  failure_code: failure,
  unmet_requirement: null,
  tries_left: left,
  phase,
});

/** A device that records its effects, with a clock that only the test moves. */
class Bench {
  state: DeviceState;
  nowMs = 1_000_000;
  readonly effects: DeviceEffect[] = [];

  constructor(plan: UnattendedPlan | null = null) {
    this.state = startDevice(plan);
  }

  feed(...inputs: DeviceInput[]): DeviceEffect[] {
    const before = this.effects.length;
    for (const input of inputs) {
      const { state, effects } = advance(this.state, input, this.nowMs);
      this.state = state;
      this.effects.push(...effects);
    }
    return this.effects.slice(before);
  }

  tell(...messages: ServiceMessage[]): DeviceEffect[] {
    return this.feed(...messages.map((message): DeviceInput => ({ kind: "message", message })));
  }

  /** Opens a connection, directly or after the timer. */
  connect(hello: ServiceMessage): DeviceEffect[] {
    if (this.state.stopped) this.feed({ kind: "start", token });
    if (this.state.link === "waiting") this.feed({ kind: "timer", timer: "reconnect" });
    return [...this.feed({ kind: "connected" }), ...this.tell(hello)];
  }

  lose(reason = ""): DeviceEffect[] {
    return this.feed({ kind: "closed", reason });
  }

  /** Reads the chip and gives the number of the job. */
  read(): number {
    const [effect] = this.feed({ kind: "read_chip" });
    assert.ok(effect?.kind === "read_chip");
    return effect.job;
  }

  readAndSend(): void {
    assert.deepEqual(this.feed({ kind: "chip_read", job: this.read() }), [{ kind: "send_files" }]);
  }

  last<D extends DeviceEffect["kind"]>(what: D): Extract<DeviceEffect, { kind: D }> {
    const found = this.effects.findLast((effect) => effect.kind === what);
    return (found as Extract<DeviceEffect, { kind: D }>) ?? assert.fail(`nothing to ${what}`);
  }

  /** The types of the messages that the flow sent, without the driver's messages for files and frames. */
  said(effects: readonly DeviceEffect[] = this.effects): string[] {
    return effects.flatMap((effect) => (effect.kind === "send" ? [effect.message.type] : []));
  }
}

const names = (effects: readonly DeviceEffect[]) => effects.map((effect) => effect.kind);

// --- the connection ----------------------------------------------------------------------------------------

test("without a kept token the session is claimed, the token is kept, and the socket is greeted with it", () => {
  const bench = new Bench();
  const [claim] = bench.feed({ kind: "start", token: null });
  assert.ok(claim?.kind === "claim");
  assert.deepEqual(bench.feed({ kind: "claimed", job: claim.job, token }), [
    { kind: "keep_token", token },
    { kind: "connect" },
  ]);
  assert.deepEqual(bench.feed({ kind: "connected" }), [
    { kind: "send", message: { type: "hello", socket_token: token } },
  ]);
  assert.equal(viewOf(bench.state).connection, "connecting");
  bench.tell(welcome("chip"));
  assert.deepEqual([viewOf(bench.state).connection, viewOf(bench.state).phase], ["open", "chip"]);
});

test("a lost connection is made again after longer and longer waits, and given up in the end until the person asks", () => {
  const bench = new Bench();
  bench.connect(welcome("chip"));
  const waits: number[] = [];
  for (;;) {
    const [effect] = bench.lose();
    if (effect?.kind !== "set_timer") break;
    assert.equal(viewOf(bench.state).connection, "lost");
    waits.push(effect.ms);
    bench.feed({ kind: "timer", timer: "reconnect" });
  }
  assert.deepEqual(waits, [300, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000, 8_000]);
  assert.equal(viewOf(bench.state).connection, "gone");
  assert.deepEqual(openWishes(bench.state), ["retry"]);
  assert.deepEqual(names(bench.feed({ kind: "retry" })), ["connect"]);
  bench.connect(welcome("chip"));
  assert.equal(bench.lose()[0]?.kind, "set_timer");
});

test("somebody who looks at the page again, or is online again, does not wait for the timer", () => {
  const bench = new Bench();
  bench.connect(welcome("chip"));
  bench.lose();
  assert.deepEqual(bench.feed({ kind: "awake" }), [
    { kind: "clear_timer", timer: "reconnect" },
    { kind: "connect" },
  ]);
  assert.deepEqual(bench.feed({ kind: "awake" }), [], "once is enough");
});

test("the two ends of a claim: no answer is tried again, a refusal is told", () => {
  for (const [code, connection, refused] of [
    [null, "lost", null],
    ["SERVICE_UNAVAILABLE", "lost", null],
    ["INTERNAL_SERVER_ERROR", "lost", null],
    ["HANDOFF_TOKEN_EXPIRED", "closed", "HANDOFF_TOKEN_EXPIRED"],
    ["SESSION_ENDED", "closed", "SESSION_ENDED"],
  ] as const) {
    const bench = new Bench();
    const [claim] = bench.feed({ kind: "start", token: null });
    assert.ok(claim?.kind === "claim");
    bench.feed({ kind: "claim_failed", job: claim.job, code });
    const view = viewOf(bench.state);
    assert.deepEqual([view.connection, view.refused], [connection, refused]);
  }
});

test("every reason to close has its rule, and does what the rule says", () => {
  for (const [code, rule] of Object.entries(closeRules)) {
    const bench = new Bench();
    bench.connect(welcome("chip"));
    const effects = bench.lose(code);
    const view = viewOf(bench.state);
    switch (rule) {
      case "over":
        assert.deepEqual([view.connection, view.refused], ["closed", "SESSION_ENDED"], code);
        break;
      case "refused":
        assert.deepEqual([view.connection, view.refused], ["closed", code]);
        break;
      case "claim_again":
        assert.deepEqual(effects[0], { kind: "keep_token", token: null });
        assert.equal(bench.feed({ kind: "timer", timer: "reconnect" })[0]?.kind, "claim", code);
        break;
      default:
        assert.equal(view.connection, "lost", code);
        assert.equal(bench.feed({ kind: "timer", timer: "reconnect" })[0]?.kind, "connect", code);
    }
  }
  assert.deepEqual(Object.keys(closeRules).sort(), Object.keys(verifyCloseCodes).sort());
});

test("what the closing message says counts, also where a proxy swallows the reason of the close", () => {
  const bench = new Bench();
  bench.connect(welcome("chip"));
  bench.tell({ type: "closing", code: "REPLACED", message: "" });
  bench.lose("");
  assert.equal(viewOf(bench.state).refused, "REPLACED");
});

test("the reason counts also where the service gives it before its welcome", () => {
  const bench = new Bench();
  bench.feed({ kind: "start", token }, { kind: "connected" });
  bench.tell({ type: "closing", code: "SESSION_ENDED", message: "" });
  bench.lose("");
  assert.equal(viewOf(bench.state).refused, "SESSION_ENDED");
});

test("after an outcome a connection that is lost is not made again, whatever the reason", () => {
  for (const reason of ["", "SHUTTING_DOWN", "SOCKET_TOKEN_INVALID"]) {
    const bench = new Bench();
    bench.connect(welcome("face"));
    bench.tell({ type: "outcome", status: "succeeded", failure_code: null, unmet_requirement: null });
    assert.deepEqual(bench.lose(reason), [], reason);
    assert.deepEqual([viewOf(bench.state).connection, viewOf(bench.state).refused], ["closed", null]);
    assert.deepEqual(bench.feed({ kind: "retry" }, { kind: "start", token }), []);
  }
});

test("an outcome counts also where it comes before the welcome", () => {
  const bench = new Bench();
  bench.feed({ kind: "start", token }, { kind: "connected" });
  bench.tell({ type: "outcome", status: "succeeded", failure_code: null, unmet_requirement: null });
  assert.equal(viewOf(bench.state).outcome?.status, "succeeded");
  const early = new Bench();
  early.feed({ kind: "start", token }, { kind: "connected" });
  assert.deepEqual(early.tell(challenge(), command("a")), [], "nothing else does");
});

test("a device that the service does not understand gives up after a few times, and lets go of what it sent", () => {
  const bench = new Bench();
  bench.connect(welcome("chip"));
  bench.readAndSend();
  bench.lose("ARTIFACT_INVALID");
  for (let mistake = 2; mistake <= deviceLimits.ownMistakesAllowed; mistake++) {
    assert.ok(names(bench.connect(welcome("chip"))).includes("send_files"));
    bench.lose("ARTIFACT_INVALID");
  }
  bench.connect(welcome("chip"));
  assert.deepEqual(names(bench.lose("ARTIFACT_INVALID")), ["release_chip"]);
  assert.equal(viewOf(bench.state).connection, "gone");
  bench.feed({ kind: "retry" });
  bench.connect(welcome("chip"));
  assert.deepEqual(openWishes(bench.state), ["read_chip"], "a fresh reading");
});

test("a requirement that the document cannot meet is told apart", () => {
  const code = "document_chip_authentication_failed";
  const failed = result("chip", code, "chip");
  const bench = new Bench();
  bench.connect(welcome("chip"));
  bench.readAndSend();
  bench.tell({ ...failed, unmet_requirement: "clone_detection" } as ServiceMessage);
  assert.deepEqual(viewOf(bench.state).failure, {
    step: "chip",
    code,
    unmetRequirement: "clone_detection",
  });
  assert.equal(bench.last("report").step, `chip_failed (${code}, clone_detection is required), 3 left`);
});

test("an outcome ends it, and the close after it changes nothing", () => {
  const bench = new Bench();
  bench.connect(welcome("face"));
  bench.tell({ type: "outcome", status: "failed", failure_code: "liveness_failed", unmet_requirement: null });
  assert.deepEqual(bench.lose("OUTCOME"), []);
  const view = viewOf(bench.state);
  assert.deepEqual([view.phase, view.connection], ["ended", "closed"]);
  assert.deepEqual(view.outcome, {
    status: "failed",
    failureCode: "liveness_failed",
    unmetRequirement: null,
  });
  assert.deepEqual(openWishes(bench.state), []);
});

test("stopping leaves nothing behind: timers, pictures, connection and chip", () => {
  const reading = new Bench();
  reading.connect(welcome("chip"));
  const job = reading.read();
  assert.deepEqual(names(reading.feed({ kind: "stop" })), ["disconnect", "release_chip"]);
  assert.deepEqual(reading.feed({ kind: "chip_read", job }), [], "it comes too late");
  const filming = new Bench();
  filming.connect(welcome("face"));
  filming.feed({ kind: "start_face", source: "camera" });
  filming.tell(challenge());
  assert.deepEqual(names(filming.feed({ kind: "stop" })), ["abort_capture", "disconnect"]);
  const waiting = new Bench();
  waiting.connect(welcome("chip"));
  waiting.lose();
  assert.deepEqual(waiting.feed({ kind: "stop" }), [{ kind: "clear_timer", timer: "reconnect" }]);
  assert.deepEqual(openWishes(waiting.state), ["start"]);
});

test("a claim that comes after it was stopped and started again is not taken for the new one", () => {
  const bench = new Bench();
  const [first] = bench.feed({ kind: "start", token: null });
  bench.feed({ kind: "stop" });
  const [second] = bench.feed({ kind: "start", token: null });
  assert.ok(first?.kind === "claim" && second?.kind === "claim");
  assert.deepEqual(bench.feed({ kind: "claimed", job: first.job, token: "dead" }), []);
  assert.equal(bench.feed({ kind: "claimed", job: second.job, token }).at(-1)?.kind, "connect");
});

// --- the chip ----------------------------------------------------------------------------------------------

test("a chip is read, sent, checked, proven, and let go with the verdict", () => {
  const bench = new Bench();
  bench.connect(welcome("chip"));
  bench.readAndSend();
  assert.deepEqual(viewOf(bench.state).step, { at: "sending" });
  bench.tell({ type: "checking", phase: "chip_check", busy: true });
  assert.deepEqual([viewOf(bench.state).busy, viewOf(bench.state).step], [true, { at: "checking" }]);
  bench.tell(command("a"));
  const passing = bench.last("pass_on");
  assert.deepEqual([passing.reopenFirst, viewOf(bench.state).step], [false, { at: "proof" }]);
  assert.deepEqual(bench.feed({ kind: "chip_answered", job: passing.job, answers: ["kAA="] }), [
    { kind: "send", message: { type: "chip_answer", exchange: exchange("a"), answers: ["kAA="] } },
  ]);
  assert.ok(names(bench.tell(result("chip", null, "face"))).includes("release_chip"));
  const view = viewOf(bench.state);
  assert.deepEqual([view.phase, view.reading, view.step], ["face", false, null]);
});

test("what was read while the connection was away is sent once it is back", () => {
  const bench = new Bench();
  bench.connect(welcome("chip"));
  const job = bench.read();
  bench.lose();
  assert.deepEqual(bench.feed({ kind: "chip_read", job }), []);
  assert.ok(viewOf(bench.state).reading);
  assert.ok(names(bench.connect(welcome("chip"))).includes("send_files"));
});

test("files that were not judged before the connection was lost are sent again", () => {
  const bench = new Bench();
  bench.connect(welcome("chip"));
  bench.readAndSend();
  bench.tell({ type: "checking", phase: "chip_check", busy: false });
  bench.lose();
  assert.ok(names(bench.connect(welcome("chip"))).includes("send_files"));
});

test("a verdict that got lost has used up a try: the chip is let go instead of being sent again", () => {
  const bench = new Bench();
  bench.connect(welcome("chip"));
  bench.readAndSend();
  bench.lose();
  const effects = names(bench.connect(welcome("chip", { chip: 2 })));
  assert.ok(effects.includes("release_chip") && !effects.includes("send_files"));
  assert.deepEqual(openWishes(bench.state), ["read_chip"]);
});

test("a verdict on the face that got lost is not risked again without the person", () => {
  const bench = new Bench();
  bench.connect(welcome("face", { mode: "simulated" }));
  bench.feed({ kind: "start_face", source: "test_document" });
  bench.lose();
  bench.connect(welcome("face", { mode: "simulated", face: 2 }));
  assert.deepEqual(bench.said(), ["hello", "face_start", "hello"]);
  assert.deepEqual(openWishes(bench.state), ["start_face"]);
});

test("a chip with the session of an earlier exchange is opened anew before it hears the next command", () => {
  const bench = new Bench();
  bench.connect(welcome("chip"));
  bench.readAndSend();
  bench.tell(command("a"));
  const first = bench.last("pass_on");
  bench.lose();
  bench.connect(welcome("chip_proof"));
  assert.deepEqual(names(bench.tell(command("b"))), ["report"], "the chip is still busy with the old one");
  const effects = bench.feed({ kind: "chip_answered", job: first.job, answers: ["kAA="] });
  assert.deepEqual(names(effects), ["pass_on"], "the old answer is told to nobody");
  assert.ok(effects[0]?.kind === "pass_on" && effects[0].reopenFirst);
  assert.equal(effects[0].command.exchange, exchange("b"));
});

test("a chip that left the field is opened again before the service hears of it", () => {
  const bench = new Bench();
  bench.connect(welcome("chip"));
  bench.readAndSend();
  bench.tell(command("a"));
  assert.deepEqual(names(bench.feed({ kind: "chip_lost", job: bench.last("pass_on").job })), ["reopen_chip"]);
  const effects = bench.feed({ kind: "chip_reopened", job: bench.last("reopen_chip").job });
  assert.deepEqual(effects, [{ kind: "send", message: { type: "chip_lost" } }]);
  bench.tell(command("b"));
  assert.equal(bench.last("pass_on").reopenFirst, false);
});

test("a chip that keeps leaving the field is read again before the service loses its patience", () => {
  const bench = new Bench();
  bench.connect(welcome("chip"));
  bench.readAndSend();
  const slipAway = (letter: string) => {
    bench.tell(command(letter));
    bench.feed({ kind: "chip_lost", job: bench.last("pass_on").job });
    return bench.feed({ kind: "chip_reopened", job: bench.last("reopen_chip").job });
  };
  for (let time = 0; time < verifySocketLimits.proofRestarts; time++)
    assert.deepEqual(bench.said(slipAway(String.fromCharCode(97 + time))), ["chip_lost"]);
  assert.deepEqual(bench.said(slipAway("z")), ["chip_restart"]);
  assert.deepEqual([viewOf(bench.state).phase, viewOf(bench.state).problem], ["chip", "lost"]);
});

test("an error of our own reader is never an answer of the chip: the step begins anew, and the person is told", () => {
  const bench = new Bench();
  bench.connect(welcome("chip"));
  bench.readAndSend();
  bench.tell(command("a"));
  const effects = bench.feed({
    kind: "chip_failed",
    job: bench.last("pass_on").job,
    problem: "device",
  });
  assert.deepEqual(effects, [{ kind: "release_chip" }, { kind: "send", message: { type: "chip_restart" } }]);
  const view = viewOf(bench.state);
  assert.deepEqual([view.phase, view.problem, view.reading], ["chip", "device", false]);
  assert.deepEqual(openWishes(bench.state), ["read_chip"]);
});

test("such an error while the connection is away is told once it is back", () => {
  const bench = new Bench();
  bench.connect(welcome("chip"));
  bench.readAndSend();
  bench.tell(command("a"));
  bench.lose();
  bench.feed({ kind: "chip_failed", job: bench.last("pass_on").job, problem: "device" });
  bench.connect(welcome("chip_proof"));
  assert.deepEqual(bench.said(bench.tell(command("b"))), ["chip_restart"]);
  assert.deepEqual([viewOf(bench.state).phase, viewOf(bench.state).problem], ["chip", "device"]);
});

test("a page that was loaded anew during the proof begins the chip step anew", () => {
  const bench = new Bench();
  bench.connect(welcome("chip_proof"));
  assert.deepEqual(bench.said(bench.tell(command("a"))), ["chip_restart"]);
  assert.deepEqual(openWishes(bench.state), ["read_chip"]);
});

test("a chip that cannot be read costs nothing, and can be read again", () => {
  const bench = new Bench();
  bench.connect(welcome("chip"));
  const effects = bench.feed({ kind: "chip_failed", job: bench.read(), problem: "key" });
  assert.deepEqual(names(effects), ["release_chip"]);
  assert.equal(viewOf(bench.state).problem, "key");
  bench.readAndSend();
  assert.equal(viewOf(bench.state).problem, null);
});

test("a fault in the chip step leaves it to the person to read again", () => {
  const bench = new Bench();
  bench.connect(welcome("chip"));
  bench.readAndSend();
  bench.tell({ type: "fault", code: "TRUST_STORE_EMPTY", message: "", phase: "chip" });
  assert.deepEqual(
    [viewOf(bench.state).fault, openWishes(bench.state)],
    ["TRUST_STORE_EMPTY", ["read_chip"]],
  );
  bench.lose();
  assert.ok(!names(bench.connect(welcome("chip"))).includes("send_files"));
});

test("the result of a job that is no longer under way changes nothing", () => {
  const bench = new Bench();
  bench.connect(welcome("chip"));
  bench.readAndSend();
  bench.tell(command("a"));
  const { state } = bench;
  assert.deepEqual(
    bench.feed(
      { kind: "chip_lost", job: 999 },
      { kind: "chip_reopened", job: 999 },
      { kind: "chip_answered", job: 999, answers: [] },
      { kind: "chip_failed", job: 999, problem: "device" },
      { kind: "chip_step", job: 999, step: { at: "opening" } },
    ),
    [],
  );
  assert.equal(bench.state, state);
});

test("a chip that was lost in an earlier exchange is opened again for the one that runs, and the service hears nothing", () => {
  const bench = new Bench();
  bench.connect(welcome("chip"));
  bench.readAndSend();
  bench.tell(command("a"));
  const first = bench.last("pass_on");
  bench.lose();
  bench.connect(welcome("chip_proof"));
  bench.tell(command("b"));
  const effects = bench.feed({ kind: "chip_lost", job: first.job });
  assert.deepEqual(names(effects), ["pass_on"]);
  assert.ok(effects[0]?.kind === "pass_on" && effects[0].reopenFirst);
});

test("every job has a number of its own", () => {
  const bench = new Bench();
  bench.feed({ kind: "start", token: null });
  bench.feed({ kind: "claimed", job: bench.last("claim").job, token });
  bench.connect(welcome("chip"));
  bench.readAndSend();
  bench.tell(command("a"));
  bench.feed({ kind: "chip_lost", job: bench.last("pass_on").job });
  bench.feed({ kind: "chip_reopened", job: bench.last("reopen_chip").job });
  bench.tell(command("b"));
  bench.tell(result("chip", null, "face"));
  bench.feed({ kind: "start_face", source: "camera" });
  bench.tell(challenge());
  const jobs = bench.effects.flatMap((effect) => ("job" in effect ? [effect.job] : []));
  assert.equal(jobs.length, 6);
  assert.equal(new Set(jobs).size, jobs.length, jobs.join());
});

// --- the face ----------------------------------------------------------------------------------------------

function inFace(mode?: "camera" | "simulated"): Bench {
  const bench = new Bench();
  bench.connect(welcome("face", mode === undefined ? {} : { mode }));
  return bench;
}

test("a try with the camera: asked for with it, colours and movements reach it, its frames are sent, then it is done", () => {
  const bench = inFace();
  assert.deepEqual(bench.feed({ kind: "start_face", source: "camera" }), [
    { kind: "send", message: { type: "face_start", camera: true } },
  ]);
  bench.tell(challenge());
  const { job, challenge: asked } = bench.last("start_capture");
  assert.deepEqual(asked, {
    movements: ["look_up"],
    colours: ["red", "blue"],
    colourMs: 900,
    endsAtMs: bench.nowMs + 45_000,
    nonce: "bm9uY2U=",
  });
  assert.equal(viewOf(bench.state).phase, "face_capture");
  const jpeg = new Uint8Array(10);
  assert.deepEqual(bench.feed({ kind: "frame", job, jpeg, atMs: 12.4 }), [
    { kind: "send_frame", jpeg, atMs: 12.4 },
  ]);
  assert.deepEqual(bench.feed({ kind: "capture_over", job }), [
    { kind: "send", message: { type: "face_done" } },
  ]);
  assert.equal(viewOf(bench.state).phase, "face_check");
});

test("no frame goes over a limit of the service: too large, too many, too much in all", () => {
  const bench = inFace();
  bench.feed({ kind: "start_face", source: "camera" });
  bench.tell(challenge());
  const { job } = bench.last("start_capture");
  const { faceFrames, faceFrameBytes, faceBytes } = verifySocketLimits;
  const send = (bytes: number) =>
    bench.feed({ kind: "frame", job, jpeg: new Uint8Array(bytes), atMs: 0 }).length;
  assert.equal(send(faceFrameBytes + 1), 0);
  let total = 0;
  for (; total + faceFrameBytes <= faceBytes; total += faceFrameBytes) assert.equal(send(faceFrameBytes), 1);
  assert.equal(send(faceBytes - total + 1), 0);
  const few = inFace();
  few.feed({ kind: "start_face", source: "camera" });
  few.tell(challenge());
  const more = few.last("start_capture").job;
  for (let frame = 0; frame < faceFrames; frame++)
    assert.equal(few.feed({ kind: "frame", job: more, jpeg: new Uint8Array(1), atMs: 0 }).length, 1);
  assert.equal(few.feed({ kind: "frame", job: more, jpeg: new Uint8Array(1), atMs: 0 }).length, 0);
});

test("the test document decides when the camera is not asked for", () => {
  const bench = inFace("simulated");
  assert.deepEqual(bench.feed({ kind: "start_face", source: "test_document" }), [
    { kind: "send", message: { type: "face_start" } },
  ]);
});

test("a connection lost in the middle ends the capture, and the same challenge is taken up on the next one", () => {
  const bench = inFace();
  bench.feed({ kind: "start_face", source: "camera" });
  bench.tell(challenge());
  const first = bench.last("start_capture").job;
  assert.ok(names(bench.lose()).includes("abort_capture"));
  assert.deepEqual(bench.feed({ kind: "capture_over", job: first }), []);
  bench.connect(welcome("face_capture"));
  assert.ok(names(bench.tell(challenge(38_000))).includes("start_capture"));
  bench.feed({ kind: "capture_over", job: bench.last("start_capture").job });
  assert.deepEqual(bench.said(), ["hello", "face_start", "hello", "face_done"]);
});

test("a challenge with too little time left is left to run out, and a fresh one is asked for by itself", () => {
  const bench = inFace();
  bench.feed({ kind: "start_face", source: "camera" });
  bench.tell(challenge());
  bench.lose();
  bench.connect(welcome("face_capture"));
  const effects = bench.tell(challenge(9_000));
  assert.deepEqual(
    effects.filter((effect) => effect.kind !== "report"),
    [{ kind: "set_timer", timer: "challenge", ms: 9_300 }],
    "nobody is asked to move in a hurry",
  );
  assert.deepEqual([viewOf(bench.state).faceWaits, viewOf(bench.state).phase], [true, "face"]);
  assert.deepEqual(names(bench.feed({ kind: "timer", timer: "challenge" })), ["disconnect", "connect"]);
  assert.equal(viewOf(bench.state).faceWaits, false);
  assert.deepEqual(bench.said(bench.connect(welcome("face"))), ["hello", "face_start"]);
  // A fresh one is carried out however short the service makes it.
  assert.ok(names(bench.tell(challenge(15_000))).includes("start_capture"));
});

test("stopping uses no try: nothing is declared done, and the frames are left behind with their connection", () => {
  const bench = inFace();
  bench.feed({ kind: "start_face", source: "camera" });
  bench.tell(challenge());
  const { job } = bench.last("start_capture");
  assert.deepEqual(names(bench.feed({ kind: "stop_face" })), ["abort_capture", "disconnect", "connect"]);
  assert.deepEqual(bench.feed({ kind: "capture_over", job }), []);
  assert.equal(viewOf(bench.state).phase, "face");
  bench.connect(welcome("face_capture"));
  bench.tell(challenge(40_000));
  assert.equal(viewOf(bench.state).phase, "face", "it is the person's turn to start again");
  const effects = bench.feed({ kind: "start_face", source: "camera" });
  assert.deepEqual(names(effects), ["start_capture"], "the challenge is there already");
});

test("who says meanwhile that they cannot turn the head is not given the challenge to turn it again", () => {
  const bench = inFace();
  bench.feed({ kind: "start_face", source: "camera" });
  bench.tell(challenge());
  bench.feed({ kind: "stop_face" });
  bench.connect(welcome("face_capture"));
  bench.tell(challenge(40_000));
  assert.deepEqual(bench.feed({ kind: "start_face", source: "still_camera" }), [
    { kind: "set_timer", timer: "challenge", ms: 40_300 },
  ]);
  bench.feed({ kind: "timer", timer: "challenge" });
  assert.deepEqual(
    bench
      .connect(welcome("face"))
      .filter((effect) => effect.kind === "send")
      .at(-1),
    { kind: "send", message: { type: "face_start", camera: true, still_head: true } },
  );
});

test("who stops while a challenge runs out waits no more, and waits again when they start again", () => {
  const bench = inFace();
  bench.feed({ kind: "start_face", source: "camera" });
  bench.lose();
  bench.connect(welcome("face_capture"));
  bench.tell(challenge(9_000));
  assert.deepEqual(bench.feed({ kind: "stop_face" }), [{ kind: "clear_timer", timer: "challenge" }]);
  bench.nowMs += 4_000;
  assert.deepEqual(bench.feed({ kind: "start_face", source: "camera" }), [
    { kind: "set_timer", timer: "challenge", ms: 5_300 },
  ]);
});

test("who stops and starts before the challenge has come is asked for only once", () => {
  const bench = inFace();
  bench.feed({ kind: "start_face", source: "camera" }, { kind: "stop_face" });
  bench.feed({ kind: "start_face", source: "camera" });
  assert.deepEqual(bench.said(), ["hello", "face_start"]);
  assert.ok(names(bench.tell(challenge())).includes("start_capture"));
});

test("who starts while the connection is being made is not forgotten", () => {
  const bench = inFace();
  bench.lose();
  bench.feed({ kind: "start_face", source: "camera" });
  assert.deepEqual(bench.said(bench.connect(welcome("face"))), ["hello", "face_start"]);
  assert.ok(names(bench.tell(challenge())).includes("start_capture"));
});

test("a fault ends what was started; the next connection asks for nothing", () => {
  const bench = inFace();
  bench.feed({ kind: "start_face", source: "camera" });
  bench.tell({ type: "fault", code: "FACE_CHECK_BUSY", message: "", phase: "face" });
  assert.equal(viewOf(bench.state).fault, "FACE_CHECK_BUSY");
  bench.lose();
  assert.deepEqual(bench.said(bench.connect(welcome("face"))), ["hello"]);
});

test("a camera that gives no picture is the same as stopping", () => {
  const bench = inFace();
  bench.feed({ kind: "start_face", source: "camera" });
  bench.tell(challenge());
  const { job } = bench.last("start_capture");
  const effects = bench.feed({ kind: "capture_failed", job });
  assert.deepEqual(names(effects), ["abort_capture", "disconnect", "connect"]);
});

test("who begins again is shown no failure and no fault of before, and nothing else is forgotten", () => {
  const bench = inFace();
  bench.tell(result("face", "liveness_failed", "face", { chip: 3, face: 2 }));
  const { failure, ...before } = viewOf(bench.state);
  assert.equal(failure?.code, "liveness_failed");
  assert.deepEqual(bench.feed({ kind: "forget_setbacks" }), []);
  assert.deepEqual(viewOf(bench.state), { ...before, failure: null });
  bench.tell({ type: "fault", code: "FACE_CHECK_BUSY", message: "", phase: "face" });
  bench.feed({ kind: "forget_setbacks" });
  assert.equal(viewOf(bench.state).fault, null);
});

test("a connection that is lost while a challenge runs out ends that wait", () => {
  const bench = inFace();
  bench.feed({ kind: "start_face", source: "camera" });
  bench.lose();
  bench.connect(welcome("face_capture"));
  bench.tell(challenge(9_000));
  assert.equal(viewOf(bench.state).faceWaits, true);
  assert.ok(bench.lose().some((effect) => effect.kind === "clear_timer" && effect.timer === "challenge"));
  assert.equal(viewOf(bench.state).faceWaits, false);
});

// --- unattended --------------------------------------------------------------------------------------------

const unattended = (plan: Partial<UnattendedPlan> = {}) =>
  new Bench({ camera: false, stopAfterChip: false, ...plan });

test("an unattended device takes every turn by itself, again after a failure, until there is an outcome", () => {
  const bench = unattended();
  assert.ok(names(bench.connect(welcome("chip", { mode: "simulated" }))).includes("read_chip"));
  bench.feed({ kind: "chip_read", job: bench.last("read_chip").job });
  const again = bench.tell(result("chip", "document_expired", "chip", { chip: 2, face: 3 }));
  assert.deepEqual(names(again), ["report", "release_chip", "read_chip"]);
  bench.feed({ kind: "chip_read", job: bench.last("read_chip").job });
  assert.deepEqual(bench.said(bench.tell(result("chip", null, "face"))), ["face_start"]);
  bench.tell({ type: "outcome", status: "succeeded", failure_code: null, unmet_requirement: null });
  assert.deepEqual(bench.state.end, { kind: "succeeded" });
  assert.equal(bench.effects.at(-1)?.kind, "disconnect");
});

test("it stops after the chip when asked to, and hands the face on where it has no camera", () => {
  for (const [plan, mode, end] of [
    [{ stopAfterChip: true }, "simulated", { kind: "stopped", after: "chip" }],
    [{ stopAfterChip: true }, "camera", { kind: "stopped", after: "chip" }],
    [{}, "camera", { kind: "face_elsewhere" }],
  ] as const) {
    const bench = unattended(plan);
    bench.connect(welcome("chip", { mode }));
    bench.feed({ kind: "chip_read", job: bench.last("read_chip").job });
    bench.tell(result("chip", null, "face"));
    assert.deepEqual(bench.state.end, end);
    assert.ok(!bench.said().includes("face_start"));
    assert.equal(bench.effects.at(-1)?.kind, "disconnect");
  }
});

test("it ends with a fault, a refusal, a mistake of its own and a chip that cannot be read, but not with a lost connection", () => {
  const begin = () => {
    const bench = unattended();
    bench.connect(welcome("chip"));
    return bench;
  };
  const faulty = begin();
  faulty.tell({ type: "fault", code: "TRUST_STORE_EMPTY", message: "None.", phase: "chip" });
  assert.deepEqual(faulty.state.end, { kind: "fault", code: "TRUST_STORE_EMPTY", message: "None." });
  const replaced = begin();
  replaced.lose("REPLACED");
  assert.deepEqual(replaced.state.end, { kind: "closed", code: "REPLACED" });
  const mistaken = begin();
  mistaken.lose("ARTIFACT_INVALID");
  assert.deepEqual(mistaken.state.end, { kind: "closed", code: "ARTIFACT_INVALID" });
  const wrongKey = begin();
  wrongKey.feed({ kind: "chip_failed", job: wrongKey.last("read_chip").job, problem: "key" });
  assert.deepEqual(wrongKey.state.end, { kind: "problem", problem: "key" });
  const lost = begin();
  assert.deepEqual(names(lost.lose()), ["set_timer"]);
  assert.equal(lost.state.end, null);
});

test("it waits for its turn where others come first, asks again without having used a try, and gives up in the end", () => {
  const bench = unattended({ camera: true });
  bench.connect(welcome("face"));
  const busy: ServiceMessage = { type: "fault", code: "FACE_CHECK_BUSY", message: "Wait.", phase: "face" };
  const isAsking = (effects: readonly DeviceEffect[]) => bench.said(effects).includes("face_start");
  for (let turn = 0; turn < deviceLimits.turnsAllowed; turn++) {
    const waits = bench.tell(busy);
    assert.ok(waits.some((effect) => effect.kind === "set_timer" && effect.ms === deviceLimits.turnMs));
    assert.ok(!isAsking(waits), "not before its time");
    assert.equal(bench.state.end, null);
    assert.ok(isAsking(bench.feed({ kind: "timer", timer: "turn" })));
  }
  bench.tell(busy);
  assert.deepEqual(bench.state.end, { kind: "fault", code: "FACE_CHECK_BUSY", message: "Wait." });
});

test("a connection that is lost while it waits changes nothing about its turn", () => {
  const bench = unattended({ camera: true });
  bench.connect(welcome("face"));
  bench.tell({ type: "fault", code: "FACE_CHECK_BUSY", message: "", phase: "face" });
  bench.lose();
  assert.deepEqual(bench.said(bench.connect(welcome("face"))), ["hello"]);
  assert.deepEqual(bench.said(bench.feed({ kind: "timer", timer: "turn" })), ["face_start"]);
});

test("a service without memory for it is asked again after the usual waits, with a person and without", () => {
  for (const bench of [new Bench(), unattended()]) {
    bench.feed({ kind: "start", token }, { kind: "connected" });
    assert.deepEqual(bench.lose("BUSY"), [
      { kind: "set_timer", timer: "reconnect", ms: deviceLimits.backoffMs[0] },
    ]);
    assert.deepEqual([bench.state.end, bench.state.ownMistakes, bench.state.refused], [null, 0, null]);
  }
});

test("an unattended device whose connection does not come back ends, with the reason that the service gave if it gave one", () => {
  for (const [reason, code] of [
    ["", "CONNECTION_LOST"],
    ["SHUTTING_DOWN", "SHUTTING_DOWN"],
  ] as const) {
    const bench = unattended();
    bench.connect(welcome("chip"));
    for (let failure = 0; failure <= deviceLimits.failuresAllowed; failure++) {
      assert.equal(bench.state.end, null);
      bench.lose(reason);
      bench.feed({ kind: "timer", timer: "reconnect" });
    }
    assert.deepEqual(bench.state.end, { kind: "closed", code });
  }
});

test("it stops after the chip in whatever phase of the face it comes back", () => {
  for (const phase of ["face", "face_capture", "face_check"] as const) {
    const bench = unattended({ stopAfterChip: true });
    bench.connect(welcome(phase));
    assert.deepEqual(bench.state.end, { kind: "stopped", after: "chip" }, phase);
  }
});

// --- any order ---------------------------------------------------------------------------------------------

const phaseOf = fc.constantFrom(...verifyPhases);
const left = fc.record({ chip: fc.integer({ min: 0, max: 3 }), face: fc.integer({ min: 0, max: 3 }) });
const anyMessage: fc.Arbitrary<ServiceMessage> = fc.oneof(
  fc
    .tuple(phaseOf, left, fc.constantFrom("camera", "simulated", "unavailable"))
    .map(([phase, tries, mode]) => welcome(phase, { ...tries, mode })),
  fc.tuple(phaseOf, fc.boolean()).map(([phase, busy]): ServiceMessage => ({ type: "checking", phase, busy })),
  fc.constantFrom("a", "b", "c", "d").map(command),
  fc
    .tuple(fc.constantFrom("chip", "face"), fc.constantFrom(null, "document_expired"), phaseOf, left)
    .map(([step, failure, phase, tries]) => result(step, failure, phase, tries)),
  fc.integer({ min: 1, max: 60_000 }).map(challenge),
  phaseOf.map(
    (phase): ServiceMessage => ({ type: "fault", code: "CHECK_FAILED_TO_RUN", message: "", phase }),
  ),
  fc.constant<ServiceMessage>({
    type: "outcome",
    status: "failed",
    failure_code: null,
    unmet_requirement: null,
  }),
  fc
    .constantFrom("REPLACED", "OUT_OF_ORDER", "SHUTTING_DOWN")
    .map((code): ServiceMessage => ({ type: "closing", code, message: "" })),
);

/** A possible next event, which may not apply in the current state. */
type Event =
  | { of: "service"; message: ServiceMessage }
  | { of: "person"; wish: PersonWish }
  /** Some work in progress ends, well or badly. */
  | { of: "work"; which: number; how: "well" | "lost" | "badly" }
  | { of: "network"; reason: string }
  | { of: "world"; input: DeviceInput };

const anyEvent: fc.Arbitrary<Event> = fc.oneof(
  { weight: 8, arbitrary: anyMessage.map((message): Event => ({ of: "service", message })) },
  {
    weight: 6,
    arbitrary: fc
      .constantFrom<PersonWish>(
        { kind: "read_chip" },
        { kind: "read_chip" },
        { kind: "start_face", source: "camera" },
        { kind: "start_face", source: "test_document" },
        { kind: "stop_face" },
        { kind: "forget_setbacks" },
        { kind: "retry" },
        { kind: "stop" },
        { kind: "start", token },
        { kind: "start", token: null },
      )
      .map((wish): Event => ({ of: "person", wish })),
  },
  {
    weight: 8,
    arbitrary: fc
      .tuple(fc.nat(9), fc.constantFrom("well", "well", "well", "lost", "badly"))
      .map(([which, how]): Event => ({ of: "work", which, how })),
  },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom("", "", ...Object.keys(verifyCloseCodes), "SOMETHING_NEW")
      .map((reason): Event => ({ of: "network", reason })),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom<DeviceInput>(
        { kind: "awake" },
        { kind: "timer", timer: "reconnect" },
        { kind: "timer", timer: "challenge" },
        { kind: "chip_read", job: 999 },
        { kind: "capture_over", job: 999 },
        { kind: "claimed", job: 999, token },
      )
      .map((input): Event => ({ of: "world", input })),
  },
);

/** Work in progress outside of the flow. It ends at some time, and its result is an input. */
type Work =
  | { what: "timer"; timer: DeviceTimer }
  | { what: "claim" | "reading" | "reopening" | "passing_on" | "capture"; job: number }
  | { what: "opening" };

/**
 * A model of everything around the flow, separate from the flow's state, so that a test can compare the two.
 */
class World {
  state: DeviceState;
  nowMs = 0;
  socket: "none" | "opening" | "open" | "welcomed" = "none";
  /** By the messages that went either way on this connection. */
  phase: VerifyPhase | null = null;
  work: Work[] = [];
  faceAsked = false;
  exchange: string | null = null;
  filesInHand = false;

  constructor(plan: UnattendedPlan | null) {
    this.state = startDevice(plan);
  }

  feed(input: DeviceInput): void {
    const { state, effects } = advance(this.state, input, this.nowMs);
    this.state = state;
    for (const effect of effects) this.carryOut(effect);
  }

  carryOut(effect: DeviceEffect): void {
    switch (effect.kind) {
      case "claim":
        this.begin({ what: "claim", job: effect.job });
        return;
      case "connect":
        assert.equal(this.socket, "none", "one connection at a time");
        this.socket = "opening";
        this.begin({ what: "opening" });
        return;
      case "disconnect":
        this.closed();
        return;
      case "send":
        this.sends(effect.message.type);
        if (effect.message.type === "chip_answer") {
          assert.equal(effect.message.exchange, this.exchange, "an answer to the running exchange");
          this.exchange = null;
        }
        return;
      case "send_files":
        assert.ok(this.filesInHand, "only what was read is sent");
        for (const type of ["chip_file", "part", "chip_done"] as const) this.sends(type);
        return;
      case "send_frame":
        assert.ok(this.work.some(({ what }) => what === "capture"));
        for (const type of ["face_frame", "part"] as const) this.sends(type);
        return;
      case "read_chip":
        this.filesInHand = false;
        this.begin({ what: "reading", job: effect.job });
        return;
      case "reopen_chip":
        this.begin({ what: "reopening", job: effect.job });
        return;
      case "pass_on":
        assert.equal(effect.command.exchange, this.exchange);
        this.begin({ what: "passing_on", job: effect.job });
        return;
      case "release_chip":
        this.filesInHand = false;
        this.work = this.work.filter(({ what }) => !chipWork.includes(what));
        return;
      case "start_capture":
        this.begin({ what: "capture", job: effect.job });
        return;
      case "abort_capture":
        this.work = this.work.filter(({ what }) => what !== "capture");
        return;
      case "set_timer":
        this.clear(effect.timer);
        this.begin({ what: "timer", timer: effect.timer });
        return;
      case "clear_timer":
        this.clear(effect.timer);
        return;
      case "keep_token":
      case "report":
        return;
    }
  }

  begin(work: Work): void {
    if (chipWork.includes(work.what))
      assert.ok(!this.work.some(({ what }) => chipWork.includes(what)), "a chip does one thing at a time");
    if (work.what === "capture") assert.ok(!this.work.some(({ what }) => what === "capture"));
    this.work.push(work);
  }

  clear(timer: DeviceTimer): void {
    this.work = this.work.filter((work) => work.what !== "timer" || work.timer !== timer);
  }

  closed(): void {
    this.socket = "none";
    this.phase = null;
    this.faceAsked = false;
    this.exchange = null;
    this.work = this.work.filter(({ what }) => what !== "opening");
  }

  sends(type: DeviceInputType | "hello"): void {
    if (type === "hello") {
      assert.equal(this.socket, "open");
      return;
    }
    assert.equal(this.socket, "welcomed", `${type} before the welcome`);
    assert.ok(this.phase !== null);
    assert.equal(phaseRules[type][this.phase], "taken", `${type} in ${this.phase}`);
    if (type === "chip_done") this.phase = "chip_check";
    if (type === "chip_restart") [this.phase, this.exchange] = ["chip", null];
    if (type === "face_done") this.phase = "face_check";
    if (type === "chip_lost") this.exchange = null;
    if (type === "face_start") {
      assert.ok(!this.faceAsked, "a challenge is asked for once");
      this.faceAsked = true;
    }
  }

  happen(event: Event): void {
    this.nowMs += 700;
    switch (event.of) {
      case "person":
        this.feed(event.wish);
        return;
      case "world":
        this.feed(event.input);
        return;
      case "network":
        if (this.socket === "none") return;
        this.closed();
        this.feed({ kind: "closed", reason: event.reason });
        return;
      case "service":
        this.hears(event.message);
        return;
      case "work": {
        const [done] = this.work.splice(event.which % Math.max(1, this.work.length), 1);
        if (done !== undefined) this.finish(done, event.how);
      }
    }
  }

  /** A service says anything, but welcome first and only once. */
  hears(message: ServiceMessage): void {
    if (this.socket !== "open" && this.socket !== "welcomed") return;
    const first = this.socket === "open";
    if (first !== (message.type === "welcome") && message.type !== "closing") return;
    if (first && message.type === "welcome") this.socket = "welcomed";
    if ("phase" in message) this.phase = message.phase;
    // A service that leaves the proof waits for no answer of it.
    if (this.phase !== "chip_proof") this.exchange = null;
    if (message.type === "chip_command") [this.phase, this.exchange] = ["chip_proof", message.exchange];
    if (message.type === "face_challenge") this.phase = "face_capture";
    if (message.type === "outcome") this.phase = "ended";
    if (["face_challenge", "step_result", "fault"].includes(message.type)) this.faceAsked = false;
    this.feed({ kind: "message", message });
  }

  finish(work: Work, how: "well" | "lost" | "badly"): void {
    switch (work.what) {
      case "timer":
        this.feed({ kind: "timer", timer: work.timer });
        return;
      case "opening":
        if (how === "well") {
          this.socket = "open";
          this.feed({ kind: "connected" });
        } else {
          this.closed();
          this.feed({ kind: "closed", reason: "" });
        }
        return;
      case "claim":
        this.feed(
          how === "well"
            ? { kind: "claimed", job: work.job, token }
            : { kind: "claim_failed", job: work.job, code: how === "lost" ? null : "HANDOFF_TOKEN_CONSUMED" },
        );
        return;
      case "capture":
        if (how === "lost") {
          this.work.push(work);
          this.feed({ kind: "frame", job: work.job, jpeg: new Uint8Array(9), atMs: 1 });
        } else this.feed({ kind: how === "well" ? "capture_over" : "capture_failed", job: work.job });
        return;
      default: {
        const { job } = work;
        if (how === "badly") this.feed({ kind: "chip_failed", job, problem: "device" });
        else if (work.what === "reading") {
          this.filesInHand = true;
          this.feed({ kind: "chip_read", job });
        } else if (work.what === "reopening") this.feed({ kind: "chip_reopened", job });
        else if (how === "lost") this.feed({ kind: "chip_lost", job });
        else this.feed({ kind: "chip_answered", job, answers: [] });
      }
    }
  }

  /** Whose turn it is. If it were no one's, the person would see a page where nothing happens. */
  whoseTurn(): string {
    const { outcome, end } = this.state;
    if (outcome !== null || end !== null) return "over";
    if (openWishes(this.state).length > 0 && this.state.plan === null) return "the person's";
    if (this.work.length > 0) return "what is under way";
    if (this.state.plan !== null && this.state.stopped) return "whoever starts it";
    if (this.socket === "open") return "the service's, which says welcome";
    const servicesPhases: readonly (VerifyPhase | null)[] = ["chip_check", "face_check", "ended"];
    if (this.socket === "welcomed") {
      if (servicesPhases.includes(this.phase) || this.faceAsked) return "the service's";
      if (this.phase === "chip_proof" && this.exchange === null) return "the service's";
      if (this.phase === "face_capture") return "the service's, which sends the challenge again";
    }
    return "nobody's";
  }
}

const chipWork: readonly Work["what"][] = ["reading", "reopening", "passing_on"];

test("a verdict that comes between a command and its answer, and leaves the proof open, begins the chip anew", () => {
  const world = new World({ camera: true, stopAfterChip: false });
  const triesLeft = { chip: 0, face: 0 };
  world.feed({ kind: "start", token });
  world.happen({ of: "work", which: 0, how: "well" });
  world.happen({
    of: "service",
    message: {
      type: "welcome",
      protocol: "verify.v1",
      session_id: "vs_" as SessionId,
      attempt_id: "va_" as AttemptId,
      sandbox: false,
      phase: "chip",
      resumed: false,
      tries_left: triesLeft,
      face: "camera",
      expires_at: "2026-01-01T00:00:00Z",
    },
  });
  world.happen({ of: "work", which: 0, how: "well" });
  world.happen({
    of: "service",
    message: {
      type: "chip_command",
      exchange: "a".repeat(22),
      proof: "chip_authentication",
      kind: "in_session",
      commands: ["AAAA"],
    },
  });
  world.happen({
    of: "service",
    message: {
      type: "step_result",
      step: "chip",
      passed: true,
      failure_code: null,
      unmet_requirement: null,
      tries_left: triesLeft,
      phase: "chip_proof",
    },
  });
  world.happen({ of: "work", which: 0, how: "well" });
  assert.notEqual(world.whoseTurn(), "nobody's");
  assert.equal(world.state.command, null);
});

for (const [who, plan] of [
  ["with a person", null],
  ["unattended", { camera: true, stopAfterChip: false }],
] as const)
  test(`whatever the service says and the person wants, nothing is sent that the table refuses, and nobody gets stuck: ${who}`, () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { minLength: 1, maxLength: 60 }), (events) => {
        const world = new World(plan);
        world.feed({ kind: "start", token });
        for (const event of events) {
          world.happen(event);
          assert.notEqual(world.whoseTurn(), "nobody's", JSON.stringify(world.state));
          for (const kind of openWishes(world.state)) {
            const wish: PersonWish =
              kind === "start"
                ? { kind, token }
                : kind === "start_face"
                  ? { kind, source: world.state.faceSource === "camera" ? "test_document" : "camera" }
                  : { kind };
            const { state, effects } = advance(world.state, wish, world.nowMs);
            assert.ok(effects.length > 0 || state !== world.state, `${kind} leads nowhere`);
          }
        }
      }),
      { numRuns: 3_000 },
    );
  });
