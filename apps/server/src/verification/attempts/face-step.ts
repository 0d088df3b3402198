import { randomBytes } from "node:crypto";
import type { AttemptId, SessionId } from "@assay/contract/ids";
import type { VerifyFaultCode } from "@assay/contract/verify-protocol";
import { readDg2 } from "@assay/emrtd/lds/dg2";
import type { Db } from "../../platform/db/db.ts";
import type { Clock } from "../../platform/kernel/clock.ts";
import { describeError, type Log } from "../../platform/lib/log.ts";
import type { AttestationJudge, SentAttestation } from "../device-attestation/attestation-judge.ts";
import type { FaceFacts } from "../evidence/document-chip/judged-try.ts";
import type { DeviceTrust } from "../evidence/document-chip/proof.ts";
import type { Rejected } from "../evidence/verdict.ts";
import type { FaceJudge, FaultReason } from "../face/face-judge.ts";
import type { FaceSitting } from "../face/face-sitting.ts";
import { giveBackChallenge } from "./attempt-socket.store.ts";
import type { Asking, ChipExaminer } from "./chip-examiner.ts";
import type { PassedChip } from "./chip-step.ts";
import { handOutChallenge } from "./hand-out-challenge.ts";
import type { FaceTry, FlowEffect, FlowInput } from "./verify-flow.ts";

export type FaceStepNeeds = {
  db: Db;
  clock: Clock;
  log: Log;
  examiner: ChipExaminer;
  /** Null where no face check is installed: then no live document can pass. */
  faceJudge: FaceJudge | null;
  /** Whether the phone's secure hardware vouches for the frames of this challenge. */
  attestation: Pick<AttestationJudge, "judge">;
  asking: () => Asking;
  /** Reserves memory for the frames of a capture; false if there is not enough. */
  reserveMemory: () => boolean;
  /** A capture that is still under way cannot pass any more. */
  failedEarly: (verdict: Rejected, isCurrent: () => boolean) => void;
};

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

/** Has the face of one attempt judged. Alone holds the frames, and overwrites them after use. */
export class FaceStep {
  readonly #owner: { sessionId: SessionId; attemptId: AttemptId; sandbox: boolean };
  readonly #needs: FaceStepNeeds;
  readonly #frames = new Map<number, { jpeg: Buffer; atMs: number; arrivedAt: Date; whole: boolean }>();
  /** Examines complete frames in the order in which they were announced, which is the order of judging. */
  #sitting: FaceSitting | null = null;
  #framesShown = 0;
  #facts: FaceFacts | null = null;

  constructor(owner: { sessionId: SessionId; attemptId: AttemptId; sandbox: boolean }, needs: FaceStepNeeds) {
    this.#owner = owner;
    this.#needs = needs;
  }

  /** Null before a face was judged, or if its frames have failed. */
  get facts(): FaceFacts | null {
    return this.#facts;
  }

  expectFrame(artifact: number, atMs: number, jpeg: Buffer): void {
    this.#frames.set(artifact, { jpeg, atMs, arrivedAt: this.#needs.clock.now(), whole: false });
  }

  keepPart(artifact: number, offset: number, bytes: Uint8Array, face: FaceTry | null): void {
    const frame = this.#frames.get(artifact);
    if (frame === undefined) return;
    frame.jpeg.set(bytes, offset);
    frame.arrivedAt = this.#needs.clock.now();
    frame.whole = offset + bytes.length === frame.jpeg.length;
    if (face !== null) this.#showFrames(face);
  }

