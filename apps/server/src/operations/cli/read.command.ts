import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Arguments, type Command, CommandError, didYouMean } from "@assay/cli/command";
import { type Style, table } from "@assay/cli/style";
import { openedChip } from "@assay/device/open-document";
import { type DeviceOutcome, describeOutcome, runDevice } from "@assay/device/run-device";
import { isEmrtdError } from "@assay/emrtd/emrtd-error";
import { type CardReaders, openCardReaders } from "@assay/emrtd/node/pcsc";
import { createNodeSignatureChecker } from "@assay/emrtd/node/signature-checker";
import { testDocuments } from "@assay/emrtd/node/test-country/catalogue";
import {
  createTestCountry,
  defaultTestSeed,
  testCountryTrust,
} from "@assay/emrtd/node/test-country/test-country";
import { insertIntoVpcd, vpcdPort } from "@assay/emrtd/node/vpcd";
import type { AccessKey, Chip } from "@assay/emrtd/reader/open-chip";
import { readDocument } from "@assay/emrtd/reader/read-document";
import { readDeviationLists } from "@assay/emrtd/trust/known-deviations";
import { TrustStore } from "@assay/emrtd/trust/trust-store";
import { parsePolicy } from "@assay/emrtd/verify/parse-policy";
import { createVirtualChip } from "@assay/emrtd/virtual/virtual-chip";
import { loadConfig } from "../../load-config.ts";
import { accessKeyFromTyped } from "../../verification/desk-reader/access-key.ts";
import { CardAtDesk, type CardWait } from "../../verification/desk-reader/card-at-desk.ts";
import {
  adviseOn,
  adviseOnOutcome,
  deskExitCodes,
  guideStep,
} from "../../verification/desk-reader/desk-guide.ts";
import { deskNameFor } from "../../verification/desk-reader/desk-name.ts";
import { runStation } from "../../verification/desk-reader/desk-station.ts";
import { askForKey, DocumentAtDesk } from "../../verification/desk-reader/document-at-desk.ts";
import { drawCode } from "../../verification/desk-reader/draw-code.ts";
import { type DeskJudgement, judgeDocument } from "../../verification/desk-reader/judge-document.ts";
import { readDocumentAtDesk } from "../../verification/desk-reader/read-document.ts";
import {
  LeftByDesk,
  linesOn,
  processTerminal,
  type Terminal,
} from "../../verification/desk-reader/terminal.ts";
import { readTrust } from "../../verification/trust/trust.store.ts";
import { withTrust } from "./with-trust.ts";

type Print = (line: string) => void;

export type Desk = {
  /** Null where nobody sits: then nothing is asked, and every line is plain. */
  terminal: Terminal | null;
  /** Where the desk keeps its own name. */
  nameFolder: string;
};

const readOptions: NonNullable<Command["options"]> = {
  "document-number": {
    type: "string",
    about: "As printed in the machine readable zone.",
    placeholder: "NUMBER",
  },
  birth: { type: "string", about: "Date of birth.", placeholder: "YYYY-MM-DD" },
  expiry: { type: "string", about: "Date of expiry.", placeholder: "YYYY-MM-DD" },
  can: {
    type: "string",
    about: "The card access number, instead of the three fields.",
    placeholder: "NUMBER",
  },
  reader: {
    type: "string",
    about: "Part of the reader's name, when there are several.",
    placeholder: "NAME",
  },
  list: { type: "boolean", about: "List the readers and end." },
  wait: {
    type: "string",
    about: "How long to wait for a document, also for one that slipped off; 60 in all unless given.",
    placeholder: "SECONDS",
  },
  save: { type: "string", about: "Save the files of the chip in this folder.", placeholder: "DIR" },
  "test-country": { type: "boolean", about: "Trust the documents of the test country, and no others." },
  service: {
    type: "string",
    about:
      "The origin whose codes a counter takes, https://… as in PUBLIC_URL, which it is unless given. Codes of other services are refused.",
    placeholder: "URL",
  },
  offline: {
    type: "boolean",
    about:
      "Judge the document here, by the trust and policy of the installation, without a session. So does a command that names a key, --save or --test-country.",
  },
  session: {
    type: "string",
    about:
      "The verification_url of a session, or the link of the code on the person's page: the document is sent there and judged by the service, not here. The person must have agreed to share before. In a live session a link is printed at the end, for a browser with a camera to show the face.",
    placeholder: "URL",
  },
  socket: {
    type: "string",
    about: "The socket of pcscd, when it is not at its usual place.",
    placeholder: "PATH",
  },
};

