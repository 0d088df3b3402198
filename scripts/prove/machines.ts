import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createTestCountry } from "@assay/emrtd/node/test-country/test-country";
import { Api, createPartner, expectData } from "../../apps/server/test/support/api.ts";
import { createReceivingEndpoint } from "../../apps/server/test/support/receiver.ts";
import { tally } from "../../apps/server/test/support/tally.ts";
import { askDatabase } from "../ask-database.ts";
import { git, releaseBefore, unpack } from "../release-before.ts";
import { Books } from "./machines/books.ts";
import { checkBooks, type Finding } from "./machines/check-books.ts";
import { Installation, members } from "./machines/installation.ts";
import { Load, patienceMs, seeded } from "./machines/load.ts";

export const about =
  "nothing that was acknowledged is lost on several machines, whichever of them dies, and during an upgrade";

const root = path.resolve(import.meta.dirname, "../..");
const usage = `npm run prove -- machines [--minutes N] [--from COMMIT] [--seed N] [--no-upgrade] [--break asynchronous-commits]

  --minutes     how long the load runs (10)
  --from        the release that the processes start with; this code replaces them in the middle.
                Default: the last tag or, without one, the commit before the last new migration
  --no-upgrade  this code from the beginning
  --seed        seed of the clients' actions and the faults' times (1)
  --break       asynchronous-commits: the primary does not wait for its replica and dies, so that the check finds a loss; no other fault`;
const settleMs = 180_000;

type Fault = { name: string; strike: () => Promise<void> };

export async function prove(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...args],
    allowNegative: true,
    options: {
      minutes: { type: "string", default: "10" },
      from: { type: "string" },
      seed: { type: "string", default: "1" },
      upgrade: { type: "boolean", default: true },
      break: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  const [minutes, seed] = [Number(values.minutes), Number(values.seed)];
  const from = values.upgrade ? (values.from ?? releaseBefore()) : "";
  const isWrong =
    (values.upgrade && from === "") ||
    !(minutes > 0) ||
    !Number.isInteger(seed) ||
    ![undefined, "asynchronous-commits"].includes(values.break);
  if (values.help || isWrong) {
    console.log(usage);
    return values.help;
  }
  const folder = mkdtempSync(path.join(tmpdir(), "assay-machines-"));
  // Halves the time that a process takes to start.
  process.env.NODE_COMPILE_CACHE ??= path.join(folder, "compiled");
  let installation: Installation | null = null;
  const close = async () => {
    await installation?.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  };
  // Leaves nothing behind when interrupted.
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => void close().finally(() => process.exit(130)));
  try {
    const before = values.upgrade ? unpackInto(from, path.join(folder, "before")) : root;
    installation = await Installation.open(folder);
    return await run(installation, { folder, before, minutes, seed, loses: values.break !== undefined });
  } finally {
    await close();
  }
}

function unpackInto(commit: string, folder: string): string {
  say(`unpacking ${git("log", "-1", "--format=%h %s", commit)}`);
  return unpack(commit, folder);
}

type Plan = { folder: string; before: string; minutes: number; seed: number; loses: boolean };

async function run(installation: Installation, plan: Plan): Promise<boolean> {
  const migrated = await installation.command(["migrate"], plan.before);
  if (migrated.code !== 0) throw new Error(migrated.stderr);
  for (const member of members) await installation.start(member, plan.before);
  if (installation.pooler === null) say("PgBouncer is not installed, so the connections are direct");
  const partner = await createPartner(new Api(installation.balancer.url));
  await createReceivingEndpoint(partner.api, installation.receiver.url);
  say(`two api processes and a worker run (load of the machine ${loadavg()[0]?.toFixed(1)})`);

  const books = new Books();
  const load = new Load(books, installation.balancer.url, partner.key.secret, plan.seed);
  books.begin("no fault");
  load.start();
  const startedAt = performance.now();
  const faults = timetable(installation, plan);
  const slotMs = (plan.minutes * 60_000) / (faults.length + 1);
  const random = seeded(plan.seed ^ 0x5eed);
  for (const [index, { name, strike }] of faults.entries()) {
    const at = startedAt + slotMs * (index + 1 - 0.3 * random());
    // On a slow machine a fault takes longer than its slot. The next one must still find a working service.
    await wait(Math.max(slotMs / 3, at - performance.now()));
    await untilItWorks(books);
    tellProgress(books, installation);
    say(name);
    books.begin(name);
    await strike();
  }
  await wait(Math.max(0, startedAt + plan.minutes * 60_000 - performance.now()));
  await untilItWorks(books);
  await load.stop();
  tellProgress(books, installation);
  const settledMs = await settle(installation);

  const listAll = () => listSessions(partner.api);
  const findings = await askDatabase(installation.pair.primaryUrl, (admin) =>
    checkBooks(books, installation.receiver, listAll, admin),
  );
  tell(books, installation, findings, { settledMs, minutes: (performance.now() - startedAt) / 60_000 });
  tally("faults struck", faults.length);
  tally("sessions acknowledged", books.created.size);
  tally("verifications succeeded", books.verified.size);
  tally("webhook events received", new Set(installation.receiver.received.map(webhookId)).size);
  return findings.every(({ broken }) => broken.length === 0);
}

/** A slow machine gets as long as a client has patience to do the least that is asked of each fault. */
async function untilItWorks(books: Books): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (books.hasDoneTooLittle && performance.now() < deadline) await wait(500);
}

