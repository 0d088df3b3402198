import { CallError, NoAnswerError } from "@assay/contract/client";
import type { RequirementName } from "@assay/contract/facts";
import type { FailureCode } from "@assay/contract/sessions";
import { failureCodes } from "@assay/contract/sessions";
import { verifySocketLimits } from "@assay/contract/verify-protocol";
import { problemOf } from "@assay/device/answer-command";
import type { DeviceOutcome } from "@assay/device/run-device";
import { DeviceError } from "@assay/device/verification-url";
import { isEmrtdError } from "@assay/emrtd/emrtd-error";
import { PcscError } from "@assay/emrtd/node/pcscd-client";
import { NoReaderError } from "./card-at-desk.ts";

/** How `assay read` ends. 1 is a mistake in the command, as with every command. */
export const deskExitCodes = {
  accepted: 0,
  refused: 3,
  notCarriedOut: 4,
  notRead: 5,
  noReader: 6,
} as const;

type DeskAdvice = {
  /** What happened, for the person at the desk. */
  readonly says: string;
  /** What to do about it. */
  readonly todo: string;
  readonly exitCode: number;
};

const { accepted, refused, notCarriedOut, notRead, noReader } = deskExitCodes;
const exclusiveResult = 0x8010000b;

/** What to do about an error. Null for an internal fault, which the person at the desk cannot mend. */
export function adviseOn(error: unknown): DeskAdvice | null {
  if (error instanceof NoReaderError)
    return {
      says: `${error.message}.`,
      todo: "Plug the reader in and wait for its light; `assay read --list` shows what is there.",
      exitCode: noReader,
    };
  if (error instanceof PcscError)
    return {
      says: `${error.message}.`,
      todo:
        error.result === exclusiveResult
          ? "Close the other program that uses the reader, and begin again."
          : "Unplug the reader and plug it in again. When that does not help, restart pcscd.",
      exitCode: noReader,
    };
  if (isEmrtdError(error)) {
    const problem = problemOf(error);
    const { says, todo } = chipAdvice[problem];
    // The exact error helps support; it never quotes the document.
    const isPlain = problem === "lost" || problem === "key";
    return { says: isPlain ? says : `${says} ${error.message}.`, todo, exitCode: notRead };
  }
  if (error instanceof CallError) return adviseOnRefusedCall(error);
  if (error instanceof DeviceError)
    return {
      says: error.message,
      todo: "Take the link from your own system, or from the code on the person's page.",
      exitCode: 1,
    };
  if (error instanceof NoAnswerError || isNetworkError(error))
    return {
      says: "The service cannot be reached.",
      todo: "Check the network and the link. Nothing is lost: the same command goes on where the session stands.",
      exitCode: notCarriedOut,
    };
  return null;
}

const chipAdvice = {
  lost: {
    says: "No document was on the reader, or it moved away while it was read.",
    todo: "Take it out of its cover and lay it flat on the reader, away from other cards. Do not touch it until the reading has ended. No try was used up.",
  },
  key: {
    says: "The chip does not open with what was typed.",
    todo: "Compare number and dates with the lines at the bottom of the document: O and 0, I and 1. A card access number is printed on the front of a card. No try was used up.",
  },
  unreadable: {
    says: "A file of the chip cannot be read.",
    todo: "Take the document out of its cover and lay it down again. When it happens again, use another document. No try was used up.",
  },
  unsupported: {
    says: "This reader does not support this chip.",
    todo: "Try another reader or the person's own phone, or use another document. No try was used up.",
  },
  device: {
    says: "The reading failed at this desk. This says nothing about the document.",
    todo: "Begin again. When it happens again, try another reader. No try was used up.",
  },
} as const;

/** `fetch` rejects with a TypeError that has a cause. A proxy in between may answer without JSON. */
function isNetworkError(error: unknown): boolean {
  return (
    (error instanceof TypeError && error.message === "fetch failed") ||
    (error instanceof SyntaxError && /JSON/.test(error.message))
  );
}

const callAdvice: Readonly<Record<string, string>> = {
  CONSENT_REQUIRED:
    "Ask the person to open the link on their own screen and to agree there. Then begin again. Only the person can agree.",
  HANDOFF_DEVICE_MISMATCH:
    "Another device has this session. Ask the person to choose “Use another device” on their screen, and give the link of the code that it shows to --session.",
  HANDOFF_TOKEN_EXPIRED: "Take the fresh code from the person's screen; one is good for five minutes.",
  HANDOFF_TOKEN_CONSUMED:
    "Ask the person to choose “Use another device” on their screen, and take the code that it shows then.",
  HANDOFF_TOKEN_INVALID: "Take the link whole, with everything behind the #.",
  OTHER_BROWSER:
    "Your session requires one browser for all steps (`requirements.binding`), so no desk can read for it. Create a session without that requirement.",
  SESSION_EXPIRED: "A session lasts one hour. Create a new session.",
  SESSION_ENDED: "Its outcome is in your own system. For another try create a new session.",
  SESSION_NOT_FOUND: "Compare the link with the one in your own system.",
};

function adviseOnRefusedCall({ code, message, hint }: CallError): DeskAdvice {
  return { says: message, todo: callAdvice[code] ?? hint, exitCode: notCarriedOut };
}

