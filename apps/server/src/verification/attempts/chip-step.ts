import { randomBytes } from "node:crypto";
import type { AttemptId } from "@assay/contract/ids";
import type { ChipFile } from "@assay/contract/verify-protocol";
import { type ChipProofState, type ChipProofStep, overwriteChipProof } from "@assay/emrtd/verify/prove-chip";
import { type ChipProof, revocationOf } from "@assay/emrtd/verify/report";
import type { Clock } from "../../platform/kernel/clock.ts";
import type { Log } from "../../platform/lib/log.ts";
import { chipVerdict } from "../evidence/document-chip/chip-verdict.ts";
import type { TryGrounds } from "../evidence/document-chip/judged-try.ts";
import { overwriteProof, type ProvenChip } from "../evidence/document-chip/proof.ts";
import type { CurrentTrust } from "../trust/current-trust.ts";
import type { Asking, ChipExaminer } from "./chip-examiner.ts";
import { type DocumentCheck, documentCheckWithProof, type SentFiles } from "./chip-task.ts";
import type { FlowInput } from "./verify-flow.ts";

export type ChipStepNeeds = {
  clock: Clock;
  log: Log;
  examiner: ChipExaminer;
  trust: CurrentTrust;
  /** A document was judged with this verdict, by this version of the trust store. */
  judged: (verdict: string, trustVersion: string) => void;
  asking: () => Asking;
};

/** A chip that has passed. Claims come from the proof alone; the SOD identifies a test document. */
export type PassedChip = { proof: ProvenChip; dg2: Buffer; sod: Buffer };

/** The owner of the chip. */
type ChipOwner = Parameters<typeof chipVerdict>[1] & { attemptId: AttemptId; sandbox: boolean };

/** Has the chip of one attempt examined. Alone holds its bytes, and overwrites them after use. */
export class ChipStep {
  readonly #owner: ChipOwner;
  readonly #needs: ChipStepNeeds;
  readonly #artifacts = new Map<number, Buffer>();
  readonly #files = new Map<ChipFile, Buffer>();
  #check: DocumentCheck | null = null;
  #proof: ChipProofState | null = null;
  #passed: PassedChip | null = null;

  constructor(owner: ChipOwner, needs: ChipStepNeeds) {
    this.#owner = owner;
    this.#needs = needs;
  }

  get passed(): PassedChip | null {
    return this.#passed;
  }

  get findings(): TryGrounds["chip"] {
    return this.#passed?.proof ?? this.#check;
  }

  expectFile(artifact: number, file: ChipFile, buffer: Buffer): void {
    this.#artifacts.set(artifact, buffer);
    this.#files.set(file, buffer);
  }

  keepPart(artifact: number, offset: number, bytes: Uint8Array): void {
    this.#artifacts.get(artifact)?.set(bytes, offset);
  }

  async check(): Promise<FlowInput> {
    const { clock, log, examiner, judged, asking } = this.#needs;
    const { attemptId, sandbox } = this.#owner;
    const trust = sandbox ? "test_country" : await this.#needs.trust.snapshot();
    const check = await examiner.verify({ trust, files: this.#sentFiles(), now: clock.now() }, asking());
    if (check.trustStoreEmpty) {
      log.warn("could not judge a document: the trust store has no issuing authority");
      return { kind: "fault", code: "TRUST_STORE_EMPTY" };
    }
    this.#check = check;
    const verdict = chipVerdict(check, this.#owner, clock.now());
    const trustVersion = trust === "test_country" ? trust : String(trust.version);
    const named = verdict.failureCode ?? "passed";
    judged(named, trustVersion);
    log.info("a document was judged", { attemptId, verdict: named, trust_version: trustVersion });
    return { kind: "chip_checked", verdict, proof: check.proof };
  }

  async beginProof(proof: ChipProof): Promise<FlowInput> {
    this.#keepProof(null);
    const { examiner, asking } = this.#needs;
    return this.#takeStep(await examiner.beginProof(proof, this.#sentFiles(), asking()));
  }

  async checkAnswers(answers: readonly string[]): Promise<FlowInput> {
    const state = this.#proof;
    if (state === null) throw new Error("there is no proof to go on with");
    const { examiner, asking } = this.#needs;
    const decoded = answers.map((answer) => new Uint8Array(Buffer.from(answer, "base64")));
    return this.#takeStep(await examiner.continueProof(state, decoded, this.#sentFiles(), asking()));
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
    return {
      kind: "proof_judged",
      verdict: chipVerdict(this.#check, this.#owner, this.#needs.clock.now()),
    };
  }

  /** Replaces the state of the proof. Overwrites the old one, which has a private key or a challenge. */
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

  /** Pins a passed chip: moves content, DG2 and SOD without copying, and overwrites everything else. */
  pin(): void {
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
    this.wipe();
    this.#passed = { proof: { kind: "document_chip", content, level, revocation, warnings }, dg2, sod };
  }

  wipe(): void {
    for (const bytes of [...this.#files.values(), this.#check?.content, this.#passed?.dg2, this.#passed?.sod])
      bytes?.fill(0);
    if (this.#passed !== null) overwriteProof(this.#passed.proof);
    this.#keepProof(null);
    this.#files.clear();
    this.#artifacts.clear();
    this.#passed = null;
    this.#check = null;
  }
}
