import type { SignatureChecker } from "@assay/emrtd/crypto/signature";
import type { DataGroupNumber } from "@assay/emrtd/lds/data-group";
import type { ReadDocumentFiles } from "@assay/emrtd/reader/read-document";
import type { DeviationList } from "@assay/emrtd/trust/deviation-list";
import type { TrustStore } from "@assay/emrtd/trust/trust-store";
import type { DocumentFiles } from "@assay/emrtd/verify/document-content";
import { failureCodeOf } from "@assay/emrtd/verify/failure-code";
import type { VerificationPolicy } from "@assay/emrtd/verify/policy";
import { type Check, type Level, type Outcome, type Report, withChipProof } from "@assay/emrtd/verify/report";
import { verifyDocument } from "@assay/emrtd/verify/verify-document";
import type { DeskVerdict } from "./read-document.ts";

export type DeskJudgement = {
  trust: TrustStore;
  deviations?: readonly DeviationList[];
  policy: VerificationPolicy;
  checker: SignatureChecker;
  now: Date;
};

const marks: Readonly<Record<Outcome, string>> = {
  passed: "ok     ",
  failed: "FAILED ",
  pending: "open   ",
  not_offered: "none   ",
  not_run: "-      ",
};

const levels: Readonly<Record<Level, string>> = {
  data_authentic: "The data is authentic; the chip has not proved itself yet.",
  chip_genuine: "The data is authentic and the chip is genuine.",
  chip_clonable: "The data is authentic. The document offers no proof against copies of its chip.",
};

/** The same checks that a verification session makes, in words for the person at the desk. */
export function judgeDocument(judgement: DeskJudgement): (files: ReadDocumentFiles) => DeskVerdict {
  return (files) => verdictOf(verifyDocument({ ...judgement, files: documentFiles(files) }).report);
}

function verdictOf(report: Report): DeskVerdict {
  const failure = failureCodeOf(report);
  return {
    accepted: failure === null && report.level !== null && report.nextProof === null,
    nextProof: report.nextProof,
    withProof: (result) => verdictOf(withChipProof(report, result)),
    lines: [
      ...report.checks.map(checkLine),
      ...report.warnings.map(({ check, code }) => `warning ${words(check)}: ${words(code)}`),
      "",
      report.level === null ? `Refused: ${words(failure ?? "not verified")}.` : levels[report.level],
    ],
  };
}

function checkLine({ name, outcome, reason }: Check): string {
  return `${marks[outcome]} ${words(name)}${reason === null ? "" : `: ${words(reason)}`}`;
}

function documentFiles(files: ReadDocumentFiles): DocumentFiles {
  const dataGroups = new Map<DataGroupNumber, Uint8Array>();
  for (const number of [1, 2, 14, 15] as const) {
    const file = files[`DG${number}`];
    if (file !== undefined) dataGroups.set(number, file);
  }
  return { sod: files.SOD, dataGroups };
}

function words(name: string): string {
  return name.replaceAll("_", " ");
}