/** Apart from `readCommand`, so that tests can sit at the desk. */
export function readCommandAt(desk: Desk): Command {
  return {
    name: "read",
    about:
      "Read passports and identity cards from a smart card reader. Without a session it is a counter: it waits for the code of a person, typed or scanned, reads their document, shows the outcome in large letters, and waits for the next. Nothing is saved unless --save asks for it. In a terminal it asks for what is missing and says what to do next; elsewhere it prints plain lines.",
    examples: [
      "read --service https://id.example.com",
      "read --session https://id.example.com/verify/…",
      "read --document-number L898902C3 --birth 1974-08-12 --expiry 2032-04-15",
    ],
    exitCodes: {
      0: "The document was accepted.",
      3: "The document or the person was refused.",
      4: "The service could not carry it out, or not be reached.",
      5: "The document could not be read.",
      6: "There is no reader.",
    },
    options: readOptions,
    run: async (args, print, style) => {
      try {
        return isCounter(args)
          ? await openCounter(args, print, style, desk)
          : await readAtDesk(args, print, desk);
      } catch (error) {
        if (error instanceof LeftByDesk) throw new CommandError(error.message, deskExitCodes.notRead);
        const advice = error instanceof CommandError ? null : adviseOn(error);
        throw advice === null ? error : new CommandError(`${advice.says}\n${advice.todo}`, advice.exitCode);
      }
    },
  };
}

export const readCommand: Command = readCommandAt({
  terminal: processTerminal(),
  nameFolder: join(homedir(), ".local", "state", "assay"),
});

function textOf({ options }: Arguments, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
}

/** What only makes sense for one document. */
const ofOneDocument = [
  "session",
  "list",
  "offline",
  "can",
  "document-number",
  "birth",
  "expiry",
  "save",
  "test-country",
];

function isCounter({ options }: Arguments): boolean {
  return ofOneDocument.every((name) => options[name] === undefined || options[name] === false);
}

async function openCounter(args: Arguments, print: Print, style: Style, desk: Desk): Promise<number> {
  const wait = waitOf(args);
  const service = serviceOf(args);
  const terminal = desk.terminal ?? linesOn(process.stdin, print);
  await runStation({
    terminal,
    service,
    print,
    style,
    read: async (link) => {
      const accessKey = await askForKey(terminal, print);
      // Opened for each person: a reader that was unplugged, or a pcscd that was restarted, is found again.
      const readers = await openReaders(textOf(args, "socket"));
      try {
        return await readForSession(link, accessKey, { ...desk, terminal, print, readers, wait });
      } finally {
        await readers.close();
      }
    },
  });
  return deskExitCodes.accepted;
}

function serviceOf(args: Arguments): string {
  const given = textOf(args, "service") ?? loadConfig(process.env).publicUrl;
  const url = URL.parse(given);
  if (url === null || (given !== url.origin && given !== `${url.origin}/`) || !/^https?:$/.test(url.protocol))
    throw new CommandError(
      "Name the service whose codes are read here: --service https://id.example.com, or PUBLIC_URL in the environment.",
    );
  return url.origin;
}

function waitOf(args: Arguments): CardWait {
  const waitSeconds = Number(textOf(args, "wait") ?? "60");
  if (!Number.isInteger(waitSeconds) || waitSeconds < 0 || waitSeconds > 3600) {
    throw new CommandError("--wait must be a whole number of seconds up to 3600.");
  }
  const readerName = textOf(args, "reader");
  return { waitSeconds, ...(readerName === undefined ? {} : { readerName }) };
}

