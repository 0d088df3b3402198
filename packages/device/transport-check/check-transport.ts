import { encodeCommand } from "@assay/emrtd/apdu/command";
import type { ChipTransport } from "@assay/emrtd/apdu/transport";
import { ldsApplicationId } from "@assay/emrtd/lds/chip-files";
import { type AccessKey, openChip } from "@assay/emrtd/reader/open-chip";
import { readSecurityObjectFile } from "@assay/emrtd/verify/document-content";
import { openDocument } from "../src/open-document.ts";

/** The object under test: a transport and the shell's additions to it (docs/shell.md). */
export type CheckedTransport = ChipTransport & {
  cancel?(): void;
  readonly readerState?: unknown;
  readonly antenna?: unknown;
  readonly storage?: {
    getItem(key: string): string | null;
    setItem(key: string, value: string): void;
    removeItem(key: string): void;
  };
  feel?(what: "read" | "problem"): void;
};

/** A transport with a document and a hand: a person's, or a program's. */
export type TransportStage = {
  /**
   * The transport for the next reading.
   * A shell returns the same object each time; a desk reader waits for a document.
   */
  transport(): Promise<CheckedTransport>;
  /** The access key of the document's chip. */
  readonly key: AccessKey;
  /** Whether a command that finds no document waits for one, as it does in a shell. */
  readonly waits: boolean;
  layDown(): Promise<void>;
  takeAway(): Promise<void>;
  /** Time limit for an answer; for tests, whose chips are faster. */
  readonly patienceMs?: number;
  /** Whether a frame of the page has a transport too; null where there are no frames. */
  frameHasTransport?(): Promise<boolean>;
};

export type TransportOutcome = "passed" | "failed" | "skipped";
export type CheckResult = {
  readonly id: string;
  /** The guarantee of a transport that passes. */
  readonly promise: string;
  readonly outcome: TransportOutcome;
  /** Why it failed or was skipped, or what was measured. */
  readonly note: string;
};

type TransportCheck = {
  readonly id: string;
  readonly promise: string;
  run(stage: TransportStage): Promise<string>;
};

class Skip extends Error {}

/** A chip thinks for up to ten seconds; halved, a slow one fails a shell that does nothing wrong. */
const usualPatienceMs = 20_000;
/**
 * The share of it that a command must stay open to count as waiting. Smaller: a slow bridge passes that would
 * have failed a moment later.
 */
const waitingShare = 1 / 40;

const selectApplication = encodeCommand({ cla: 0, ins: 0xa4, p1: 4, p2: 0x0c, data: ldsApplicationId });
const getChallenge = encodeCommand({ cla: 0, ins: 0x84, p1: 0, p2: 0, expectedBytes: 8 });
const unknownInstruction = Uint8Array.of(0x00, 0xee, 0x00, 0x00);
/** A SELECT of an unknown name, as long as a short command can be. */
const maxShortCommand = encodeCommand({
  ...{ cla: 0, ins: 0xa4, p1: 4, p2: 0 },
  data: new Uint8Array(255).fill(0xa5),
  expectedBytes: 256,
});

function demand(holds: boolean, why: string): asserts holds {
  if (!holds) throw new Error(why);
}

function isAnswer(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array && value.length >= 2;
}

const statusOf = (answer: Uint8Array) => ((answer.at(-2) ?? 0) << 8) | (answer.at(-1) ?? 0);
const hexOf = (word: number) => word.toString(16).padStart(4, "0");

