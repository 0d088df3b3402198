import { randomBytes } from "node:crypto";
import type { AttemptId, OrganizationId, SessionId } from "@assay/contract/ids";
import {
  type ArtifactFrame,
  type ChipFile,
  type VerifyCloseCode,
  type VerifyFaultCode,
  type VerifyPhase,
  verifySocketLimits,
} from "@assay/contract/verify-protocol";
import type { DeviceMessage, ServiceMessage } from "@assay/contract/verify-socket";
import { readDg2 } from "@assay/emrtd/lds/dg2";
import { type ChipProofState, type ChipProofStep, overwriteChipProof } from "@assay/emrtd/verify/prove-chip";
import { type ChipProof, revocationOf } from "@assay/emrtd/verify/report";
import type { Challenge } from "@assay/face/challenge";
import type { Core } from "../core.ts";
import type { AttestationJudge, SentAttestation } from "../device-attestation/attestation-judge.ts";
import type { FaceJudge, FaultReason } from "../face/face-judge.ts";
import type { FaceSitting } from "../face/face-sitting.ts";
import { describeError } from "../lib/log.ts";
import { type Requirements, unmetFailureCodes } from "../sessions/requirements.ts";
import type { CurrentTrust } from "../trust/current-trust.ts";
import { giveBackChallenge } from "./attempt-socket.store.ts";
import type { ByteBudget, ByteReservation } from "./byte-budget.ts";
import type { Asking, ChipExaminer } from "./chip-examiner.ts";
import { type DocumentCheck, documentCheckWithProof, type SentFiles } from "./chip-task.ts";
import { claimRefusal } from "./claims.ts";
import { handOutChallenge } from "./hand-out-challenge.ts";
import { overwriteProof, type Proof } from "./proof.ts";
import { recordTry } from "./record-try.ts";
import { reportProgress } from "./report-progress.ts";
import { riskScore } from "./risk-score.ts";
import type { DeviceTrust, JudgedTry, Verdict } from "./try.ts";
import { unmetRequirement } from "./unmet-requirement.ts";
import { advance, type FlowEffect, type FlowInput, type FlowState, startFlow } from "./verify-flow.ts";

/** One end of a socket, as far as a run needs it. */
export type DeviceLink = {
  send(message: ServiceMessage): void;
  close(code: VerifyCloseCode): void;
};

export type RunOwner = {
  sessionId: SessionId;
  attemptId: AttemptId;
  organizationId: OrganizationId;
  sandbox: boolean;
  expiresAt: Date;
  selectedFieldKeys: readonly string[];
  requirements: Requirements;
  triesUsed: { chip: number; face: number };
  chipPassed: boolean;
};

export type RunSurroundings = {
  core: Core;
  examiner: ChipExaminer;
  trust: CurrentTrust;
  /** A document was judged: with which verdict, by which version of what is trusted. */
  judged: (verdict: string, trustVersion: string) => void;
  /** Null where no face check is installed: then nobody can pass with a live document. */
  faceJudge: FaceJudge | null;
  /** Whether the phone's secure hardware vouches for the frames of this challenge. */
  attestation: Pick<AttestationJudge, "judge">;
  budget: ByteBudget;
  /** Memory for what a device announces, filled with zeros. */
  allocate: (bytes: number) => Buffer;
  /** Seconds that a step took, by its name. */
  timed: (step: string, seconds: number) => void;
};

export type DeviceInput =
  | { kind: "message"; message: Exclude<DeviceMessage, { type: "hello" }> }
  | { kind: "part"; frame: ArtifactFrame };

/**
 * A chip that has passed. Claims are made from the proof alone, the portrait is in this DG2, and the SOD identifies a
 * test document.
 */
type PassedChip = { proof: Proof; dg2: Buffer; sod: Buffer };

type FaceFacts = { simulated: boolean; risk: number; device: DeviceTrust; signs: readonly string[] };

const chipPhases: readonly VerifyPhase[] = ["chip", "chip_check", "chip_proof"];

