import type { SignatureChecker } from "@assay/emrtd/crypto/signature";
import { filesToJudge, type ReadDocumentFiles } from "@assay/emrtd/reader/read-document";
import type { DeviationList } from "@assay/emrtd/trust/deviation-list";
import type { TrustStore } from "@assay/emrtd/trust/trust-store";
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
  return (files) => verdictOf(verifyDocument({ ...judgement, files: filesToJudge(files) }).report);
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

function words(name: string): string {
  return name.replaceAll("_", " ");
}
