import assert from "node:assert/strict";
import { test } from "node:test";
import { triesAllowed } from "@assay/contract/facts";
import { chipFiles } from "@assay/contract/verify-protocol";
import type { ServiceMessage } from "@assay/contract/verify-socket";
import { advance as advanceDevice, openWishes } from "@assay/device/device-flow";
import { closeRules } from "@assay/device/device-rules";
import {
  type DeviceEffect,
  type DeviceInput,
  type DeviceState,
  type DeviceTimer,
  startDevice,
} from "@assay/device/device-state";
import fc from "fast-check";
import { knownId } from "../../platform/kernel/ids.ts";
import { advance, type FlowEffect, type FlowInput, type FlowState, startFlow } from "./verify-flow.ts";

/** Pending work of the device. Each piece ends at some time, and its result is an input of the flow. */
type Work =
  | { what: "opening" }
  | { what: "timer"; timer: DeviceTimer }
  | { what: "reading" | "reopening" | "passing_on" | "capture"; job: number };

const chipWork: readonly Work["what"][] = ["reading", "reopening", "passing_on"];

/** Both flows with a slow connection between them that may break, and random events around them. */
class BothEnds {
  readonly #chance: (below: number) => number;
  device: DeviceState = startDevice();
  service: FlowState;
  nowMs = Date.UTC(2026, 0, 1);
  wire: "none" | "opening" | "open" = "none";
  toService: FlowInput[] = [];
  toDevice: ServiceMessage[] = [];
  closing: string | null = null;
  work: Work[] = [];
  artifact = 1;
  exchanges = 0;

  constructor(chance: (below: number) => number, faceMode: "camera" | "simulated") {
    this.#chance = chance;
    this.service = startFlow(
      {
        sessionId: knownId("vs_"),
        attemptId: knownId("va_"),
        sandbox: faceMode === "simulated",
        faceMode,
        expiresAt: "",
      },
      { chip: 0, face: 0, chipPassed: false },
    );
  }

  tell(input: DeviceInput): void {
    const { state, effects } = advanceDevice(this.device, input, this.nowMs);
    this.device = state;
    for (const effect of effects) this.#doOnDevice(effect);
  }

  serve(input: FlowInput): void {
    const { state, effects } = advance(this.service, input, new Date(this.nowMs));
    this.service = state;
    for (const effect of effects) this.#doOnService(effect);
  }

