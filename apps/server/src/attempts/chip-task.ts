import { createHash } from "node:crypto";
import { serialize } from "node:v8";
import { verifyActiveAuthentication } from "@assay/emrtd/active-authentication/verify-active-authentication";
import { decodeResponse, STATUS } from "@assay/emrtd/apdu/response";
import {
  type ChipAuthenticationStart,
  startChipAuthentication,
} from "@assay/emrtd/chip-authentication/chip-authentication";
import { chipAuthenticationOffers } from "@assay/emrtd/chip-authentication/chip-authentication-offer";
import { type RandomSource, secureRandom } from "@assay/emrtd/crypto/random";
import type { SignatureChecker } from "@assay/emrtd/crypto/signature";
import { isEmrtdError } from "@assay/emrtd/emrtd-error";
import type { DataGroupNumber } from "@assay/emrtd/lds/data-group";
import { readDg14 } from "@assay/emrtd/lds/dg14";
import { readDg15 } from "@assay/emrtd/lds/dg15";
import { testDocuments } from "@assay/emrtd/node/test-country/catalogue";
import {
  createTestCountry,
  DEFAULT_TEST_SEED,
  testCountryTrust,
} from "@assay/emrtd/node/test-country/test-country";
import { TrustStore } from "@assay/emrtd/trust/trust-store";
import type { DocumentContent } from "@assay/emrtd/verify/document-content";
import { type DocumentFailureCode, failureCodeOf } from "@assay/emrtd/verify/failure-code";
import { DEFAULT_POLICY } from "@assay/emrtd/verify/policy";
import { checkOf, failedCheckOf, type Level, type WarningCode } from "@assay/emrtd/verify/report";
import { verifyDocument } from "@assay/emrtd/verify/verify-document";
import type { TrustFolder } from "../trust/trust-folder.ts";
import type { ChipProofName } from "./verify-flow.ts";

/**
 * The work on a chip that takes time, as tasks that can be handed to any thread: nothing is kept between them. The ephemeral key of
 * chip authentication is the random bytes it was drawn from, kept by the service and given along with each task.
 */
export type ChipTask =
  | { kind: "verify"; sandbox: boolean; files: SentFiles; nowMs: number }
  | { kind: "begin_agreement"; dg14: Uint8Array; generalAuthenticate: boolean }
  | { kind: "seal_command"; agreement: Agreement; answers: readonly Uint8Array[] }
  | { kind: "finish_agreement"; agreement: Agreement; answers: readonly Uint8Array[]; answer: Uint8Array }
  | {
      kind: "check_signature";
      dg14: Uint8Array | null;
      dg15: Uint8Array;
      challenge: Uint8Array;
      signature: Uint8Array;
    }
  | { kind: "find_test_document"; sod: Uint8Array; nowMs: number };

export type SentFiles = Readonly<
  Partial<Record<"COM" | "DG14" | "DG15", Uint8Array>> & Record<"SOD" | "DG1" | "DG2", Uint8Array>
>;

export type Agreement = {
  readonly dg14: Uint8Array;
  readonly generalAuthenticate: boolean;
  /** What the random source gave, in order: the private key. */
  readonly drawn: readonly Uint8Array[];
};

export type DocumentCheck = {
  failureCode: DocumentFailureCode | null;
  /** No authority is known at all, so nothing can be said about any document. */
  trustStoreEmpty: boolean;
  level: Level | null;
  warnings: readonly WarningCode[];
  proof: ChipProofName | null;
  /**
   * The content that was verified (`ChipContent`), null unless these checks passed. As bytes in the form of a structured clone, because
   * bytes can be overwritten and the texts in an object cannot.
   */
  content: Uint8Array | null;
};

/** What a verified chip says about its holder. */
export type ChipContent = Pick<DocumentContent, "mrz">;

export type ChipTaskAnswer = {
  verify: DocumentCheck;
  begin_agreement: { agreement: Agreement; commands: readonly Uint8Array[] };
  /** `again` asks for the other set of commands, which some chips with triple DES need; null when the chip refused. */
  seal_command: { command: Uint8Array } | "again" | null;
  finish_agreement: { proved: boolean };
  check_signature: { proved: boolean };
  find_test_document: { faceFailureCode: "liveness_failed" | "selfie_face_mismatch" | null };
};

export type ChipTaskSurroundings = { checker: SignatureChecker; trustFolder: TrustFolder };

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
    case "begin_agreement":
      return beginAgreement(task.dg14, task.generalAuthenticate);
    case "seal_command":
      return sealCommand(task.agreement, task.answers);
    case "finish_agreement":
      return finishAgreement(task.agreement, task.answers, task.answer);
    case "check_signature":
      return checkSignature(task);
    case "find_test_document":
      return findTestDocument(task.sod, new Date(task.nowMs));
  }
}

// --- passive authentication ----------------------------------------------------------------------------------------

