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
import { listTestDocuments, testDocument } from "@assay/emrtd/node/test-country/catalogue";
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
  EndedAtDesk,
  linesOn,
  processTerminal,
  type Terminal,
} from "../../verification/desk-reader/terminal.ts";
import { readTrust } from "../../verification/trust/trust.store.ts";
import { withTrust } from "./with-trust.ts";

type Print = (line: string) => void;

export type Desk = {
  /** Null without a terminal: then the command asks nothing and prints plain lines. */
  terminal: Terminal | null;
  /** Folder with the name of this desk. */
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
  list: { type: "boolean", about: "List the readers and exit." },
  wait: {
    type: "string",
    about: "Seconds to wait for a document, including one that was removed too early. Default: 60 in total.",
    placeholder: "SECONDS",
  },
  save: { type: "string", about: "Save the files of the chip in this folder.", placeholder: "DIR" },
  "test-country": { type: "boolean", about: "Trust the documents of the test country, and no others." },
  service: {
    type: "string",
    about:
      "Origin of the service whose codes the desk accepts, as in PUBLIC_URL, which is the default. Codes of other services are refused.",
    placeholder: "URL",
  },
  offline: {
    type: "boolean",
    about:
      "Judge the document here, by the trust and policy of the installation, without a session. Implied by a key, --save or --test-country.",
  },
  session: {
    type: "string",
    about:
      "The verification_url of a session, or the link of the code on the verify page. The service judges the document, not this command. The person must have agreed to share first. A live session ends with a link: open it in a browser with a camera for the face step.",
    placeholder: "URL",
  },
  socket: {
    type: "string",
    about: "Socket of pcscd, if it is not at the default path.",
    placeholder: "PATH",
  },
};

/** Separate from `readCommand`, so that tests can replace the terminal. */
export function readCommandAt(desk: Desk): Command {
  return {
    name: "read",
    about:
      "Read passports and identity cards with a smart card reader. Without a session it serves a desk: it waits for a person's code, typed or scanned, reads the document and shows the outcome in large letters. Nothing is saved without --save. In a terminal it asks for missing values; elsewhere it prints plain lines.",
    examples: [
      "read --service https://id.example.com",
      "read --session https://id.example.com/verify/…",
      "read --document-number L898902C3 --birth 1974-08-12 --expiry 2032-04-15",
    ],
    exitCodes: {
      0: "The document was accepted.",
      3: "The document or the person was refused.",
      4: "The service failed or could not be reached.",
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
        if (error instanceof EndedAtDesk) throw new CommandError(error.message, deskExitCodes.notRead);
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

/** Options for a single document only. */
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
      // Opened for each person, so that a replugged reader or a restarted pcscd is found again.
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
      "Name the service whose codes this desk accepts: --service https://id.example.com, or PUBLIC_URL in the environment.",
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

/** From the command line, or else asked for: other programs on the machine can read the command line. */
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
      // Neither the document nor the reader can correct a wrong trust store or policy.
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

/** The desk is the reading device of the session. The service requests the chip's proofs through it. */
async function readForSession(
  verificationUrl: string,
  accessKey: AccessKey,
  { print, readers, wait, terminal, nameFolder }: Around & Desk,
): Promise<DeviceOutcome> {
  const card = new CardAtDesk(wait, { readers, print, delay: (milliseconds) => delay(milliseconds) });
  const document = new DocumentAtDesk(card, accessKey, { terminal, print });
  try {
    // Opens the document before it claims the session: a mistyped key must not bind the session to this desk.
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
      // The person decided on their own page what to share.
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

/**
 * Uses the trust and the policy of the installation, as a session does. The test country has the same policy.
 */
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
      about: `Port of the virtual reader. Default: ${vpcdPort}.`,
      placeholder: "NUMBER",
    },
    json: { type: "boolean", about: "List the documents as one JSON object per line." },
  },
  run: async ({ options, positionals }, print, style) => {
    const documents = listTestDocuments();
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
    const document = testDocument(id, new Date());
    if (document === null)
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
    print("The document is on the virtual reader. Interrupt to remove it.");
    const interrupted = new Promise<void>((resolve) => {
      process.once("SIGINT", () => resolve());
      process.once("SIGTERM", () => resolve());
    });
    await Promise.race([link.closed, interrupted]);
    await link.close();
    return 0;
  },
};
