import { createHash } from "node:crypto";
import { readCertificate } from "@assay/emrtd/x509/certificate";
import type { Core } from "../core.ts";
import type { Tx } from "../db/db.ts";
import { dayMs, hourMs, later, minuteMs, secondMs } from "../kernel/clock.ts";
import { type SafeFetch, SafeFetchError } from "../lib/safe-fetch.ts";
import { queueMail } from "../mails/queue-mail.ts";
import type { CurrentTrust } from "./current-trust.ts";
import { describeImport } from "./describe-import.ts";
import { changeTrust, insertImport, recordTrustAct, type TrustAct } from "./trust.store.ts";
import type { TrustReader } from "./trust-reader.ts";
import {
  claimDueSource,
  type Edition,
  holdImport,
  listEarlierEditions,
  listItsOwnCertificates,
  listOverdueImports,
  lockEdition,
  recordProblem,
  recordSuccess,
  retireImport,
  setSources,
  type TrustSourceRow,
} from "./trust-source.store.ts";
import { distributionPoints, namedSources } from "./trust-sources.ts";
import type { EditionAnswer } from "./trust-task.ts";

export const removalHeldMs = 7 * dayMs;
const everyMs = 6 * hourMs;
const firstRetryMs = 5 * minuteMs;
const leaseMs = 10 * minuteMs;
const fetchLimits = { timeoutMs: 60 * secondMs, maxBodyBytes: 16 * 1024 * 1024 };
const mostNamesInMail = 40;

type Around = Pick<Core, "config" | "db" | "clock" | "log" | "ring"> & {
  safeFetch: SafeFetch;
  trust: CurrentTrust;
  reader: TrustReader;
};

/** Asks one source whose time has come, and carries out the removals whose waiting time is over. Returns how many of both. */
export async function refreshTrust(around: Around): Promise<number> {
  const { config, db, clock } = around;
  const removed = await carryOutRemovals(around);
  if (config.trustSources.length === 0) return removed;
  await followNamedSources(around);
  const now = clock.now();
  const source = await claimDueSource(db, now, later(now, leaseMs));
  if (source === null) return removed;
  await ask(around, source);
  return removed + 1;
}

async function followNamedSources({ config, db, clock, trust, reader }: Around): Promise<void> {
  const addresses = namedSources(config.trustSources).map(({ address }) => address);
  if (config.trustSources.includes(distributionPoints)) {
    const { revocationListAddresses } = await reader.survey(await trust.snapshot(), clock.now());
    addresses.push(...revocationListAddresses);
  }
  await db.transaction((tx) => setSources(tx, [...new Set(addresses)], clock.now()));
}

async function ask(around: Around, source: TrustSourceRow): Promise<void> {
  const { db, clock, log } = around;
  const outcome = await fetchEdition(around, source);
  const now = clock.now();
  // With jitter by address, so that installations do not all ask at the same moment.
  const next = later(now, everyMs + (hash32(source.address) % (30 * minuteMs)));
  if (outcome === "unchanged") return recordSuccess(db, source.address, now, next, null);
  if (typeof outcome === "object") {
    const refusal = await takeIn(around, source, outcome, next);
    if (refusal === null) return;
    return fail(refusal);
  }
  return fail(outcome);

  async function fail(problem: string): Promise<void> {
    const retry = later(now, Math.min(everyMs, firstRetryMs * 2 ** Math.min(source.failures, 10)));
    await db.transaction(async (tx) => {
      if (!(await recordProblem(tx, source.address, now, retry, problem))) return;
      await recordTrustAct(tx, now, "source", { act: "refused", subject: source.address, detail: problem });
    });
    log.warn("a source of trust brought nothing", { source: source.address, problem });
  }
}

type Fetched = {
  edition: Extract<EditionAnswer, { kind: "usable" }>;
  sha256: string;
  etag: string | null;
  lastModified: string | null;
};