async function within<T>(ms: number, work: Promise<T>, why: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(why)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

const patienceOf = ({ patienceMs = usualPatienceMs }: TransportStage) => patienceMs;

async function ask(
  stage: TransportStage,
  transport: CheckedTransport,
  command: Uint8Array,
): Promise<Uint8Array> {
  const ms = patienceOf(stage);
  const answer: unknown = await within(ms, transport.transceive(command), `no answer within ${ms / 1000} s`);
  demand(isAnswer(answer), "an answer must be a Uint8Array that ends with a status word");
  return answer;
}

/** The start of a reading, with a document present. */
async function begin(stage: TransportStage): Promise<CheckedTransport> {
  await stage.layDown();
  const transport = await stage.transport();
  await ask(stage, transport, selectApplication.slice());
  return transport;
}

/** Tells at any time what has become of it. */
function watch(work: Promise<unknown>): () => "open" | "resolved" | "rejected" {
  let state: "open" | "resolved" | "rejected" = "open";
  work.then(
    () => {
      state = "resolved";
    },
    () => {
      state = "rejected";
    },
  );
  return () => state;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

function checkShape(transport: CheckedTransport, waits: boolean): void {
  demand(typeof transport.transceive === "function", "transceive must be a function");
  demand(!waits || typeof transport.cancel === "function", "a shell must have cancel");
  demand(
    Number.isInteger(transport.maxCommandBytes) && transport.maxCommandBytes >= 128,
    "maxCommandBytes must be a whole number of at least 128",
  );
  demand(
    Number.isInteger(transport.maxResponseBytes) && transport.maxResponseBytes >= 130,
    "maxResponseBytes must be a whole number of at least 130",
  );
  demand(typeof transport.extendedLength === "boolean", "extendedLength must be true or false");
  demand(
    !transport.extendedLength || transport.maxCommandBytes > 261,
    "with extendedLength, maxCommandBytes must be above 261",
  );
  demand(
    transport.reset === undefined || typeof transport.reset === "function",
    "reset must be a function or left out",
  );
  const selected: unknown = transport.applicationSelected;
  demand(
    selected === undefined || typeof selected === "boolean",
    "applicationSelected must be true, false or left out",
  );
}

function checkExtras({ readerState, antenna }: CheckedTransport): string {
  const states: readonly unknown[] = ["ready", "off", "absent"];
  demand(
    readerState === undefined || states.includes(readerState),
    `readerState must be ${states.join(", ")} or left out`,
  );
  demand(readerState === undefined || readerState === "ready", "readerState must be ready while it reads");
  if (antenna === undefined || antenna === null) return "no antenna reported";
  const { at, fromTop, fromLeft } = antenna as Record<string, unknown>;
  demand(["top", "middle", "bottom"].includes(String(at)), "antenna.at must be top, middle or bottom");
  for (const share of [fromTop, fromLeft])
    demand(
      typeof share === "number" && share >= 0 && share <= 1,
      "antenna.fromTop and fromLeft are between 0 and 1",
    );
  return `antenna: ${at}`;
}

/** The transport with a limit on every answer, so that no check waits for ever. */
function withPatience(
  stage: TransportStage,
  transport: CheckedTransport,
  onAnswer: (answer: Uint8Array) => void = () => {},
): ChipTransport {
  return {
    get maxCommandBytes() {
      return transport.maxCommandBytes;
    },
    get maxResponseBytes() {
      return transport.maxResponseBytes;
    },
    get extendedLength() {
      return transport.extendedLength;
    },
    ...(transport.reset === undefined ? {} : { reset: () => Promise.resolve(transport.reset?.()) }),
    ...(transport.applicationSelected === undefined
      ? {}
      : { applicationSelected: transport.applicationSelected }),
    transceive: async (command) => {
      demand(command.length <= transport.maxCommandBytes, "a command longer than the limit was needed");
      const answer = await ask(stage, transport, command);
      onAnswer(answer);
      return answer;
    },
  };
}

/** Reads as the page does, and holds the files against the hashes that the document signs. */
async function readWhole(stage: TransportStage, transport: CheckedTransport): Promise<string> {
  let commands = 0;
  let longest = 0;
  const counting = withPatience(stage, transport, ({ length }) => {
    commands += 1;
    longest = Math.max(longest, length);
  });
  const startedAt = performance.now();
  const opened = await openDocument(
    counting,
    stage.key,
    () => {},
    () => {},
  );
  const files = await opened.readFiles();
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const { securityObject } = readSecurityObjectFile(files.SOD);
  const bytes = Object.values(files).reduce((sum, file) => sum + file.length, 0);
  for (const [number, expected] of securityObject.hashes) {
    const file = files[`DG${number}` as keyof typeof files];
    if (file === undefined) continue;
    // Browsers lack SHA-224, with which few documents are signed.
    if (securityObject.digest === "SHA-224") continue;
    const found = new Uint8Array(await crypto.subtle.digest(securityObject.digest, new Uint8Array(file)));
    demand(
      found.every((byte, index) => byte === expected[index]),
      `DG${number} was changed on its way`,
    );
  }
  const extended = transport.extendedLength && longest > 258 ? ", extended length in use" : "";
  return `${bytes} bytes in ${seconds} s, ${commands} commands, longest answer ${longest}${extended}`;
}

/** In this order: each one leaves the document on the reader, or says what it needs. */
const checks: readonly TransportCheck[] = [
  {
    id: "shape",
    promise: "It has the functions and limits that the page uses, of the right types.",
    async run(stage) {
      if (!stage.waits) await stage.layDown();
      checkShape(await stage.transport(), stage.waits);
      return "";
    },
  },
  {
    id: "idle-cancel",
    promise: "To give up when nothing is under way does nothing, also twice.",
    async run(stage) {
      if (!stage.waits) throw new Skip("not a shell");
      const transport = await stage.transport();
      transport.cancel?.();
      transport.cancel?.();
      return "";
    },
  },
  {
    id: "waits",
    promise: "A command without a document waits for one, and is answered once it is there.",
    async run(stage) {
      if (!stage.waits) throw new Skip("not a shell");
      await stage.takeAway();
      const transport = await stage.transport();
      transport.cancel?.();
      const answer = transport.transceive(selectApplication.slice());
      const settled = watch(answer);
      await pause(patienceOf(stage) * waitingShare);
      demand(settled() === "open", `it was ${settled()} before there was a document`);
      await stage.layDown();
      demand(
        isAnswer(await within(patienceOf(stage), answer, "no answer once the document was there")),
        "the answer is no Uint8Array with a status word",
      );
      return "";
    },
  },
  {
    id: "limits",
    promise:
      "With a chip in the field the limits are true: a command of 261 bytes gets through where the limit allows it.",
    async run(stage) {
      const transport = await begin(stage);
      checkShape(transport, stage.waits);
      const limits = `${transport.maxCommandBytes} and ${transport.maxResponseBytes} bytes, extended length ${transport.extendedLength ? "yes" : "no"}`;
      if (transport.maxCommandBytes < maxShortCommand.length) return limits;
      const status = statusOf(await ask(stage, transport, maxShortCommand.slice()));
      return `${limits}; answered ${hexOf(status)}`;
    },
  },
  {
    id: "refusals",
    promise: "A refusal of the chip is an answer with its status word, not a rejection.",
    async run(stage) {
      const transport = await begin(stage);
      const answer = await ask(stage, transport, unknownInstruction.slice());
      const status = statusOf(answer);
      demand(status !== 0x9000, "an instruction that no chip knows was answered with 9000");
      demand(status >> 12 === 6, `${hexOf(status)} is no status word of a chip`);
      return hexOf(status);
    },
  },
  {
    id: "exact",
    promise:
      "Commands and answers get through as they are, each answer to its own command, and no answer is remembered.",
    async run(stage) {
      const transport = await begin(stage);
      const command = getChallenge.slice();
      const first = await ask(stage, transport, command);
      demand(
        command.every((byte, index) => byte === getChallenge[index]),
        "the command was changed in place",
      );
      if (statusOf(first) !== 0x9000)
        throw new Skip(`this chip gives no challenge (${hexOf(statusOf(first))})`);
      const seen = new Set<string>();
      for (let round = 0; round < 10; round++) {
        const challenge = await ask(stage, transport, getChallenge.slice());
        demand(challenge.length === 10, `8 bytes and a status word were expected, ${challenge.length} came`);
        seen.add(challenge.join());
        const refused = await ask(stage, transport, unknownInstruction.slice());
        demand(refused.length === 2, "an answer came that belongs to another command");
      }
      demand(seen.size === 10, "the same answer came twice");
      return "";
    },
  },
  {
    id: "reads",
    promise: "A whole document is read, unchanged: its files have the hashes that it signs.",
    async run(stage) {
      const transport = await begin(stage);
      return await readWhole(stage, transport);
    },
  },
  {
    id: "reset",
    promise: "A reset takes the power from the chip: it forgets the session, and opens again.",
    async run(stage) {
      const transport = await begin(stage);
      if (transport.reset === undefined) throw new Skip("it has none; people lift the document instead");
      let reopened = false;
      const chip = await openChip(withPatience(stage, transport), stage.key, {
        onProgress: ({ kind }) => {
          reopened ||= kind === "reopening";
        },
      });
      if (chip.accessMethod === "none")
        throw new Skip("this document has no session that could be forgotten");
      await within(
        patienceOf(stage),
        Promise.resolve(transport.reset()),
        "the reset does not come to an end",
      );
      await chip.readFile("DG1");
      demand(reopened, "the chip still knows its session after the reset");
      return "";
    },
  },
  {
    id: "lost",
    promise: "When a document is removed, the command is soon rejected.",
    async run(stage) {
      const transport = await begin(stage);
      await stage.takeAway();
      const startedAt = performance.now();
      const settled = await within(
        patienceOf(stage),
        transport.transceive(selectApplication.slice()).then(
          () => "resolved",
          () => "rejected",
        ),
        `no rejection within ${patienceOf(stage) / 1000} s`,
      );
      demand(settled === "rejected", "the command was answered although the document is gone");
      return `after ${((performance.now() - startedAt) / 1000).toFixed(1)} s`;
    },
  },
  {
    id: "comes-back",
    promise: "After a loss the next command begins with a fresh connection, and the document can be read.",
    async run(stage) {
      const transport = await begin(stage);
      return await readWhole(stage, transport);
    },
  },
  {
    id: "cancel",
    promise:
      "Cancelling ends the waiting. A cancelled command is never answered, also not by the next command.",
    async run(stage) {
      if (!stage.waits) throw new Skip("not a shell");
      await stage.takeAway();
      const transport = await stage.transport();
      // The command that notices the loss, so that the next one waits.
      await within(
        patienceOf(stage),
        transport.transceive(selectApplication.slice()).catch(() => {}),
        "the removal of the document was not reported",
      );
      const given = watch(transport.transceive(getChallenge.slice()));
      await pause(patienceOf(stage) * waitingShare);
      void transport.cancel?.();
      await pause(patienceOf(stage) * waitingShare);
      demand(given() !== "resolved", "a command was answered without a document");
      const next = transport.transceive(selectApplication.slice());
      await stage.layDown();
      const answer = await within(patienceOf(stage), next, "no answer after something was given up");
      demand(answer.length === 2, "the answer belongs to the command that was given up");
      demand(given() !== "resolved", "the command that was given up was answered later");
      return given() === "rejected" ? "rejected" : "left open";
    },
  },
  {
    id: "extras",
    promise: "The properties of its reader and antenna have the documented form.",
    async run(stage) {
      return checkExtras(await begin(stage));
    },
  },
  {
    id: "storage",
    promise: "Stored values can be read, and are gone after removal.",
    async run(stage) {
      const { storage } = await begin(stage);
      if (storage === undefined) throw new Skip("it has none; the page uses sessionStorage");
      const key = "transport-check";
      demand(storage.getItem(key) === null, "a missing value must be null");
      storage.setItem(key, 'a "b" ü\n');
      demand(storage.getItem(key) === 'a "b" ü\n', "it came back changed");
      storage.removeItem(key);
      demand(storage.getItem(key) === null, "it is still there after it was removed");
      return "";
    },
  },
  {
    id: "frames",
    promise: "Frames of the page have no transport.",
    async run(stage) {
      if (stage.frameHasTransport === undefined) throw new Skip("there are no frames");
      demand(!(await stage.frameHasTransport()), "a frame has window.chipTransport");
      return "";
    },
  },
];

export const transportChecks: readonly { readonly id: string; readonly promise: string }[] = checks;

/** Runs every check, one after another; one that fails stops none of the others. */
export async function checkTransport(
  stage: TransportStage,
  onResult: (result: CheckResult) => void = () => {},
): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for (const { id, promise, run } of checks) {
    let result: CheckResult;
    try {
      result = { id, promise, outcome: "passed", note: await run(stage) };
    } catch (error) {
      const note = error instanceof Error ? error.message : String(error);
      result = { id, promise, outcome: error instanceof Skip ? "skipped" : "failed", note };
    }
    results.push(result);
    onResult(result);
  }
  return results;
}
