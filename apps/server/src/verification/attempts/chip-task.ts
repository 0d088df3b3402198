import { createHash } from "node:crypto";
import { serialize } from "node:v8";
import { secureRandom } from "@assay/emrtd/crypto/random";
import type { SignatureChecker } from "@assay/emrtd/crypto/signature";
import { listTestDocuments, testDocument } from "@assay/emrtd/node/test-country/catalogue";
import {
  createTestCountry,
  defaultTestSeed,
  testCountryTrust,
} from "@assay/emrtd/node/test-country/test-country";
import { filesToJudge } from "@assay/emrtd/reader/read-document";
import type { DeviationList } from "@assay/emrtd/trust/deviation-list";
import { readDeviationLists } from "@assay/emrtd/trust/known-deviations";
import { TrustStore } from "@assay/emrtd/trust/trust-store";
import { type DocumentFailureCode, failureCodeOf } from "@assay/emrtd/verify/failure-code";
import { parsePolicy } from "@assay/emrtd/verify/parse-policy";
import type { VerificationPolicy } from "@assay/emrtd/verify/policy";
import {
  beginChipProof,
  type ChipProofState,
  type ChipProofStep,
  continueChipProof,
  type ProofFiles,
} from "@assay/emrtd/verify/prove-chip";
import {
  type ChipProof,
  failedCheckOf,
  type Level,
  type ProofResult,
  type Report,
  type WarningCode,
  withChipProof,
} from "@assay/emrtd/verify/report";
import { verifyDocument } from "@assay/emrtd/verify/verify-document";
import type { ChipContent } from "../evidence/document-chip/proof.ts";
import { type TrustSnapshot, unpackTrust } from "../trust/trust-snapshot.ts";

/**
 * The expensive work on a chip, as stateless tasks for any thread. The service keeps the state of a proof,
 * including the private key of chip authentication, and passes it with each task.
 */
export type ChipTask =
  | {
      kind: "verify";
      trust: TrustSnapshot | "test_country";
      files: SentFiles;
      /** As the operator wrote it in `TRUST_POLICY`. */
      policy: string;
      nowMs: number;
    }
  | { kind: "begin_proof"; proof: ChipProof; files: ProofFiles }
  | { kind: "continue_proof"; state: ChipProofState; answers: readonly Uint8Array[]; files: ProofFiles }
  | { kind: "find_test_document"; sod: Uint8Array; nowMs: number };

export type SentFiles = Readonly<
  Partial<Record<"COM" | "DG11" | "DG14" | "DG15" | "CardSecurity", Uint8Array>> &
    Record<"SOD" | "DG1" | "DG2", Uint8Array>
>;

/** The report on a document with its consequences. Only `documentCheckOf` makes it, so that the two agree. */
export type DocumentCheck = {
  report: Report;
  failureCode: DocumentFailureCode | null;
  /** The trust store contains no authority, so no document can be judged. */
  trustStoreEmpty: boolean;
  level: Level | null;
  warnings: readonly WarningCode[];
  proof: ChipProof | null;
  /**
   * The verified content (`ChipContent`), or null if a check failed. A serialized structured clone, because
   * bytes can be overwritten and strings cannot.
   */
  content: Uint8Array | null;
};

function documentCheckOf(report: Report, content: Uint8Array | null): DocumentCheck {
  return {
    report,
    failureCode: failureCodeOf(report),
    trustStoreEmpty: failedCheckOf(report)?.reason === "trust_store_empty",
    level: report.level,
    warnings: report.warnings.map(({ code }) => code),
    proof: report.nextProof,
    content,
  };
}

/** The check with the result of the proof. Keeps the content, so that both are overwritten together. */
export function documentCheckWithProof(
  { report, content }: DocumentCheck,
  result: ProofResult,
): DocumentCheck {
  return documentCheckOf(withChipProof(report, result), content);
}

export type ChipTaskAnswer = {
  verify: DocumentCheck;
  begin_proof: ChipProofStep;
  continue_proof: ChipProofStep;
  find_test_document: { faceFailureCode: "liveness_failed" | "selfie_face_mismatch" | null };
};

/** What documents are checked against. */
type Trusted = { store: TrustStore; deviations: readonly DeviationList[] };

