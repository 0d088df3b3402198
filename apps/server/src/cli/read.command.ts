import { setTimeout as delay } from "node:timers/promises";
import { type Arguments, type Command, CommandError } from "@assay/cli/command";
import { CallError } from "@assay/contract/client";
import { openedChip } from "@assay/device/open-document";
import { describeOutcome, runDevice } from "@assay/device/run-device";
import { DeviceError } from "@assay/device/verification-url";
import { isEmrtdError } from "@assay/emrtd/emrtd-error";
import { type CardReaders, openCardReaders } from "@assay/emrtd/node/pcsc";
import { PcscError } from "@assay/emrtd/node/pcscd-client";
import { createNodeSignatureChecker } from "@assay/emrtd/node/signature-checker";
import { testDocuments } from "@assay/emrtd/node/test-country/catalogue";
import {
  createTestCountry,
  defaultTestSeed,
  testCountryTrust,
} from "@assay/emrtd/node/test-country/test-country";
import { insertIntoVpcd, vpcdPort } from "@assay/emrtd/node/vpcd";
import { type AccessKey, openChip } from "@assay/emrtd/reader/open-chip";
import { readDocument } from "@assay/emrtd/reader/read-document";
import { readDeviationLists } from "@assay/emrtd/trust/known-deviations";
import { TrustStore } from "@assay/emrtd/trust/trust-store";
import { parsePolicy } from "@assay/emrtd/verify/parse-policy";
import { createVirtualChip } from "@assay/emrtd/virtual/virtual-chip";
import { loadConfig } from "../config.ts";
import { accessKeyFromTyped } from "../desk-reader/access-key.ts";
import { CardAtDesk } from "../desk-reader/card-at-desk.ts";
import { type DeskJudgement, judgeDocument } from "../desk-reader/judge-document.ts";
import { readDocumentAtDesk } from "../desk-reader/read-document.ts";
import { readTrust } from "../trust/trust.store.ts";
import { withTrust } from "./with-trust.ts";

export const readCommand: Command = {
  name: "read",
  about:
    "Read a passport or identity card from a smart card reader, verify it and print the report. Nothing is saved unless --save asks for it. Ends with 0 when the document was accepted, with 3 when it was refused.",
  options: {
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
    session: {
      type: "string",
      about:
        "The verification_url of a session: the document is sent there and judged by the service, not here. The person must have agreed to share before. In a live session a link is printed at the end, for a browser with a camera to show the face.",
      placeholder: "URL",
    },
    socket: {
      type: "string",
      about: "The socket of pcscd, when it is not at its usual place.",
      placeholder: "PATH",
    },
  },
  run: async (args, print) => {
    try {
      return await readAtDesk(args, print);
    } catch (error) {
      throw isEmrtdError(error) || error instanceof PcscError ? new CommandError(`${error.message}.`) : error;
    }
  },
};

async function readAtDesk({ options }: Arguments, print: (line: string) => void): Promise<number> {
  const text = (name: string) => {
    const value = options[name];
    return typeof value === "string" ? value : undefined;
  };
  const waitSeconds = Number(text("wait") ?? "60");
  if (!Number.isInteger(waitSeconds) || waitSeconds < 0 || waitSeconds > 3600) {
    throw new CommandError("--wait must be a whole number of seconds up to 3600.");
  }
  const accessKey =
    options.list === true
      ? undefined
      : accessKeyFromTyped({
          can: text("can"),
          documentNumber: text("document-number"),
          dateOfBirth: text("birth"),
          dateOfExpiry: text("expiry"),
        });
  const socketPath = text("socket");
  const readers = await openCardReaders(socketPath === undefined ? {} : { socketPath });
  try {
    if (accessKey === undefined) {
      const found = await readers.list();
      for (const { name, cardPresent } of found) print(`${name}${cardPresent ? " (with a card)" : ""}`);
      if (found.length === 0) print("No reader is connected.");
      return 0;
    }
    const session = text("session");
    if (session !== undefined) {
      return await readForSession(session, accessKey, readers, text("reader"), waitSeconds, print);
    }
    const now = new Date();
    const readerName = text("reader");
    const saveTo = text("save");
    const judged = await howToJudge(options["test-country"] === true, now, print);
    const accepted = await readDocumentAtDesk(
      {
        accessKey,
        waitSeconds,
        ...(readerName === undefined ? {} : { readerName }),
        ...(saveTo === undefined ? {} : { saveTo }),
      },
      {
        readers,
        judge: judgeDocument(judged),
        print,
        delay: (milliseconds) => delay(milliseconds),
        now: () => now,
      },
    );
    return accepted ? 0 : 3;
  } finally {
    await readers.close();
  }
}

/** The desk as the reading device of a session. The service asks the chip for its proofs through it. */
async function readForSession(
  verificationUrl: string,
  accessKey: AccessKey,
  readers: CardReaders,
  readerName: string | undefined,
  waitSeconds: number,
  print: (line: string) => void,
): Promise<number> {
  const card = new CardAtDesk(
    { waitSeconds, ...(readerName === undefined ? {} : { readerName }) },
    { readers, print, delay: (milliseconds) => delay(milliseconds) },
  );
  try {
    // The session is not taken before there is something to read for it.
    await card.untilPresent();
    const outcome = await runDevice({
      verificationUrl,
      chip: async () => {
        // Let go here and not when the flow is done with a chip: the next reading waits until the card is free again.
        await card.release();
        const chip = await card.work(() => openChip(card.transport, accessKey));
        return openedChip(chip, {
          readFiles: () =>
            card.work(async (fresh) => {
              if (fresh) await chip.open();
              return await readDocument(chip, new Date());
            }),
          reopen: async () => {
            await card.release();
            await card.work(() => chip.open());
          },
        });
      },
      // Somebody else holds the session's page; the choice of what to share is theirs and was made there.
      consent: "given",
      onStep: (step) => print(step.replaceAll("_", " ")),
    });
    print(describeOutcome(outcome));
    return outcome.result === "succeeded" || outcome.result === "face_elsewhere" ? 0 : 3;
  } catch (error) {
    throw error instanceof DeviceError || error instanceof CallError
      ? new CommandError(error.message)
      : error;
  } finally {
    await card.release();
  }
}

/** By the trust and the policy of the installation, as a session is judged; the test country has the same policy. */
async function howToJudge(
  testCountry: boolean,
  now: Date,
  print: (line: string) => void,
): Promise<DeskJudgement> {
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
  },
  run: async ({ options, positionals }, print) => {
    const documents = testDocuments(new Date());
    const [id] = positionals;
    if (id === undefined) {
      for (const document of documents) print(`${document.id.padEnd(40)} ${document.title}`);
      return 0;
    }
    const document = documents.find((candidate) => candidate.id === id);
    if (document === undefined) throw new CommandError(`There is no test document with the id ${id}.`);
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
