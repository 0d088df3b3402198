// `npm run transport-check`: the conformance suite for transports to a chip
// (packages/device/transport-check/check-transport.ts).

import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import process from "node:process";
import { createInterface } from "node:readline/promises";
import { parseArgs } from "node:util";
import { keyFieldsFromTyped } from "@assay/emrtd/mrz/mrz-key";
import { openCardReaders } from "@assay/emrtd/node/pcsc";
import { testDocument } from "@assay/emrtd/node/test-country/catalogue";
import type { AccessKey } from "@assay/emrtd/reader/open-chip";
import {
  type CheckResult,
  checkTransport,
  type TransportStage,
  transportChecks,
} from "../packages/device/transport-check/check-transport.ts";
import { virtualStage } from "../packages/device/transport-check/virtual-stage.ts";
import { buildCheckPage } from "./build-check-page.ts";

const help = `Runs the conformance suite for transports to a chip.

  npm run transport-check                    the software chip, as a shell and as a desk reader
  npm run transport-check -- serve           a page for your shell: build the shell for the printed address, open the page in it,
                                             type the printed data of a document, and follow the instructions
  npm run transport-check -- page FOLDER     the same page as files, for your origin
  npm run transport-check -- pcsc            a desk reader: --reader NAME (the first one otherwise), and
                                             --number, --birth YYYY-MM-DD, --expiry YYYY-MM-DD, or --can
  npm run transport-check -- list            what each check means

npm run android -- test checks the code of the Android app.

Options: --port N for serve (default 4400).
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    help: { type: "boolean", short: "h", default: false },
    ...{ port: { type: "string", default: "4400" }, reader: { type: "string" } },
    ...{ number: { type: "string" }, birth: { type: "string" } },
    ...{ expiry: { type: "string" }, can: { type: "string" } },
  },
});

const say = (text: string) => void process.stdout.write(`${text}\n`);

function sayResult({ id, outcome, promise, note }: CheckResult): void {
  say(`${{ passed: "ok  ", failed: "FAIL", skipped: "skip" }[outcome]}  ${id}: ${promise}`);
  if (note !== "") say(`        ${note}`);
}

async function checkAll(name: string, stage: TransportStage): Promise<boolean> {
  say(`\n${name}`);
  const results = await checkTransport(stage, sayResult);
  return results.every(({ outcome }) => outcome !== "failed");
}

async function checkVirtual(): Promise<boolean> {
  const document = testDocument("passport-valid", new Date());
  if (document === null) throw new Error("The catalogue has no valid passport");
  const shell = await checkAll("Software chip, as a shell", virtualStage(document, { waits: true }));
  const desk = await checkAll("Software chip, as a desk reader", virtualStage(document, { waits: false }));
  return shell && desk;
}

function typedKey(): AccessKey {
  if (values.can !== undefined) return { can: values.can };
  const { number, birth, expiry } = values;
  if (number === undefined || birth === undefined || expiry === undefined)
    throw new Error("--number, --birth and --expiry are needed, or --can");
  return { mrz: keyFieldsFromTyped({ documentNumber: number, dateOfBirth: birth, dateOfExpiry: expiry }) };
}

async function checkReader(): Promise<boolean> {
  const key = typedKey();
  const readers = await openCardReaders();
  const input = createInterface({ input: process.stdin, output: process.stdout });
  try {
    const name = values.reader ?? (await readers.list())[0]?.name;
    if (name === undefined) throw new Error("There is no reader");
    let there: boolean | null = null;
    let card: Awaited<ReturnType<typeof readers.connect>> | null = null;
    const put = async (wanted: boolean, text: string) => {
      if (there !== wanted) await input.question(`${text}, then press Enter. `);
      there = wanted;
    };
    return await checkAll(`Reader ${name}`, {
      key,
      waits: false,
      transport: async () => {
        await card?.disconnect().catch(() => {});
        card = await readers.connect(name);
        return card.transport;
      },
      layDown: () => put(true, "Lay the document on the reader"),
      takeAway: () => put(false, "Take the document away"),
    });
  } finally {
    input.close();
    await readers.close();
  }
}

async function servePage(): Promise<void> {
  const files = await buildCheckPage();
  const server = createServer((request, response) => {
    // Shells are built for links to verifications, so the page is at such a path.
    const name = (request.url ?? "").replace(/^\/verify\/transport-check\/?/, "").replace(/\?.*$/, "");
    const file = files.get(name === "" ? "index.html" : name);
    if (file === undefined) return void response.writeHead(404).end();
    response.writeHead(200, { "content-type": file.type, "cache-control": "no-store" }).end(file.content);
  });
  server.listen(Number(values.port), "127.0.0.1", () => {
    const { port } = server.address() as AddressInfo;
    say(`Open in your shell: http://localhost:${port}/verify/transport-check/`);
    say(`For the Android app: npm run android -- --debug --origin http://localhost:${port}`);
    say(`and on the phone's cable: adb reverse tcp:${port} tcp:${port}`);
  });
}

async function writePage(folder: string | undefined): Promise<void> {
  if (folder === undefined) throw new Error("page needs a folder");
  mkdirSync(folder, { recursive: true });
  for (const [name, { content }] of await buildCheckPage()) writeFileSync(path.join(folder, name), content);
  say(`Written to ${folder}. Put it under /verify/transport-check/ of the origin that your shell opens.`);
}

async function main(): Promise<void> {
  const [what, argument] = positionals;
  if (values.help) return say(help);
  if (what === "serve") return await servePage();
  if (what === "page") return await writePage(argument);
  if (what === "list") return say(transportChecks.map(({ id, promise }) => `${id}: ${promise}`).join("\n"));
  if (what !== undefined && what !== "virtual" && what !== "pcsc")
    throw new Error(`Unknown: ${what}. See --help.`);
  process.exitCode = (await (what === "pcsc" ? checkReader() : checkVirtual())) ? 0 : 1;
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}