const faceFaultCodes: Readonly<Record<FaultReason, VerifyFaultCode>> = {
  busy: "FACE_CHECK_BUSY",
  portrait_unusable: "PORTRAIT_UNUSABLE",
  models_unavailable: "FACE_CHECK_UNAVAILABLE",
  worker_died: "CHECK_FAILED_TO_RUN",
  worker_error: "CHECK_FAILED_TO_RUN",
  timed_out: "CHECK_FAILED_TO_RUN",
  memory_exceeded: "CHECK_FAILED_TO_RUN",
  closed: "CHECK_FAILED_TO_RUN",
};

/**
 * One attempt as it is carried out in this process: the protocol's state, the bytes that belong to it, and the device's socket, which may
 * change. Everything that happens to it is handled strictly one after another. The bytes are in memory only and are overwritten as soon
 * as they are no longer needed.
 */
export class AttemptRun {
  readonly owner: RunOwner;
  readonly #around: RunSurroundings;
  readonly #reservation: ByteReservation;
  #state: FlowState;
  #link: DeviceLink | null = null;
  #work: Promise<void> = Promise.resolve();
  #disposed = false;
  #lastStep = "";

  readonly #artifacts = new Map<number, Buffer>();
  readonly #files = new Map<ChipFile, Buffer>();
  readonly #frames = new Map<number, { jpeg: Buffer; atMs: number; arrivedAt: Date; whole: boolean }>();
  /** Looks at the frames that are whole, in the order in which they were announced, which is the one they are judged in. */
  #sitting: FaceSitting | null = null;
  #framesShown = 0;
  #check: DocumentCheck | null = null;
  #proof: ChipProofState | null = null;
  #passed: PassedChip | null = null;
  #faceFacts: FaceFacts | null = null;

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
  }

  get link(): DeviceLink | null {
    return this.#link;
  }

  get ended(): boolean {
    return this.#state.phase === "ended" || this.#disposed;
  }

  /** Whether the device would have to do something again that it has done, if it went on elsewhere. */
  get isUnderWay(): boolean {
    return !this.ended && this.#state.phase !== "chip";
  }

  /** Whether this run has counted the same tries as the database. If not, another process has gone on with the attempt. */
  agreesWith(triesUsed: RunOwner["triesUsed"]): boolean {
    const known = this.#state.triesUsed;
    return known.chip === triesUsed.chip && known.face === triesUsed.face;
  }

  /**
   * The device has connected with this socket. An earlier socket of the attempt is closed at once. A device is welcomed
   * only when there is room for what it may send then.
   */
  attach(link: DeviceLink): Promise<void> {
    this.#link?.close("REPLACED");
    this.#link = link;
    return this.#next(() => {
      if (this.#link !== link) return undefined;
      if (this.#makeRoomForChip()) return this.#apply({ kind: "attached" }, null);
      this.#link = null;
      link.close("BUSY");
      return undefined;
    });
  }

  /** The socket is gone. Files that were not judged are sent again on the next one, so they are not kept for it. */
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
  receive(link: DeviceLink, input: DeviceInput): Promise<void> {
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

  /** The device has been disconnected for too long: the chip's bytes are overwritten, and it has to be read again. */
  forget(): Promise<void> {
    return this.#next(() => (this.#link === null ? this.#apply({ kind: "forgotten" }, null) : undefined));
  }

  /** Ends a capture whose challenge has run out some time ago. */
  lookAtTime(): Promise<void> {
    if (this.#state.phase !== "face_capture") return Promise.resolve();
    return this.#next(() => this.#apply({ kind: "time_passed" }, null));
  }

  /** Overwrites all bytes and ignores every later input. Resolves when the work under way has ended. */
  dispose(): Promise<void> {
    this.#disposed = true;
    return this.#work.then(() => {
      this.#wipeChip();
      this.#wipeFace();
      this.#reservation.release();
    });
  }

  #next(work: () => Promise<void> | undefined): Promise<void> {
    this.#work = this.#work.then(async () => {
      if (this.#disposed) return;
      try {
        await work();
      } catch (error) {
        // A fault in our own code. Nothing was counted; the device connects again and goes on from the same state.
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
    this.#giveBackRoom(first.kind);
  }

  // --- bytes -------------------------------------------------------------------------------------------------------

  #makeRoomForChip(): boolean {
    return chipPhases.includes(this.#state.phase)
      ? this.#reservation.resize("chip", verifySocketLimits.chipBytes)
      : true;
  }

  /** Gives back what the phase has no use for. More is reserved in two places only: for a welcome and for a challenge. */
  #giveBackRoom(after: FlowInput["kind"]): void {
    const { phase } = this.#state;
    if (phase !== "face_capture" && phase !== "face_check") this.#reservation.resize("face", 0);
    if (this.#passed !== null)
      this.#reservation.resize("chip", this.#passed.dg2.length + this.#passed.sod.length);
    else if (phase === "ended" || after === "forgotten") this.#reservation.resize("chip", 0);
  }

  // --- effects -----------------------------------------------------------------------------------------------------

  /** Tells the person's other page how far the device is. A failure is only logged: the verification goes on without it. */
  async #report(): Promise<void> {
    const step = this.#state.phase;
    if (step === this.#lastStep || step === "ended" || this.#link === null) return;
    this.#lastStep = step;
    const { core } = this.#around;
    const { sessionId, attemptId } = this.owner;
    try {
      await reportProgress(core.db, { sessionId, attemptId, step, now: core.clock.now() });
    } catch (error) {
      core.log.warn("the progress of a verification could not be told", {
        attemptId,
        ...describeError(error),
      });
    }
  }

  async #carryOut(effect: FlowEffect, bytes: Uint8Array | null): Promise<FlowInput | undefined> {
    switch (effect.do) {
      case "send":
        this.#link?.send(effect.message);
        return undefined;
      case "close":
        this.#link?.close(effect.code);
        this.#link = null;
        return undefined;
      case "expect_artifact": {
        const buffer = this.#around.allocate(effect.size);
        this.#artifacts.set(effect.artifact, buffer);
        if ("file" in effect.what) this.#files.set(effect.what.file, buffer);
        else
          this.#frames.set(effect.artifact, {
            jpeg: buffer,
            atMs: effect.what.frameAtMs,
            arrivedAt: this.#around.core.clock.now(),
            whole: false,
          });
        return undefined;
      }
      case "keep_part": {
        if (bytes !== null) this.#artifacts.get(effect.artifact)?.set(bytes, effect.offset);
        const frame = this.#frames.get(effect.artifact);
        if (frame !== undefined) {
          frame.arrivedAt = this.#around.core.clock.now();
          frame.whole = effect.offset + (bytes?.length ?? 0) === frame.jpeg.length;
          this.#showFrames();
        }
        return undefined;
      }
      case "wipe":
        if (effect.what === "chip") this.#wipeChip();
        else this.#wipeFace();
        return undefined;
      case "pin_chip":
        this.#pin();
        return undefined;
      case "check_chip":
        return this.#guarded("chip_check", () => this.#checkChip());
      case "begin_proof":
        return this.#guarded("chip_proof", () => this.#beginProof(effect.proof));
      case "check_answers":
        return this.#guarded("chip_proof", () => this.#checkAnswers(effect.answers));
      case "new_face_challenge":
        return this.#guarded("face_challenge", () => this.#newChallenge(effect.stillHead));
      case "give_back_challenge":
        await this.#giveBackChallenge(effect.brokeDown);
        return undefined;
      case "judge_face":
        return this.#guarded("face_check", () => this.#judgeFace(effect.by, effect.attestation));
      case "record":
        return this.#record(this.#judgedTry(effect));
    }
  }

  // --- chip --------------------------------------------------------------------------------------------------------

  async #checkChip(): Promise<FlowInput> {
    const { core, examiner, judged } = this.#around;
    const trust = this.owner.sandbox ? "test_country" : await this.#around.trust.snapshot();
    const check = await examiner.verify(
      { trust, files: this.#sentFiles(), now: core.clock.now() },
      this.#asking,
    );
    if (check.trustStoreEmpty) {
      core.log.warn("a document could not be judged: no issuing authority is known");
      return { kind: "fault", code: "TRUST_STORE_EMPTY" };
    }
    this.#check = check;
    const verdict = this.#verdictOn(check);
    const trustVersion = trust === "test_country" ? trust : String(trust.version);
    const named = verdict.failureCode ?? "passed";
    judged(named, trustVersion);
    core.log.info("a document was judged", {
      attemptId: this.owner.attemptId,
      verdict: named,
      trust_version: trustVersion,
    });
    return { kind: "chip_checked", verdict, proof: check.proof };
  }

  /** What the checks so far come to for this session: what was found wrong, what cannot be told, what was demanded and is not possible. */
  #verdictOn({ failureCode, content, report }: DocumentCheck): Verdict {
    if (failureCode !== null) return { failureCode };
    const { selectedFieldKeys, requirements } = this.owner;
    const refusal =
      content === null ? null : claimRefusal(content, selectedFieldKeys, this.#around.core.clock.now());
    // The contract has no code of its own for a document that does not say what was asked for.
    if (refusal !== null) return { failureCode: "document_data_invalid", reasons: [refusal.reason] };
    const unmet = unmetRequirement(report, requirements);
    if (unmet === null) return { failureCode: null };
    return { failureCode: unmetFailureCodes[unmet], unmetRequirement: unmet };
  }

  async #beginProof(proof: ChipProof): Promise<FlowInput> {
    this.#keepProof(null);
    return this.#takeStep(await this.#around.examiner.beginProof(proof, this.#sentFiles(), this.#asking));
  }

  async #checkAnswers(answers: readonly string[]): Promise<FlowInput> {
    const state = this.#proof;
    if (state === null) throw new Error("there is no proof to go on with");
    const decoded = answers.map((answer) => new Uint8Array(Buffer.from(answer, "base64")));
    return this.#takeStep(
      await this.#around.examiner.continueProof(state, decoded, this.#sentFiles(), this.#asking),
    );
  }

  #takeStep(step: ChipProofStep): FlowInput {
    if (step.kind === "ask") {
      this.#keepProof(step.state);
      return {
        kind: "proof_commands",
        exchange: randomBytes(16).toString("base64url"),
        commandKind: step.ask.kind,
        commands: step.ask.commands.map((command) => Buffer.from(command).toString("base64")),
      };
    }
    this.#keepProof(null);
    if (this.#check === null) throw new Error("a proof was judged of a document that was not");
    this.#check = documentCheckWithProof(this.#check, step.verdict);
    return { kind: "proof_judged", verdict: this.#verdictOn(this.#check) };
  }

  /** Replaces the state of the chip's proof. The old one holds a private key or a challenge, so it is overwritten. */
  #keepProof(state: ChipProofState | null): void {
    if (this.#proof !== null) overwriteChipProof(this.#proof);
    this.#proof = state;
  }

  #sentFiles(): SentFiles {
    const [sod, dg1, dg2] = [this.#files.get("SOD"), this.#files.get("DG1"), this.#files.get("DG2")];
    if (sod === undefined || dg1 === undefined || dg2 === undefined)
      throw new Error("a chip is checked before its files are there");
    return { ...Object.fromEntries(this.#files), SOD: sod, DG1: dg1, DG2: dg2 };
  }

  /** Pins the chip that has passed: content, DG2 and SOD are moved, not copied, and everything else is overwritten. */
  #pin(): void {
    const [check, sod, dg2] = [this.#check, this.#files.get("SOD"), this.#files.get("DG2")];
    if (
      sod === undefined ||
      dg2 === undefined ||
      check === null ||
      check.content === null ||
      check.level === null ||
      check.level === "data_authentic"
    )
      throw new Error("a chip was to be pinned that has not passed");
    const { content, level, warnings, report } = check;
    const revocation = revocationOf(report);
    this.#files.delete("SOD");
    this.#files.delete("DG2");
    this.#check = null;
    this.#wipeChip();
    this.#passed = { proof: { kind: "chip", content, level, revocation, warnings }, dg2, sod };
  }

  #passedChip(): PassedChip {
    if (this.#passed === null) throw new Error("no chip has passed");
    return this.#passed;
  }

  #wipeChip(): void {
    for (const bytes of [...this.#files.values(), this.#check?.content, this.#passed?.dg2, this.#passed?.sod])
      bytes?.fill(0);
    if (this.#passed !== null) overwriteProof(this.#passed.proof);
    this.#keepProof(null);
    this.#files.clear();
    this.#artifacts.clear();
    this.#passed = null;
    this.#check = null;
    this.#faceFacts = null;
  }

  // --- face --------------------------------------------------------------------------------------------------------

  async #newChallenge(stillHead: boolean): Promise<FlowInput> {
    const { core, faceJudge } = this.#around;
    const { sessionId, attemptId, sandbox } = this.owner;
    if (faceJudge === null) return { kind: "fault", code: "FACE_CHECK_UNAVAILABLE" };
    const busy: FlowInput = { kind: "fault", code: "FACE_CHECK_BUSY" };
    if (!this.#reservation.resize("face", verifySocketLimits.faceBytes)) return busy;
    const challenge = faceJudge.begin({ sandbox, stillHead });
    if (challenge === null) return busy;
    const answer = await this.#stored(() =>
      handOutChallenge(core.db, { sessionId, attemptId, now: core.clock.now() }),
    );
    switch (answer) {
      case null:
        return { kind: "fault", code: "STORE_UNAVAILABLE" };
      case "spent":
        return { kind: "challenges_spent" };
      case "given_up":
        return { kind: "fault", code: "FACE_CHECK_UNAVAILABLE" };
      case "handed_out":
        // The step was stored and told with the count.
        this.#lastStep = "face_capture";
        return { kind: "face_challenge", challenge, nonce: randomBytes(32).toString("base64") };
    }
  }

  /** Where it cannot be written, the challenge stays counted, which at worst costs a try once three more go unanswered. */
  async #giveBackChallenge(brokeDown: boolean): Promise<void> {
    await this.#stored(() => giveBackChallenge(this.#around.core.db, this.owner.attemptId, brokeDown));
  }

  /** Null where the database did not take it. */
  async #stored<T>(work: () => Promise<T>): Promise<T | null> {
    try {
      return await work();
    } catch (error) {
      this.#around.core.log.error("a challenge could not be counted", {
        attemptId: this.owner.attemptId,
        ...describeError(error),
      });
      return null;
    }
  }

  async #judgeFace(
    by: Extract<FlowEffect, { do: "judge_face" }>["by"],
    attestation: SentAttestation | null,
  ): Promise<FlowInput> {
    const { core, examiner, faceJudge } = this.#around;
    const { sod, dg2 } = this.#passedChip();
    if (by === "test_document") {
      if (!this.owner.sandbox) throw new Error("a test document was to decide a live session");
      const { faceFailureCode } = await examiner.simulateFace(sod, core.clock.now(), this.#asking);
      this.#faceFacts = { simulated: true, risk: 0, device: "unattested", signs: [] };
      return { kind: "face_judged", verdict: { failureCode: faceFailureCode } };
    }
    if (faceJudge === null) return { kind: "fault", code: "FACE_CHECK_UNAVAILABLE" };
    const portrait = readDg2(dg2).faces[0]?.image;
    if (portrait === undefined) throw new Error("a chip has passed without a portrait");
    const device: DeviceTrust = attestation === null ? "unattested" : this.#trustIn(attestation, by.nonce);
    const verdict = await faceJudge.judge({
      portrait: portrait.bytes,
      challenge: by.challenge,
      frames: [...this.#frames.values()].map(({ jpeg, atMs, arrivedAt }) => ({
        jpeg,
        atMs,
        receivedAtMs: arrivedAt.getTime() - by.startedAtMs,
      })),
      sandbox: this.owner.sandbox,
      sitting: this.#sitting ?? undefined,
    });
    switch (verdict.kind) {
      case "passed":
        this.#faceFacts = { simulated: false, risk: verdict.risk, device, signs: verdict.riskInputs.signs };
        return { kind: "face_judged", verdict: { failureCode: null } };
      case "failed":
        return { kind: "face_judged", verdict: { failureCode: verdict.code, reasons: verdict.reasons } };
      case "fault":
        core.log.warn("a face could not be judged", {
          attemptId: this.owner.attemptId,
          reason: verdict.reason,
        });
        return { kind: "fault", code: faceFaultCodes[verdict.reason] };
    }
  }

  #trustIn(attestation: SentAttestation, nonce: string): DeviceTrust {
    const frames = [...this.#frames.values()].map(({ jpeg }) => jpeg);
    return this.#around.attestation.judge(attestation, nonce, frames) === null ? "attested" : "unattested";
  }

  #showFrames(): void {
    const { faceJudge } = this.#around;
    const { face } = this.#state;
    if (faceJudge === null || face === null) return;
    this.#sitting ??= this.#follow(faceJudge, face.challenge);
    for (const { jpeg, atMs, arrivedAt, whole } of [...this.#frames.values()].slice(this.#framesShown)) {
      if (!whole) return;
      this.#sitting.add({ jpeg, atMs, receivedAtMs: arrivedAt.getTime() - face.startedAtMs });
      this.#framesShown++;
    }
  }

  /** A try that cannot pass any more ends at once, so that nobody moves on in vain. */
  #follow(faceJudge: FaceJudge, challenge: Challenge): FaceSitting {
    const sitting = faceJudge.follow({
      challenge,
      onFailed: ({ code, reasons }) =>
        void this.#next(() =>
          // A device that has lost its connection may take up the challenge again, and no try is used.
          this.#sitting === sitting && this.#link !== null
            ? this.#apply({ kind: "face_failed_early", verdict: { failureCode: code, reasons } }, null)
            : undefined,
        ),
    });
    return sitting;
  }

  #wipeFace(): void {
    this.#sitting?.forget();
    this.#sitting = null;
    this.#framesShown = 0;
    for (const { jpeg } of this.#frames.values()) jpeg.fill(0);
    this.#frames.clear();
    this.#artifacts.clear();
    this.#faceFacts = null;
  }

  // --- what all steps share ----------------------------------------------------------------------------------------

  #riskScore(): number {
    const judged = this.#passed?.proof ?? this.#check;
    const { chip, face } = this.#state.triesUsed;
    return riskScore({
      level: judged?.level ?? null,
      warnings: judged?.warnings ?? [],
      failedTries: chip + face - (this.#state.chipPassCounted ? 1 : 0),
      face: this.#faceFacts,
    });
  }

  get #asking(): Asking {
    return {
      sandbox: this.owner.sandbox,
      organization: this.owner.organizationId,
      onBusy: () => this.#link?.send({ type: "checking", phase: this.#state.phase, busy: true }),
    };
  }

  /** A check that could not be carried out is a fault of ours, whatever the reason. */
  async #guarded(step: string, work: () => Promise<FlowInput>): Promise<FlowInput> {
    const { core, timed } = this.#around;
    const startedAt = performance.now();
    try {
      return await work();
    } catch (error) {
      core.log.error("a check could not be carried out", {
        attemptId: this.owner.attemptId,
        step,
        ...describeError(error),
      });
      return { kind: "fault", code: "CHECK_FAILED_TO_RUN" };
    } finally {
      timed(step, (performance.now() - startedAt) / 1000);
    }
  }

  #judgedTry({ step, number, verdict }: Extract<FlowEffect, { do: "record" }>): JudgedTry {
    const riskScore = this.#riskScore();
    if (verdict.failureCode !== null) return { step, number, verdict, riskScore };
    if (step === "chip") return { step, number, verdict, riskScore };
    const { device, signs } = this.#faceFacts ?? { device: "unattested", signs: [] };
    return { step, number, verdict, riskScore, proof: this.#passedChip().proof, device, signs };
  }

  async #record(judged: JudgedTry): Promise<FlowInput> {
    const { core, timed } = this.#around;
    const startedAt = performance.now();
    try {
      return await recordTry(core, this.owner, judged);
    } catch (error) {
      core.log.error("the result of a try could not be written", {
        attemptId: this.owner.attemptId,
        ...describeError(error),
      });
      return { kind: "fault", code: "STORE_UNAVAILABLE" };
    } finally {
      timed("proof" in judged ? "finish" : "count", (performance.now() - startedAt) / 1000);
    }
  }
}