async function readAtDesk(args: Arguments, print: Print, desk: Desk): Promise<number> {
  const { options } = args;
  const wait = waitOf(args);
  const isList = options.list === true;
  const accessKey = isList ? null : await accessKeyOf(args, print, desk.terminal);
  const socketPath = textOf(args, "socket");
  const readers = await openReaders(socketPath);
  try {
    if (accessKey === null) {
      const found = await readers.list();
      for (const { name, cardPresent } of found) print(`${name}${cardPresent ? " (with a card)" : ""}`);
      if (found.length === 0) print("No reader is connected.");
      return deskExitCodes.accepted;
    }
    const session = textOf(args, "session");
    if (session !== undefined) {
      const outcome = await readForSession(session, accessKey, { ...desk, print, readers, wait });
      return await printOutcome(outcome, print, desk.terminal);
    }
    return await readOffline(args, accessKey, { print, readers, wait });
  } finally {
    await readers.close();
  }
}

async function openReaders(socketPath: string | undefined): Promise<CardReaders> {
  try {
    return await openCardReaders(socketPath === undefined ? {} : { socketPath });
  } catch (error) {
    if (!isEmrtdError(error)) throw error;
    throw new CommandError(`${error.message}.`, deskExitCodes.noReader);
  }
}

/** What was typed with the command, or else asked for: whatever stands in a command can be seen by other programs of the machine. */
async function accessKeyOf(args: Arguments, print: Print, terminal: Terminal | null): Promise<AccessKey> {
  const typed = {
    can: textOf(args, "can"),
    documentNumber: textOf(args, "document-number"),
    dateOfBirth: textOf(args, "birth"),
    dateOfExpiry: textOf(args, "expiry"),
  };
  const isMissing = Object.values(typed).every((value) => value === undefined);
  if (isMissing && terminal !== null) return await askForKey(terminal, print);
  try {
    return accessKeyFromTyped(typed);
  } catch (error) {
    throw isEmrtdError(error) ? new CommandError(`${error.message}.`) : error;
  }
}

type Around = { print: Print; readers: CardReaders; wait: CardWait };

async function readOffline(
  args: Arguments,
  accessKey: AccessKey,
  { print, readers, wait }: Around,
): Promise<number> {
  const now = new Date();
  const saveTo = textOf(args, "save");
  const judged = await howToJudge(args.options["test-country"] === true, now, print).catch(
    (error: unknown) => {
      // What is trusted, and how it is judged, is nothing that a document or a reader could mend.
      throw isEmrtdError(error) ? new CommandError(`${error.message}.`) : error;
    },
  );
  const isAccepted = await readDocumentAtDesk(
    { accessKey, ...wait, ...(saveTo === undefined ? {} : { saveTo }) },
    {
      readers,
      judge: judgeDocument(judged),
      print,
      delay: (milliseconds) => delay(milliseconds),
      now: () => now,
    },
  );
  return isAccepted ? deskExitCodes.accepted : deskExitCodes.refused;
}

/** The desk as the reading device of a session. The service asks the chip for its proofs through it. */
async function readForSession(
  verificationUrl: string,
  accessKey: AccessKey,
  { print, readers, wait, terminal, nameFolder }: Around & Desk,
): Promise<DeviceOutcome> {
  const card = new CardAtDesk(wait, { readers, print, delay: (milliseconds) => delay(milliseconds) });
  const document = new DocumentAtDesk(card, accessKey, { terminal, print });
  try {
    // The session is not taken before its document is open: a mistake in what was typed must not bind it to this desk.
    let opened: Chip | null = await document.open();
    let isFirst = true;
    return await runDevice({
      verificationUrl,
      deviceId: (sessionId) => deskNameFor(sessionId, nameFolder),
      chip: async () => {
        if (!isFirst) await document.confirmAgain();
        isFirst = false;
        const chip = opened ?? (await document.open());
        opened = null;
        return openedChip(chip, {
          readFiles: () => document.work(chip, () => readDocument(chip, new Date())),
          reopen: async () => {
            await card.release();
            await document.work(chip, async () => {});
          },
        });
      },
      // Somebody else holds the session's page; the choice of what to share is theirs and was made there.
      consent: "given",
      onStep: (step) => {
        const line = terminal === null ? step.replaceAll("_", " ") : guideStep(step);
        if (line !== null) print(line);
      },
    });
  } finally {
    await card.release();
  }
}

