import {
  type ArtifactFrame,
  type VerifyCloseCode,
  type VerifyPhase,
  verifySocketLimits,
} from "@assay/contract/verify-protocol";
import type { DeviceMessage, ServiceMessage } from "@assay/contract/verify-socket";
import type { Core } from "../../platform/core.ts";
import { describeError } from "../../platform/lib/log.ts";
import { judgedTryOf } from "../evidence/document-chip/judged-try.ts";
import type { Requirements } from "../evidence/kind.ts";
import type { ByteBudget, ByteReservation } from "./byte-budget.ts";
import type { Asking } from "./chip-examiner.ts";
import { ChipStep, type ChipStepNeeds, type PassedChip } from "./chip-step.ts";
import { FaceStep, type FaceStepNeeds } from "./face-step.ts";
import { recordTry, type TriedAttempt } from "./record-try.ts";
import { reportProgress } from "./report-progress.ts";
import { advance, type FlowEffect, type FlowInput, type FlowState, startFlow } from "./verify-flow.ts";

/** One end of a socket, as a run needs it. */
export type DeviceLink = {
  send(message: ServiceMessage): void;
  close(code: VerifyCloseCode): void;
};

export type RunOwner = TriedAttempt & {
  expiresAt: Date;
  requirements: Requirements;
  triesUsed: { chip: number; face: number };
  /** The chip has passed before, so reading it again uses up no try. */
  chipPassed: boolean;
};

export type RunSurroundings = Pick<ChipStepNeeds, "examiner" | "trust" | "judged"> &
  Pick<FaceStepNeeds, "faceJudge" | "attestation"> & {
    core: Core;
    budget: ByteBudget;
    /** Memory for what a device announces, filled with zeros. */
    allocate: (bytes: number) => Buffer;
    /** Seconds that a step took, by its name. */
    timed: (step: string, seconds: number) => void;
  };

export type SocketInput =
  | { kind: "message"; message: Exclude<DeviceMessage, { type: "hello" }> }
  | { kind: "part"; frame: ArtifactFrame };

const chipPhases: readonly VerifyPhase[] = ["chip", "chip_check", "chip_proof"];

/**
 * One attempt in this process: state of the protocol, reserved memory and the device's socket. Inputs are
 * handled one after another. The bytes belong to the steps (`ChipStep`, `FaceStep`).
 */
export class AttemptRun {
  readonly owner: RunOwner;
  readonly #around: RunSurroundings;
  readonly #reservation: ByteReservation;
  readonly #chip: ChipStep;
  readonly #face: FaceStep;
  #state: FlowState;
  #link: DeviceLink | null = null;
  #work: Promise<void> = Promise.resolve();
  #disposed = false;
  #lastStep = "";