  async newChallenge(stillHead: boolean): Promise<FlowInput> {
    const { db, clock, faceJudge, reserveMemory } = this.#needs;
    const { sessionId, attemptId, sandbox } = this.#owner;
    if (faceJudge === null) return { kind: "fault", code: "FACE_CHECK_UNAVAILABLE" };
    const busy: FlowInput = { kind: "fault", code: "FACE_CHECK_BUSY" };
    if (!reserveMemory()) return busy;
    const challenge = faceJudge.begin({ sandbox, stillHead });
    if (challenge === null) return busy;
    const answer = await this.#stored(() => handOutChallenge(db, { sessionId, attemptId, now: clock.now() }));
    switch (answer) {
      case null:
        return { kind: "fault", code: "STORE_UNAVAILABLE" };
      case "spent":
        return { kind: "challenges_spent" };
      case "given_up":
        return { kind: "fault", code: "FACE_CHECK_UNAVAILABLE" };
      case "handed_out":
        return { kind: "face_challenge", challenge, nonce: randomBytes(32).toString("base64") };
    }
  }

  /** If the write fails, the challenge stays counted. At worst that costs a try after three more. */
  async giveBackChallenge(brokeDown: boolean): Promise<void> {
    await this.#stored(() => giveBackChallenge(this.#needs.db, this.#owner.attemptId, brokeDown));
  }

  /** Null if the write failed. */
  async #stored<T>(work: () => Promise<T>): Promise<T | null> {
    try {
      return await work();
    } catch (error) {
      this.#needs.log.error("could not count a challenge", {
        attemptId: this.#owner.attemptId,
        ...describeError(error),
      });
      return null;
    }
  }

  async judge(
    { sod, dg2 }: Pick<PassedChip, "sod" | "dg2">,
    by: Extract<FlowEffect, { kind: "judge_face" }>["by"],
    attestation: SentAttestation | null,
  ): Promise<FlowInput> {
    const { clock, log, examiner, faceJudge, asking } = this.#needs;
    const { attemptId, sandbox } = this.#owner;
    if (by === "test_document") {
      if (!sandbox) throw new Error("a test document was to decide a live session");
      const { faceFailureCode } = await examiner.simulateFace(sod, clock.now(), asking());
      this.#facts = { simulated: true, risk: 0, device: "unattested", checks: [], signs: [] };
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
      sandbox,
      sitting: this.#sitting ?? undefined,
    });
    switch (verdict.kind) {
      case "passed":
        this.#facts = {
          ...{ simulated: false, risk: verdict.risk, device },
          ...{ checks: verdict.checks, signs: verdict.riskInputs.signs },
        };
        return { kind: "face_judged", verdict: { failureCode: null } };
      case "failed":
        return { kind: "face_judged", verdict: { failureCode: verdict.code, reasons: verdict.reasons } };
      case "fault":
        log.warn("could not judge a face", { attemptId, reason: verdict.reason });
        return { kind: "fault", code: faceFaultCodes[verdict.reason] };
    }
  }

  #trustIn(attestation: SentAttestation, nonce: string): DeviceTrust {
    const frames = [...this.#frames.values()].map(({ jpeg }) => jpeg);
    return this.#needs.attestation.judge(attestation, nonce, frames) === null ? "attested" : "unattested";
  }

  #showFrames({ challenge, startedAtMs }: FaceTry): void {
    const { faceJudge } = this.#needs;
    if (faceJudge === null) return;
    this.#sitting ??= this.#follow(faceJudge, challenge);
    for (const { jpeg, atMs, arrivedAt, whole } of [...this.#frames.values()].slice(this.#framesShown)) {
      if (!whole) return;
      this.#sitting.add({ jpeg, atMs, receivedAtMs: arrivedAt.getTime() - startedAtMs });
      this.#framesShown++;
    }
  }

  /** A try that can no longer pass ends at once, so that the person does not move in vain. */
  #follow(faceJudge: FaceJudge, challenge: FaceTry["challenge"]): FaceSitting {
    const sitting = faceJudge.follow({
      challenge,
      onFailed: ({ code, reasons }) =>
        this.#needs.failedEarly({ failureCode: code, reasons }, () => this.#sitting === sitting),
    });
    return sitting;
  }

  wipe(): void {
    this.#sitting?.forget();
    this.#sitting = null;
    this.#framesShown = 0;
    for (const { jpeg } of this.#frames.values()) jpeg.fill(0);
    this.#frames.clear();
    this.#facts = null;
  }
}