const documentAdvice: Readonly<Record<FailureCode, { says: string; todo: string }>> = {
  document_authenticity_failed: {
    says: "The signature of this document could not be confirmed.",
    todo: "Reading it again gives the same result. Ask for another document, and look at this one closely.",
  },
  document_active_authentication_failed: {
    says: "The chip could not prove that it is the original.",
    todo: "Read it once more without touching it. When it is refused again, look closely: it may be a copy.",
  },
  document_chip_authentication_failed: {
    says: "The chip could not prove that it is the original.",
    todo: "Read it once more without touching it. When it is refused again, look closely: it may be a copy.",
  },
  document_data_invalid: {
    says: "What is on the chip contradicts itself, or lacks something that is needed.",
    todo: "Reading it again gives the same result. Ask for another document.",
  },
  document_expired: { says: "The document has expired.", todo: "Ask for one that is still valid." },
  liveness_failed: {
    says: "The face step was not passed.",
    todo: "Ask the person to follow the movements in good light.",
  },
  selfie_face_mismatch: {
    says: "The face does not match the portrait on the chip.",
    todo: "Ask the person to take off glasses and hat, and to look straight into the camera.",
  },
  holder_binding_failed: {
    says: "The wallet could not prove that the credential is the person's.",
    todo: "Ask the person to open the wallet that it was issued to, or for a document with a chip.",
  },
};

const requirementAdvice: Readonly<Record<RequirementName, string>> = {
  clone_detection: "The session requires a chip that can prove that it is no copy. Ask for a newer document.",
  revocation:
    "The session requires a document of a country whose revocation list is known. Ask for another one.",
};

function adviseOnRefusal(code: FailureCode, unmet: RequirementName | null): Omit<DeskAdvice, "exitCode"> {
  const { says, todo } = documentAdvice[code];
  return { says, todo: unmet === null ? todo : requirementAdvice[unmet] };
}

export function adviseOnOutcome(outcome: DeviceOutcome): DeskAdvice {
  switch (outcome.kind) {
    case "succeeded":
      return {
        says: "The verification has succeeded.",
        todo: "Give the document back. The person's screen goes on by itself.",
        exitCode: accepted,
      };
    case "failed":
      return {
        says: "The verification has failed.",
        todo: "The person's screen says why. For another try create a new session.",
        exitCode: refused,
      };
    case "face_elsewhere":
      return {
        says: "The chip has passed. Give the document back.",
        todo: `The face is next, with a camera: the person scans this code, or opens the link below it, within ${verifySocketLimits.resumeMs / 60_000} minutes. Do not show it to anyone else.`,
        exitCode: accepted,
      };
    case "fault":
      return {
        says: outcome.message,
        todo:
          outcome.code === "TRUST_STORE_EMPTY"
            ? "Ask the operator of the service to import issuing authorities: `assay trust import`."
            : "No try was used up. Begin again in a moment.",
        exitCode: notCarriedOut,
      };
    case "closed":
      return {
        says: `The service has closed the connection (${outcome.code}).`,
        todo:
          outcome.code === "SESSION_ENDED"
            ? "The session has ended, or the person has taken another device. Their screen says which."
            : "No try was used up. Begin again in a moment.",
        exitCode: notCarriedOut,
      };
    case "stopped":
      return { says: "Stopped.", todo: "", exitCode: accepted };
  }
}

const stepLines: Readonly<Record<string, string>> = {
  claim: "The session is yours. The person's screen says that the document is being read.",
  chip_check: "Read. The service checks the document. Leave it where it is.",
  waiting: "The service is busy; this goes on by itself. Leave the document where it is.",
  chip_authentication: "The chip proves that it is no copy. Leave the document where it is.",
  active_authentication: "The chip proves that it is no copy. Leave the document where it is.",
  chip_authentication_mapping: "The chip proves that it is no copy. Leave the document where it is.",
  chip_passed: "The chip has passed. The document can be taken off the reader.",
};

/** One line for the person at the desk; null if there is nothing to say. */
export function guideStep(step: string): string | null {
  const line = stepLines[step];
  if (line !== undefined) return line;
  const failed = /^(?:chip|face)_failed \((\w+)(?:, (\w+) is required)?\), (\d+) left$/.exec(step);
  if (failed === null) return step.startsWith("the document must give ") ? requiredLine(step) : null;
  const [, code = "", unmet, left = "0"] = failed;
  if (!isFailureCode(code)) return `Refused: ${code.replaceAll("_", " ")}.`;
  const { says, todo } = adviseOnRefusal(code, unmet === undefined ? null : (unmet as RequirementName));
  const tries = left === "0" ? "" : ` Tries left: ${left}.`;
  return `Refused. ${says} ${left === "0" ? "" : todo}${tries}`.trim();
}

function requiredLine(step: string): string {
  const name = step.slice("the document must give ".length);
  return Object.hasOwn(requirementAdvice, name)
    ? requirementAdvice[name as RequirementName].replace(/ Ask .*$/, "")
    : step;
}

function isFailureCode(code: string): code is FailureCode {
  return (failureCodes as readonly string[]).includes(code);
}