function timetable(installation: Installation, plan: Plan): Fault[] {
  const { pair, pooler } = installation;
  const failover: Fault = {
    name: "kill -9 primary, failover",
    strike: async () => {
      if (plan.loses) {
        await pair.stopReplicating();
        await wait(3000);
      }
      await pair.failOver();
    },
  };
  if (plan.loses) return [failover];
  const killPooler = async () => {
    pooler?.kill();
    await wait(1000);
    await pooler?.start();
  };
  const killTwo = async () => {
    await Promise.all([installation.crash("api A"), installation.crash("worker")]);
  };
  return [
    { name: "kill -9 api A", strike: () => installation.crash("api A") },
    { name: "kill -9 worker", strike: () => installation.crash("worker") },
    { name: "kill -9 api B", strike: () => installation.crash("api B") },
    { name: "kill -9 replica", strike: () => pair.killReplica() },
    { name: "import of a trust list", strike: () => importTrust(installation, plan) },
    ...(pooler === null ? [] : [{ name: "kill -9 PgBouncer", strike: killPooler }]),
    ...(plan.before === root ? [] : [{ name: "rolling upgrade", strike: () => upgrade(installation) }]),
    failover,
    { name: "a new replica", strike: () => pair.makeReplica() },
    { name: "kill -9 api A and worker at once", strike: killTwo },
  ];
}

async function upgrade(installation: Installation): Promise<void> {
  const migrated = await installation.command(["migrate"], root);
  if (migrated.code !== 0) throw new Error(migrated.stderr);
  for (const member of members) {
    await installation.replace(member, root);
    say(`  ${member} is replaced`);
  }
}

/** Imports a master list and its root on an idle machine, while verifications continue. */
async function importTrust(installation: Installation, { folder, before }: Plan): Promise<void> {
  const country = createTestCountry("another country of the test", new Date());
  const [list, rootFile] = [path.join(folder, "list.ml"), path.join(folder, "root.cer")];
  writeFileSync(list, country.masterList());
  writeFileSync(rootFile, country.authorityCertificates.get("brainpool") ?? new Uint8Array());
  const imported = await installation.command(["trust", "import", list, "--root", rootFile], before);
  if (imported.code !== 0) throw new Error(`the import failed:\n${imported.stdout}${imported.stderr}`);
}

/** Waits until every delivery is done, or a time limit; the check finds what is missing. */
async function settle(installation: Installation): Promise<number> {
  const startedAt = performance.now();
  await askDatabase(installation.pair.primaryUrl, async (admin) => {
    const waiting = () =>
      admin.query<{ count: number }>(
        "select count(*)::integer as count from webhook_deliveries where status = 'pending'",
      );
    for (;;) {
      const count = (await waiting()).rows[0]?.count ?? 0;
      if (count === 0 || performance.now() - startedAt > settleMs) return;
      await wait(500);
    }
  });
  return performance.now() - startedAt;
}

async function listSessions(api: Api) {
  const all = [];
  for (let cursor: string | undefined; ; ) {
    const answer = await api.get("/v1/sessions", { limit: 100, starting_after: cursor });
    all.push(...expectData(answer));
    if (answer.body.pagination?.has_more !== true) return all;
    cursor = answer.body.pagination.next_cursor ?? undefined;
  }
}

const webhookId = ({ headers }: { headers: Record<string, unknown> }) => headers["webhook-id"];

const begunAt = Date.now();
function say(line: string): void {
  const seconds = Math.round((Date.now() - begunAt) / 1000);
  console.log(
    `${String(Math.floor(seconds / 60)).padStart(3)}:${String(seconds % 60).padStart(2, "0")}  ${line}`,
  );
}

function tellProgress(books: Books, { receiver }: Installation): void {
  say(
    `  ${books.created.size} sessions made, ${books.cancelled.size} cancelled, ${books.verified.size} verified, ${books.reads} reads, ${receiver.received.length} deliveries, ${books.failures} requests failed`,
  );
}

function tell(
  books: Books,
  { receiver }: Installation,
  findings: readonly Finding[],
  { settledMs, minutes }: { settledMs: number; minutes: number },
): void {
  const distinct = new Set(receiver.received.map(webhookId)).size;
  console.log(`\n${minutes.toFixed(1)} minutes, load of the machine ${loadavg()[1]?.toFixed(1)}`);
  console.log(
    `  sessions made                ${books.created.size}, of them with a repetition compared ${books.replays}`,
  );
  console.log(
    `  cancelled, verified, read    ${books.cancelled.size}, ${books.verified.size}, ${books.reads}`,
  );
  console.log(
    `  given up after ${patienceMs / 1000} s          ${books.givenUp.length + books.givenUpOthers}`,
  );
  console.log(
    `  events at the receiver       ${distinct}, and ${receiver.received.length - distinct} of them once more`,
  );
  console.log(`  last delivery after the end  ${(settledMs / 1000).toFixed(1)} s\n`);
  for (const { guarantee, broken, of } of findings) {
    console.log(
      `${broken.length === 0 ? "ok  " : "FAIL"}  ${guarantee.padEnd(48)} ${String(broken.length).padStart(4)} of ${of}`,
    );
    for (const one of broken.slice(0, 5)) console.log(`        ${one}`);
  }
  console.log(
    `\n${"Fault".padEnd(34)} ${"sessions".padEnd(9)} ${"verified".padEnd(9)} ${"longest without a write".padEnd(24)} failed requests by cause`,
  );
  for (const { fault, sessions, verifications, longestMs, causes } of books.byFault())
    console.log(
      `${fault.padEnd(34)} ${String(sessions).padEnd(9)} ${String(verifications).padEnd(9)} ${`${(longestMs / 1000).toFixed(2)} s`.padEnd(24)} ${causes}`,
    );
}