async function checkDocument(
  { sandbox, files, nowMs }: Extract<ChipTask, { kind: "verify" }>,
  { checker, trustFolder }: ChipTaskSurroundings,
): Promise<DocumentCheck> {
  const now = new Date(nowMs);
  const trust = sandbox ? testTrust(now, checker) : await trustFolder.current();
  const dataGroups = new Map<DataGroupNumber, Uint8Array>();
  for (const number of [1, 2, 14, 15] as const) {
    const file = files[`DG${number}`];
    if (file !== undefined) dataGroups.set(number, file);
  }
  const { report, content } = verifyDocument({
    files: { sod: files.SOD, dataGroups },
    trust,
    policy: DEFAULT_POLICY,
    now,
    checker,
  });
  const failed = failedCheckOf(report);
  const warnings = report.warnings.map(({ code }) => code);
  let { level, nextProof: proof } = report;
  if (proof === "chip_authentication" && !canAgree(files.DG14)) {
    // The state offers it in a way that this software does not know. That is no fault of the document.
    proof = checkOf(report, "active_authentication").outcome === "pending" ? "active_authentication" : null;
    if (proof === null) level = "chip_clonable";
  }
  const failureCode = failureCodeOf(report);
  return {
    failureCode,
    trustStoreEmpty: failed?.reason === "trust_store_empty",
    level,
    warnings,
    proof,
    content:
      failureCode === null && content !== null ? serialize({ mrz: content.mrz } satisfies ChipContent) : null,
  };
}

function canAgree(dg14: Uint8Array | undefined): boolean {
  try {
    return dg14 !== undefined && chipAuthenticationOffers(dg14).length > 0;
  } catch (error) {
    if (!isEmrtdError(error)) throw error;
    return false;
  }
}

let testStore: { year: number; store: TrustStore } | undefined;

/** The test country of the year; its keys are public, so nothing but the sandbox may use it. */
function testTrust(now: Date, checker: SignatureChecker): TrustStore {
  const year = now.getUTCFullYear();
  if (testStore?.year !== year) {
    const records = testCountryTrust(createTestCountry(DEFAULT_TEST_SEED, now));
    testStore = { year, store: new TrustStore(records, checker) };
  }
  return testStore.store;
}

// --- chip authentication -------------------------------------------------------------------------------------------

function beginAgreement(dg14: Uint8Array, generalAuthenticate: boolean): ChipTaskAnswer["begin_agreement"] {
  const drawn: Uint8Array[] = [];
  const recording: RandomSource = (length) => {
    const bytes = secureRandom(length);
    drawn.push(bytes.slice());
    return bytes;
  };
  const { commands } = start(dg14, generalAuthenticate, recording);
  return { agreement: { dg14, generalAuthenticate, drawn }, commands };
}

/** The same agreement again, from the bytes its key was drawn from. */
function replay({ dg14, generalAuthenticate, drawn }: Agreement): ChipAuthenticationStart {
  let next = 0;
  return start(dg14, generalAuthenticate, (length) => {
    const bytes = drawn[next++];
    if (bytes?.length !== length) throw new Error("an agreement cannot be taken up again");
    return bytes.slice();
  });
}

function start(
  dg14: Uint8Array,
  generalAuthenticate: boolean,
  random: RandomSource,
): ChipAuthenticationStart {
  const exchange = startChipAuthentication(dg14, { random, generalAuthenticate });
  if (exchange === undefined) throw new Error("an agreement was begun that the chip does not offer");
  return exchange;
}

function sealCommand(agreement: Agreement, answers: readonly Uint8Array[]): ChipTaskAnswer["seal_command"] {
  return unlessRefused(() => {
    const exchange = replay(agreement);
    const refused = answers.some((answer) => decodeResponse(answer).statusWord !== STATUS.ok);
    if (refused && exchange.offer.suite.name === "3DES" && !agreement.generalAuthenticate) return "again";
    return { command: exchange.prove(answers) };
  }, null);
}

function finishAgreement(
  agreement: Agreement,
  answers: readonly Uint8Array[],
  answer: Uint8Array,
): ChipTaskAnswer["finish_agreement"] {
  return unlessRefused<{ proved: boolean }>(
    () => {
      const exchange = replay(agreement);
      exchange.prove(answers);
      exchange.finish(answer);
      return { proved: true };
    },
    { proved: false },
  );
}

function unlessRefused<T>(work: () => T, refused: T): T {
  try {
    return work();
  } catch (error) {
    if (!isEmrtdError(error)) throw error;
    return refused;
  }
}

// --- active authentication -----------------------------------------------------------------------------------------

function checkSignature({
  dg14,
  dg15,
  challenge,
  signature,
}: Extract<ChipTask, { kind: "check_signature" }>): ChipTaskAnswer["check_signature"] {
  return unlessRefused(
    () => {
      const named = (dg14 === null ? [] : readDg14(dg14)).flatMap((info) =>
        info.kind === "activeAuthentication" ? [info.signatureAlgorithm] : [],
      )[0];
      const { verified } = verifyActiveAuthentication({
        publicKey: readDg15(dg15).subjectPublicKeyInfo,
        challenge,
        signature,
        ...(named === undefined ? {} : { signatureAlgorithm: named }),
      });
      return { proved: verified };
    },
    { proved: false },
  );
}

// --- sandbox -------------------------------------------------------------------------------------------------------

type FaceFailureCode = "liveness_failed" | "selfie_face_mismatch";
let testFaces: { year: number; bySod: ReadonlyMap<string, FaceFailureCode> } | undefined;

/** Whether this is one of the test documents whose holder does not pass the face check. */
function findTestDocument(sod: Uint8Array, now: Date): ChipTaskAnswer["find_test_document"] {
  const year = now.getUTCFullYear();
  if (testFaces?.year !== year) {
    const bySod = new Map<string, FaceFailureCode>();
    for (const { files, expectedFailureCode: code } of testDocuments(now)) {
      if (files.SOD !== undefined && (code === "liveness_failed" || code === "selfie_face_mismatch"))
        bySod.set(sha256(files.SOD), code);
    }
    testFaces = { year, bySod };
  }
  return { faceFailureCode: testFaces.bySod.get(sha256(sod)) ?? null };
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