/**
 * What the latest trust snapshot trusts. Each thread keeps one and rebuilds it when the digest changes. A
 * revocation, which may invalidate a deviation list, changes the digest.
 */
export class TrustStores {
  readonly #checker: SignatureChecker;
  #kept: (Trusted & { digest: string }) | null = null;

  constructor(checker: SignatureChecker) {
    this.#checker = checker;
  }

  trustedAt(snapshot: TrustSnapshot, now: Date): Trusted {
    if (this.#kept?.digest !== snapshot.digest) {
      const records = unpackTrust(snapshot);
      const checker = this.#checker;
      const store = new TrustStore(records, checker);
      const { lists } = readDeviationLists(records, { checker, trust: store, now });
      this.#kept = { digest: snapshot.digest, store, deviations: lists.map(({ list }) => list) };
    }
    return this.#kept;
  }
}

type ChipTaskSurroundings = { checker: SignatureChecker; stores: TrustStores };

export async function runChipTask<T extends ChipTask>(
  task: T,
  surroundings: ChipTaskSurroundings,
): Promise<ChipTaskAnswer[T["kind"]]> {
  return (await run(task, surroundings)) as ChipTaskAnswer[T["kind"]];
}

async function run(task: ChipTask, surroundings: ChipTaskSurroundings): Promise<unknown> {
  switch (task.kind) {
    case "verify":
      return checkDocument(task, surroundings);
    case "begin_proof":
      return beginChipProof(task.proof, task.files, secureRandom);
    case "continue_proof":
      return continueChipProof(task.state, task.answers, task.files, secureRandom);
    case "find_test_document":
      return findTestDocument(task.sod, new Date(task.nowMs));
  }
}

// --- passive authentication --------------------------------------------------------------------------------

async function checkDocument(
  { trust: trusted, files, policy, nowMs }: Extract<ChipTask, { kind: "verify" }>,
  { checker, stores }: ChipTaskSurroundings,
): Promise<DocumentCheck> {
  const now = new Date(nowMs);
  const { store: trust, deviations } =
    trusted === "test_country"
      ? { store: testTrust(now, checker), deviations: [] }
      : stores.trustedAt(trusted, now);
  const { report, content } = verifyDocument({
    files: filesToJudge(files),
    trust,
    deviations,
    policy: readPolicy(policy),
    now,
    checker,
  });
  const passed = failureCodeOf(report) === null && content !== null;
  return documentCheckOf(report, passed ? serialize({ mrz: content.mrz } satisfies ChipContent) : null);
}

let knownPolicy: { text: string; policy: VerificationPolicy } | undefined;

/** The same object for the same text, because the store remembers what it found under which tolerance. */
function readPolicy(text: string): VerificationPolicy {
  if (knownPolicy?.text !== text) knownPolicy = { text, policy: parsePolicy(text) };
  return knownPolicy.policy;
}

let testStore: { year: number; store: TrustStore } | undefined;

/** The test country of the year. Its keys are public, so only the sandbox may use it. */
function testTrust(now: Date, checker: SignatureChecker): TrustStore {
  const year = now.getUTCFullYear();
  if (testStore?.year !== year) {
    const records = testCountryTrust(createTestCountry(defaultTestSeed, now));
    testStore = { year, store: new TrustStore(records, checker) };
  }
  return testStore.store;
}

// --- sandbox -----------------------------------------------------------------------------------------------

type FaceFailureCode = "liveness_failed" | "selfie_face_mismatch";
let testFaces: { year: number; bySod: ReadonlyMap<string, FaceFailureCode> } | undefined;

/** Whether this is one of the test documents whose holder does not pass the face check. */
function findTestDocument(sod: Uint8Array, now: Date): ChipTaskAnswer["find_test_document"] {
  const year = now.getUTCFullYear();
  if (testFaces?.year !== year) {
    const bySod = new Map<string, FaceFailureCode>();
    for (const { id, expectedFailureCode: code } of listTestDocuments()) {
      if (code !== "liveness_failed" && code !== "selfie_face_mismatch") continue;
      const sod = testDocument(id, now)?.files.SOD;
      if (sod !== undefined) bySod.set(sha256(sod), code);
    }
    testFaces = { year, bySod };
  }
  return { faceFailureCode: testFaces.bySod.get(sha256(sod)) ?? null };
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