async function printOutcome(
  outcome: DeviceOutcome,
  print: Print,
  terminal: Terminal | null,
): Promise<number> {
  const { says, todo, exitCode } = adviseOnOutcome(outcome);
  if (terminal === null) print(describeOutcome(outcome));
  else {
    for (const line of [says, todo]) print(line);
    if (outcome.kind === "face_elsewhere") for (const line of await drawCode(outcome.url)) print(line);
  }
  return exitCode;
}

/** By the trust and the policy of the installation, as a session is judged; the test country has the same policy. */
async function howToJudge(testCountry: boolean, now: Date, print: Print): Promise<DeskJudgement> {
  const checker = createNodeSignatureChecker();
  const [records, policy] = testCountry
    ? ([
        testCountryTrust(createTestCountry(defaultTestSeed, now)),
        loadConfig(process.env).trustPolicy,
      ] as const)
    : await withTrust(
        print,
        async (db, _now, { trustPolicy }) => [(await readTrust(db)).records, trustPolicy] as const,
      );
  const trust = new TrustStore(records, checker);
  const { lists } = readDeviationLists(records, { checker, trust, now });
  const deviations = lists.map(({ list }) => list);
  return { trust, deviations, policy: parsePolicy(policy), checker, now };
}

export const virtualDocument: Command = {
  name: "virtual-document",
  about:
    "Put a document of the test country into the virtual smart card reader (vsmartcard-vpcd) until interrupted. Without an id, list the documents.",
  positionals: "[ID]",
  options: {
    port: {
      type: "string",
      about: `Port of the virtual reader; ${vpcdPort} unless given.`,
      placeholder: "NUMBER",
    },
    json: { type: "boolean", about: "List the documents as one JSON text a line." },
  },
  run: async ({ options, positionals }, print, style) => {
    const documents = testDocuments(new Date());
    const [id] = positionals;
    if (id === undefined) {
      if (options.json === true) for (const { id, title } of documents) print(JSON.stringify({ id, title }));
      else
        for (const line of table(
          ["id", "title"],
          documents.map(({ id, title }) => [id, title]),
          style,
        ))
          print(line);
      return 0;
    }
    const document = documents.find((candidate) => candidate.id === id);
    if (document === undefined)
      throw new CommandError(
        `There is no test document with the id ${id}.${didYouMean(
          id,
          documents.map((each) => each.id),
        )} \`assay virtual-document\` lists them.`,
      );
    const port = Number(options.port ?? vpcdPort);
    if (!Number.isInteger(port) || port < 1 || port > 65_535)
      throw new CommandError("--port must be a port number.");
    const chip = createVirtualChip({ files: document.files, ...document.chip });
    const link = await insertIntoVpcd(chip, { port }).catch(() => {
      throw new CommandError(
        `No virtual reader listens on port ${port}: install vsmartcard-vpcd and start pcscd.`,
      );
    });
    for (const line of document.mrzLines) print(line);
    print(`Card access number: ${document.chip.can}`);
    print("The document lies on the virtual reader. Interrupt to take it away.");
    const interrupted = new Promise<void>((resolve) => {
      process.once("SIGINT", () => resolve());
      process.once("SIGTERM", () => resolve());
    });
    await Promise.race([link.closed, interrupted]);
    await link.close();
    return 0;
  },
};