  #doOnDevice(effect: DeviceEffect): void {
    switch (effect.kind) {
      case "connect":
        this.wire = "opening";
        this.artifact = 1;
        this.work.push({ what: "opening" });
        return;
      case "disconnect":
        this.#cut();
        return;
      case "send":
        this.toService.push(
          effect.message.type === "hello"
            ? { kind: "attached" }
            : { kind: "message", message: effect.message },
        );
        return;
      case "send_files":
        for (const file of chipFiles)
          this.#announce({ type: "chip_file", artifact: this.artifact, file, size: 5 });
        this.toService.push({ kind: "message", message: { type: "chip_done" } });
        return;
      case "send_frame":
        this.#announce({ type: "face_frame", artifact: this.artifact, size: 5, at_ms: 0 });
        return;
      case "read_chip":
        this.work.push({ what: "reading", job: effect.job });
        return;
      case "reopen_chip":
        this.work.push({ what: "reopening", job: effect.job });
        return;
      case "pass_on":
        this.work.push({ what: "passing_on", job: effect.job });
        return;
      case "release_chip":
        this.work = this.work.filter(({ what }) => !chipWork.includes(what));
        return;
      case "start_capture":
        this.work.push({ what: "capture", job: effect.job });
        return;
      case "abort_capture":
        this.work = this.work.filter(({ what }) => what !== "capture");
        return;
      case "set_timer":
        this.work.push({ what: "timer", timer: effect.timer });
        return;
      case "clear_timer":
        this.work = this.work.filter((work) => work.what !== "timer" || work.timer !== effect.timer);
        return;
      default:
        return;
    }
  }

  #announce(message: Extract<FlowInput, { kind: "message" }>["message"]): void {
    const part = { artifact: this.artifact++, offset: 0, total: 5, length: 5 };
    this.toService.push({ kind: "message", message }, { kind: "part", part });
  }

  #doOnService(effect: FlowEffect): void {
    switch (effect.kind) {
      case "send":
        this.toDevice.push(effect.message);
        return;
      case "close":
        assert.notEqual(
          closeRules[effect.code],
          "own_mistake",
          `${effect.code} in ${this.service.phase}, while the device thinks of ${this.device.phase}`,
        );
        this.closing = effect.code;
        return;
      case "check_chip": {
        const proof =
          (["chip_authentication", "active_authentication", null] as const)[this.#chance(3)] ?? null;
        if (this.#unlucky(6)) this.serve({ kind: "fault", code: "CHECK_FAILED_TO_RUN" });
        else if (this.#unlucky(5))
          this.serve({ kind: "chip_checked", verdict: { failureCode: "document_expired" }, proof: null });
        else this.serve({ kind: "chip_checked", verdict: { failureCode: null }, proof });
        return;
      }
      case "begin_proof":
        this.#command();
        return;
      case "check_answers":
        if (this.#unlucky(3)) this.#command();
        else
          this.serve({
            kind: "proof_judged",
            verdict: { failureCode: this.#unlucky(4) ? "document_active_authentication_failed" : null },
          });
        return;
      case "record": {
        const { step, number, verdict } = effect;
        const decides = verdict.failureCode === null ? step === "face" : number >= triesAllowed;
        this.serve(decides ? { kind: "session_ended", verdict } : { kind: "counted", step, verdict });
        return;
      }
      case "new_face_challenge":
        if (this.#unlucky(5)) this.serve({ kind: "fault", code: "FACE_CHECK_BUSY" });
        else
          this.serve({
            kind: "face_challenge",
            challenge: { movements: ["look_up"], colours: ["red"], colourMs: 900, deadlineMs: 45_000 },
            nonce: "bm9uY2U=",
          });
        return;
      case "judge_face":
        this.serve({
          kind: "face_judged",
          verdict: { failureCode: this.#unlucky(2) ? "liveness_failed" : null },
        });
        return;
      default:
        return;
    }
  }

  #command(): void {
    this.exchanges += 1;
    this.serve({
      kind: "proof_commands",
      exchange: String(this.exchanges).padStart(22, "e"),
      commandKind: "in_session",
      commands: ["AAAA"],
    });
  }

  #unlucky(oneIn: number): boolean {
    return this.#chance(oneIn) === 0;
  }

  #cut(): void {
    this.wire = "none";
    this.toService = [];
    this.toDevice = [];
    this.closing = null;
    this.work = this.work.filter(({ what }) => what !== "opening");
  }

  /** Makes one random thing happen; with `smooth`, only things that make progress. */
  step(smooth: boolean): void {
    this.nowMs += 1 + this.#chance(400);
    const moves: (() => void)[] = [];
    if (this.toService.length > 0) moves.push(() => this.serve(this.toService.shift() ?? assert.fail()));
    if (this.toDevice.length > 0)
      moves.push(() => this.tell({ kind: "message", message: this.toDevice.shift() ?? assert.fail() }));
    else if (this.closing !== null) {
      const reason = this.closing;
      moves.push(() => {
        this.#cut();
        this.tell({ kind: "closed", reason });
      });
    }
    for (const work of this.work) moves.push(() => this.#finish(work, smooth));
    const wishes = openWishes(this.device);
    if (wishes.length > 0 && (moves.length === 0 || !smooth)) moves.push(() => this.#wish(wishes[0]));
    if (!smooth) {
      if (this.wire !== "none" && this.#unlucky(4))
        moves.push(() => {
          this.#cut();
          this.tell({ kind: "closed", reason: "" });
        });
      if (this.#unlucky(4)) moves.push(() => this.tell({ kind: "stop_face" }));
      if (this.#unlucky(4)) moves.push(() => this.tell({ kind: "awake" }));
    }
    // The service checks deadlines now and then, which changes only a capture that has expired.
    if (this.#unlucky(3)) this.serve({ kind: "time_passed" });
    const move = moves[this.#chance(moves.length)];
    assert.ok(move !== undefined, `nothing happens any more: ${JSON.stringify([this.device, this.service])}`);
    move();
  }

  #wish(kind: ReturnType<typeof openWishes>[number] | undefined): void {
    if (kind === "start") this.tell({ kind, token: "token" });
    else if (kind === "start_face")
      this.tell({
        kind,
        source:
          this.service.attempt.faceMode === "simulated" && this.#unlucky(2) ? "test_document" : "camera",
      });
    else if (kind === "retry" || kind === "read_chip") this.tell({ kind });
  }

  #finish(work: Work, smooth: boolean): void {
    this.work = this.work.filter((other) => other !== work);
    const badly = !smooth && this.#unlucky(4);
    switch (work.what) {
      case "opening":
        if (badly) {
          this.#cut();
          this.tell({ kind: "closed", reason: "" });
        } else {
          this.wire = "open";
          this.tell({ kind: "connected" });
        }
        return;
      case "timer":
        // By then the challenge has run out for the service as well.
        if (work.timer === "challenge") this.nowMs += 46_000;
        this.tell({ kind: "timer", timer: work.timer });
        return;
      case "capture":
        this.tell({ kind: "frame", job: work.job, jpeg: new Uint8Array(5), atMs: 5 });
        this.tell({ kind: badly ? "capture_failed" : "capture_over", job: work.job });
        return;
      default: {
        const { job } = work;
        if (badly && this.#unlucky(2)) this.tell({ kind: "chip_failed", job, problem: "device" });
        else if (work.what === "reading") this.tell({ kind: "chip_read", job });
        else if (work.what === "reopening") this.tell({ kind: "chip_reopened", job });
        else if (badly) this.tell({ kind: "chip_lost", job });
        else this.tell({ kind: "chip_answered", job, answers: ["kAA="] });
      }
    }
  }
}

/** From chance that the property's library can repeat and shrink. */
function seeded(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return below < 1 ? 0 : Math.floor((state / 4_294_967_296) * below);
  };
}

test("the two flows understand each other whatever happens between them, and come to an end once nothing hinders", () => {
  fc.assert(
    fc.property(
      fc.integer(),
      fc.nat(120),
      fc.constantFrom("camera", "simulated"),
      (seed, hindered, faceMode) => {
        const ends = new BothEnds(seeded(seed), faceMode);
        for (let step = 0; step < hindered && ends.service.phase !== "ended"; step++) ends.step(false);
        for (let step = 0; step < 2_000 && ends.device.outcome === null; step++) {
          if (ends.device.refused !== null) break;
          ends.step(true);
        }
        assert.equal(ends.service.phase, "ended", JSON.stringify(ends.device));
        assert.ok(ends.device.outcome !== null || ends.device.refused === "SESSION_ENDED");
        assert.equal(ends.device.ownMistakes, 0);
      },
    ),
    { numRuns: 500 },
  );
});
