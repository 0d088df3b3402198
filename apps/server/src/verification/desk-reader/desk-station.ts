import { CommandError } from "@assay/cli/command";
import type { Style } from "@assay/cli/style";
import { createClient } from "@assay/contract/client";
import { getVerifyStatus } from "@assay/contract/verify";
import type { DeviceOutcome } from "@assay/device/run-device";
import { DeviceError, parseVerificationUrl } from "@assay/device/verification-url";
import { type BigWord, bigLetters } from "./big-letters.ts";
import { adviseOn, adviseOnOutcome } from "./desk-guide.ts";
import { drawCode } from "./draw-code.ts";
import { EndedAtDesk, type Terminal, TerminalClosed } from "./terminal.ts";

type Print = (line: string) => void;

/** Why a code is refused, and what to do. The station continues with the next one. */
class StationProblem extends Error {
  readonly todo: string;

  constructor(message: string, todo: string) {
    super(message);
    this.todo = todo;
  }
}

type StationOptions = {
  terminal: Terminal;
  /** The only service whose codes are accepted: a foreign code must not send a document elsewhere. */
  service: string;
  print: Print;
  style: Style;
  /** Reads the document on the reader for the session of this link. */
  read: (link: string) => Promise<DeviceOutcome>;
};

/** A counter: one code after the other until it is closed. It keeps nothing of one person for the next. */
export async function runStation(options: StationOptions): Promise<void> {
  const { terminal, print, style } = options;
  print(`This desk reads documents for ${new URL(options.service).host}. Ctrl+C ends it.`);
  for (;;) {
    try {
      print("");
      const code = await untilTyped(terminal);
      const { word, lines } = await readFor(code, options);
      for (const line of [...bigLetters(word, style), ...lines]) print(line);
    } catch (error) {
      if (error instanceof TerminalClosed) return;
      throw error;
    }
  }
}

/** Some scanners end with two line ends. */
async function untilTyped(terminal: Terminal): Promise<string> {
  for (;;) {
    const code = await terminal.ask("Next person: scan the code on their screen, or paste its link: ");
    if (code !== "") return code;
  }
}

type Shown = { word: BigWord; lines: readonly string[] };

async function readFor(code: string, { service, read }: StationOptions): Promise<Shown> {
  try {
    const link = await checkCode(code, service);
    const outcome = await read(link);
    const { says, todo } = adviseOnOutcome(outcome);
    const drawn = outcome.kind === "face_elsewhere" ? await drawCode(outcome.url) : [];
    return { word: wordOf(outcome), lines: [says, todo, ...drawn] };
  } catch (error) {
    if (error instanceof TerminalClosed) throw error;
    return { word: "NOT READ", lines: problemLines(error) };
  }
}

function wordOf({ kind }: DeviceOutcome): BigWord {
  switch (kind) {
    case "succeeded":
      return "PASSED";
    case "face_elsewhere":
      return "FACE NEXT";
    case "failed":
      return "REFUSED";
    default:
      return "NOT READ";
  }
}

function problemLines(error: unknown): readonly string[] {
  if (error instanceof StationProblem) return [error.message, error.todo];
  if (error instanceof EndedAtDesk)
    return ["Ended at the desk.", "The session stays open: the same code goes on with it."];
  // An unexpected failure of one reading must not close the desk for the next person.
  const advice = error instanceof CommandError ? null : adviseOn(error);
  if (advice !== null) return [advice.says, advice.todo];
  return error instanceof CommandError
    ? error.message.split("\n")
    : ["The reading failed at this desk. This says nothing about the document.", "Begin again."];
}

const noCode =
  "Ask the person to show the code on their screen again. If no code works, set the scanner to the keyboard layout of this computer.";

/** Checked before the person is asked for a document. Returns the link to read for. */
async function checkCode(code: string, service: string): Promise<string> {
  const { baseUrl, sessionId } = parseCode(code);
  if (baseUrl !== service)
    throw new StationProblem(
      `This code is of ${new URL(baseUrl).host}, and this desk reads for ${new URL(service).host}.`,
      "Do not read a document for it.",
    );
  const { data } = await createClient({ baseUrl, fetch })(getVerifyStatus, { params: { id: sessionId } });
  if (data.status === "expired")
    throw new StationProblem("The session has expired.", "A session lasts one hour. Create a new session.");
  if (data.status !== "created" && data.status !== "in_progress")
    throw new StationProblem(
      "The session is over.",
      "Its outcome is in your own system. For another try create a new session.",
    );
  if (!data.consent_given)
    throw new StationProblem(
      "The person has not agreed yet.",
      "Ask them to agree on their own screen, then scan the code again.",
    );
  return code;
}

function parseCode(code: string) {
  try {
    return parseVerificationUrl(code);
  } catch (error) {
    if (!(error instanceof DeviceError)) throw error;
    throw new StationProblem("This is not the code of a verification.", noCode);
  }
}