  constructor(owner: RunOwner, around: RunSurroundings) {
    this.owner = owner;
    this.#around = around;
    this.#reservation = around.budget.open(owner);
    const { sessionId, attemptId, sandbox, expiresAt, triesUsed, chipPassed } = owner;
    const faceMode = sandbox ? "simulated" : around.faceJudge === null ? "unavailable" : "camera";
    this.#state = startFlow(
      { sessionId, attemptId, sandbox, faceMode, expiresAt: expiresAt.toISOString() },
      { ...triesUsed, chipPassed },
    );
    const { core, examiner, trust, judged, faceJudge, attestation } = around;
    const { db, clock, log } = core;
    const asking = () => this.#asking;
    this.#chip = new ChipStep(owner, { clock, log, examiner, trust, judged, asking });
    this.#face = new FaceStep(owner, {
      ...{ db, clock, log, examiner, faceJudge, attestation, asking },
      reserveMemory: () => this.#reservation.resize("face", verifySocketLimits.faceBytes),
      failedEarly: (verdict, isCurrent) =>
        void this.#next(() =>
          // A device that has lost its connection may resume the challenge, and no try is used.
          isCurrent() && this.#link !== null
            ? this.#apply({ kind: "face_failed_early", verdict }, null)
            : undefined,
        ),
    });
  }

  get link(): DeviceLink | null {
    return this.#link;
  }

  get ended(): boolean {
    return this.#state.phase === "ended" || this.#disposed;
  }

  /** Whether the device would have to repeat something if it continued at another process. */
  get isUnderWay(): boolean {
    return !this.ended && this.#state.phase !== "chip";
  }

  /** Whether this run and the database count the same tries. If not, another process has gone on. */
  agreesWith(triesUsed: RunOwner["triesUsed"]): boolean {
    const known = this.#state.triesUsed;
    return known.chip === triesUsed.chip && known.face === triesUsed.face;
  }

  /**
   * The device has connected with this socket. Closes an earlier socket of the attempt. The device is
   * welcomed only if the memory for its files can be reserved.
   */
  attach(link: DeviceLink): Promise<void> {
    this.#link?.close("REPLACED");
    this.#link = link;
    return this.#next(() => {
      if (this.#link !== link) return undefined;
      if (this.#reserveForChip()) return this.#apply({ kind: "attached" }, null);
      this.#link = null;
      link.close("BUSY");
      return undefined;
    });
  }

  /** The socket is closed. Drops files that were not judged: the device sends them again. */
  detach(link: DeviceLink): void {
    if (this.#link === link) this.#link = null;
    if (this.#link === null)
      void this.#next(() =>
        this.#link === null && this.#state.phase === "chip"
          ? this.#apply({ kind: "forgotten" }, null)
          : undefined,
      );
  }

  /** Resolves when the input has been handled. Input from a socket that has been replaced is dropped. */
  receive(link: DeviceLink, input: SocketInput): Promise<void> {
    return this.#next(() => {
      if (this.#link !== link) return undefined;
      if (this.#around.core.clock.now() >= this.owner.expiresAt)
        return this.#apply({ kind: "session_over" }, null);
      if (input.kind === "message") return this.#apply(input, null);
      const { artifact, offset, total, bytes } = input.frame;
      return this.#apply({ kind: "part", part: { artifact, offset, total, length: bytes.length } }, bytes);
    });
  }

  /** The session has ended, or another device has taken it over. */
  sessionOver(): Promise<void> {
    return this.#next(() => this.#apply({ kind: "session_over" }, null));
  }

  /** The device was away for too long: overwrites the chip's bytes, so the chip has to be read again. */
  forget(): Promise<void> {
    return this.#next(() => (this.#link === null ? this.#apply({ kind: "forgotten" }, null) : undefined));
  }

  /** Ends a capture whose challenge expired some time ago. */
  checkDeadline(): Promise<void> {
    if (this.#state.phase !== "face_capture") return Promise.resolve();
    return this.#next(() => this.#apply({ kind: "time_passed" }, null));
  }

  /** Overwrites all bytes and ignores later inputs. Resolves when pending work has ended. */
  dispose(): Promise<void> {
    this.#disposed = true;
    return this.#work.then(() => {
      this.#chip.wipe();
      this.#face.wipe();
      this.#reservation.release();
    });
  }

  #next(work: () => Promise<void> | undefined): Promise<void> {
    this.#work = this.#work.then(async () => {
      if (this.#disposed) return;
      try {
        await work();
      } catch (error) {
        // An internal fault. No try was counted; the device reconnects and continues from the same state.
        this.#around.core.log.error("a step of a verification failed", {
          attemptId: this.owner.attemptId,
          ...describeError(error),
        });
        this.#link?.close("INTERNAL");
        this.#link = null;
      }
    });
    return this.#work;
  }

  async #apply(first: FlowInput, bytes: Uint8Array | null): Promise<void> {
    const inputs = [first];
    for (let input = inputs.shift(); input !== undefined; input = inputs.shift()) {
      const { state, effects } = advance(this.#state, input, this.#around.core.clock.now());
      this.#state = state;
      await this.#report();
      for (const effect of effects) {
        const then = await this.#carryOut(effect, bytes);
        if (this.#disposed) return;
        if (then !== undefined) inputs.push(then);
      }
    }
    this.#releaseUnused(first.kind);
  }

  // --- bytes -----------------------------------------------------------------------------------------------

  #reserveForChip(): boolean {
    return chipPhases.includes(this.#state.phase)
      ? this.#reservation.resize("chip", verifySocketLimits.chipBytes)
      : true;
  }

  /** Releases memory that the phase does not need. Only a welcome and a challenge reserve some. */
  #releaseUnused(after: FlowInput["kind"]): void {
    const { phase } = this.#state;
    if (phase !== "face_capture" && phase !== "face_check") this.#reservation.resize("face", 0);
    const { passed } = this.#chip;
    if (passed !== null) this.#reservation.resize("chip", passed.dg2.length + passed.sod.length);
    else if (phase === "ended" || after === "forgotten") this.#reservation.resize("chip", 0);
  }

  // --- effects ---------------------------------------------------------------------------------------------

  /** Reports the device's step to the person's other page. A failure is only logged. */
  async #report(): Promise<void> {
    const step = this.#state.phase;
    if (step === this.#lastStep || step === "ended" || this.#link === null) return;
    this.#lastStep = step;
    const { core } = this.#around;
    const { sessionId, attemptId } = this.owner;
    try {
      await reportProgress(core.db, { sessionId, attemptId, step, now: core.clock.now() });
    } catch (error) {
      core.log.warn("could not report the progress of a verification", {
        attemptId,
        ...describeError(error),
      });
    }
  }

  async #carryOut(effect: FlowEffect, bytes: Uint8Array | null): Promise<FlowInput | undefined> {
    switch (effect.kind) {
      case "send":
        this.#link?.send(effect.message);
        return undefined;
      case "close":
        this.#link?.close(effect.code);
        this.#link = null;
        return undefined;
      case "expect_artifact": {
        const { artifact, what } = effect;
        const buffer = this.#around.allocate(effect.size);
        if ("file" in what) this.#chip.expectFile(artifact, what.file, buffer);
        else this.#face.expectFrame(artifact, what.frameAtMs, buffer);
        return undefined;
      }
      case "keep_part":
        if (bytes === null) return undefined;
        this.#chip.keepPart(effect.artifact, effect.offset, bytes);
        this.#face.keepPart(effect.artifact, effect.offset, bytes, this.#state.face);
        return undefined;
      case "wipe":
        // A face cannot be compared without its chip.
        if (effect.what === "chip") this.#chip.wipe();
        this.#face.wipe();
        return undefined;
      case "pin_chip":
        this.#chip.pin();
        return undefined;
      case "check_chip":
        return this.#guarded("chip_check", () => this.#chip.check());
      case "begin_proof":
        return this.#guarded("chip_proof", () => this.#chip.beginProof(effect.proof));
      case "check_answers":
        return this.#guarded("chip_proof", () => this.#chip.checkAnswers(effect.answers));
      case "new_face_challenge": {
        const next = await this.#guarded("face_challenge", () => this.#face.newChallenge(effect.stillHead));
        // The step was stored and reported together with the count.
        if (next.kind === "face_challenge") this.#lastStep = "face_capture";
        return next;
      }
      case "give_back_challenge":
        await this.#face.giveBackChallenge(effect.brokeDown);
        return undefined;
      case "judge_face":
        return this.#guarded("face_check", () =>
          this.#face.judge(this.#passedChip(), effect.by, effect.attestation),
        );
      case "record":
        return this.#record(this.#judgedTry(effect));
    }
  }

  // --- what all steps share --------------------------------------------------------------------------------

  #passedChip(): PassedChip {
    const { passed } = this.#chip;
    if (passed === null) throw new Error("no chip has passed");
    return passed;
  }

  get #asking(): Asking {
    return {
      sandbox: this.owner.sandbox,
      organization: this.owner.organizationId,
      onBusy: () => this.#link?.send({ type: "checking", phase: this.#state.phase, busy: true }),
    };
  }

  /** A check that could not be carried out is an internal fault, whatever the reason. */
  async #guarded(step: string, work: () => Promise<FlowInput>): Promise<FlowInput> {
    const { core, timed } = this.#around;
    const startedAt = performance.now();
    try {
      return await work();
    } catch (error) {
      core.log.error("could not carry out a check", {
        attemptId: this.owner.attemptId,
        step,
        ...describeError(error),
      });
      return { kind: "fault", code: "CHECK_FAILED_TO_RUN" };
    } finally {
      timed(step, (performance.now() - startedAt) / 1000);
    }
  }

  #judgedTry(effect: Extract<FlowEffect, { kind: "record" }>): ReturnType<typeof judgedTryOf> {
    const { triesUsed, chipPassCounted } = this.#state;
    return judgedTryOf(effect, {
      chip: this.#chip.findings,
      proven: this.#chip.passed?.proof ?? null,
      face: this.#face.facts,
      failedTries: triesUsed.chip + triesUsed.face - (chipPassCounted ? 1 : 0),
    });
  }

  async #record(judged: ReturnType<typeof judgedTryOf>): Promise<FlowInput> {
    const { core, timed } = this.#around;
    const startedAt = performance.now();
    try {
      return await recordTry(core, this.owner, judged);
    } catch (error) {
      core.log.error("could not write the result of a try", {
        attemptId: this.owner.attemptId,
        ...describeError(error),
      });
      return { kind: "fault", code: "STORE_UNAVAILABLE" };
    } finally {
      timed("proof" in judged ? "finish" : "count", (performance.now() - startedAt) / 1000);
    }
  }
}