/** What the source has; or a sentence that says why it cannot be used. */
async function fetchEdition(
  { config, clock, safeFetch, trust, reader }: Around,
  source: TrustSourceRow,
): Promise<Fetched | "unchanged" | string> {
  const named = namedSources(config.trustSources).find(({ address }) => address === source.address);
  let answer: Awaited<ReturnType<SafeFetch["get"]>>;
  try {
    answer = await safeFetch.get(source.address, {
      ...fetchLimits,
      // A revocation list proves itself, and authorities publish theirs in the clear.
      protocols: named === undefined ? "https_or_http" : "https",
      headers: {
        "user-agent": "Assay-Trust/1",
        ...(source.etag === null ? {} : { "if-none-match": source.etag }),
        ...(source.last_modified === null ? {} : { "if-modified-since": source.last_modified }),
      },
    });
  } catch (error) {
    if (!(error instanceof SafeFetchError)) throw error;
    return `It could not be fetched: ${error.problem}`;
  }
  if (answer.status === 304) return "unchanged";
  if (answer.status !== 200) return `It answered with the status ${answer.status}`;
  if (answer.body === null) return `It is larger than ${fetchLimits.maxBodyBytes} bytes`;
  const sha256 = createHash("sha256").update(answer.body).digest("hex");
  if (sha256 === source.file_sha256) return "unchanged";
  const edition = await reader.readEdition({
    trust: await trust.snapshot(),
    bytes: answer.body,
    label: source.address,
    pins: named?.pins ?? [],
    now: clock.now(),
  });
  if (edition.kind === "refused") return edition.reason;
  return { edition, sha256, etag: answer.etag, lastModified: answer.lastModified };
}

/** All of an edition or nothing: additions count at once, what it lacks is held. Returns why it is refused, or null. */
async function takeIn(
  around: Around,
  { address }: TrustSourceRow,
  { edition, sha256, etag, lastModified }: Fetched,
  next: Date,
): Promise<string | null> {
  const now = around.clock.now();
  let refusal: string | null = null;
  await changeTrust(around.db, now, "source", async (tx) => {
    const known = await lockEdition(tx, address);
    // Taken off the list meanwhile, or brought by another process.
    if (known === null || known.file_sha256 === sha256) return [];
    if (known.edition_at !== null && edition.at < known.edition_at) {
      refusal = `It was signed at ${edition.at.toISOString()}, before the edition that counts`;
      return [];
    }
    const acts: TrustAct[] = [];
    for (const [part, record] of edition.records.entries()) {
      if (await insertImport(tx, record, part, "source", address)) acts.push(describeImport(record));
    }
    for (const earlier of await listEarlierEditions(tx, address, sha256))
      acts.push(...(await supersede(around, tx, earlier, address, now)));
    await recordSuccess(tx, address, now, next, { etag, lastModified, sha256, at: edition.at });
    return acts;
  });
  return refusal;
}

async function supersede(
  around: Around,
  tx: Tx,
  earlier: Edition,
  address: string,
  now: Date,
): Promise<readonly TrustAct[]> {
  if (earlier.retireAt !== null) return [];
  const until = later(now, removalHeldMs);
  // Marked first, so that what only this edition has is what no other one that stays has.
  await holdImport(tx, earlier, until);
  const lost = await listItsOwnCertificates(tx, earlier);
  if (lost.length === 0) {
    await retireImport(tx, earlier, now);
    return [];
  }
  const names = lost.map((certificate) => readCertificate(certificate).subject.display);
  await mailOperator(around, tx, {
    subject: `${lost.length} trusted authorities are to be removed`,
    paragraphs: [
      `The newest edition of ${address} lacks ${lost.length} authorities that the edition before had. They count until ${until.toISOString()} and are removed then.`,
      names
        .slice(0, mostNamesInMail)
        .concat(names.length > mostNamesInMail ? ["and others"] : [])
        .join("\n"),
      `To keep them, run: assay trust keep ${earlier.sha256.slice(0, 16)}`,
      `To remove them at once, run: assay trust remove ${earlier.sha256.slice(0, 16)}`,
    ],
  });
  return [
    {
      act: "removal_held",
      subject: earlier.label,
      detail: `${lost.length} authorities until ${until.toISOString()}: ${names.slice(0, mostNamesInMail).join("; ")}`,
    },
  ];
}

async function carryOutRemovals({ db, clock }: Around): Promise<number> {
  const now = clock.now();
  const acts = await changeTrust(db, now, "source", async (tx) => {
    const done: TrustAct[] = [];
    for (const edition of await listOverdueImports(tx, now)) {
      const lost = await listItsOwnCertificates(tx, edition);
      await retireImport(tx, edition, now);
      done.push({
        act: "removal_carried_out",
        subject: edition.label,
        detail: `${lost.length} authorities of the file ${edition.sha256}`,
      });
    }
    return done;
  });
  return acts.length;
}

async function mailOperator(
  { config, clock, ring, log }: Around,
  tx: Tx,
  mail: { subject: string; paragraphs: readonly string[] },
): Promise<void> {
  log.warn(mail.subject);
  if (config.operatorEmail === "") return;
  await queueMail({ clock, ring }, tx, { ...mail, to: config.operatorEmail });
}

function hash32(text: string): number {
  return createHash("sha256").update(text).digest().readUInt32BE(0);
}
