import { createHash } from "node:crypto";
import { isEmrtdError } from "@assay/emrtd/emrtd-error";
import { readCertificate } from "@assay/emrtd/x509/certificate";
import type { Core } from "../../platform/core.ts";
import type { Db, Tx } from "../../platform/db/db.ts";
import { isAboutData } from "../../platform/db/errors.ts";
import { failureReason } from "../../platform/db/isolate-failures.ts";
import type { Steps } from "../../platform/db/quarantine.ts";
import { dayMs, hourMs, later, minuteMs, secondMs } from "../../platform/kernel/clock.ts";
import { describeError } from "../../platform/lib/log.ts";
import { type SafeFetch, SafeFetchError } from "../../platform/lib/safe-fetch.ts";
import { composeMail } from "../../platform/mails/compose-mail.ts";
import type { Letter } from "../../platform/mails/letter.ts";
import { queueMail } from "../../platform/mails/queue-mail.ts";
import {
  distributionPoints,
  namedSources,
  type WalletSource,
  walletSources,
} from "../../settings/trust-sources.ts";
import type { CurrentTrust } from "./current-trust.ts";
import { describeImport, describeWalletImport } from "./describe-import.ts";
import { changeTrust, insertImport, recordTrustAct, type TrustAct } from "./trust.store.ts";
import type { TrustReader } from "./trust-reader.ts";
import {
  addSources,
  type Edition,
  hasUnreportedLists,
  holdImport,
  isOverdue,
  leaseSources,
  listEarlierEditions,
  listItsOwnCertificates,
  listOverdueImports,
  lockEdition,
  markRevokedSigners,
  recordProblem,
  recordSuccess,
  retireImport,
  setSources,
  type TrustSourceRow,
  takeDueSources,
} from "./trust-source.store.ts";
import type { TrustSurvey } from "./trust-task.ts";
import { insertWalletImport } from "./wallet-trust.store.ts";

const removalHeldMs = 7 * dayMs;
const everyMs = 6 * hourMs;
const jitterMs = 30 * minuteMs;
const firstRetryMs = 5 * minuteMs;
const leaseMs = 10 * minuteMs;
const fetchLimits = { timeoutMs: 60 * secondMs, maxBodyBytes: 16 * 1024 * 1024 };
const maxNamesInMail = 40;

type Around = Pick<Core, "config" | "db" | "clock" | "log" | "publicUrl" | "ring" | "quarantine"> & {
  safeFetch: SafeFetch;
  trust: CurrentTrust;
  reader: TrustReader;
};

/** Fetches one source that is due, and carries out overdue removals. Returns the number of both. */
export async function refreshTrust(around: Around, job: string): Promise<number> {
  const { config, clock, quarantine } = around;
  const removed = await carryOutRemovals(around, job);
  await reportRevokedSigners(around);
  if (config.trustSources.length + config.wallet.trustSources.length === 0) return removed;
  await followNamedSources(around);
  const rows = quarantine.rowsOf(job, "trust_sources");
  const lease: Steps<TrustSourceRow> = {
    take: (tx, among) => takeDueSources(tx, clock.now(), among),
    handle: (tx, sources) =>
      leaseSources(
        tx,
        sources.map(({ address }) => address),
        later(clock.now(), leaseMs),
      ),
  };
  const healed = await rows.retry(async (id) => {
    for (const source of await rows.again(id, lease)) await ask(around, source);
  });
  const { taken, done } = await rows.batch(1, lease);
  for (const source of done) await rows.guard(source, () => ask(around, source));
  return removed + healed + taken.length;
}

async function followNamedSources(around: Around): Promise<void> {
  const { config, db, clock } = around;
  const addresses = [
    ...namedSources(config.trustSources).map(({ address }) => address),
    ...walletSources(config.wallet.trustSources).map(({ id }) => id),
  ];
  const now = clock.now();
  if (!config.trustSources.includes(distributionPoints))
    return db.transaction((tx) => setSources(tx, [...new Set(addresses)], now));
  const survey = await surveyOrNull(around);
  // Without a survey no address is removed from the list.
  if (survey === null) return db.transaction((tx) => addSources(tx, addresses, now));
  addresses.push(...survey.revocationListAddresses);
  return db.transaction((tx) => setSources(tx, [...new Set(addresses)], now));
}

/** Null if it fails, which must not prevent the sources from being fetched. */
async function surveyOrNull({ trust, reader, clock, log }: Around): Promise<TrustSurvey | null> {
  const snapshot = await trust.snapshot();
  try {
    return await reader.survey(snapshot, clock.now());
  } catch (error) {
    log.warn("could not survey the trust store", describeError(error));
    return null;
  }
}

/**
 * A list stays trusted when its signer is revoked later: a state that retires a signer does not mean to
 * revoke every listed authority. The operator gets one mail and decides whether to remove the list.
 */
async function reportRevokedSigners(around: Around): Promise<void> {
  const { db, clock } = around;
  if (!(await hasUnreportedLists(db))) return;
  const files = (await surveyOrNull(around))?.filesOfRevokedSigners ?? [];
  if (files.length === 0) return;
  const now = clock.now();
  await db.transaction(async (tx) => {
    for (const { sha256, label, signer } of await markRevokedSigners(tx, files, now)) {
      await recordTrustAct(tx, now, "source", {
        act: "signer_revoked",
        subject: label,
        detail: `${signer}, signer of the file ${sha256}`,
      });
      const remove = `assay trust remove ${sha256.slice(0, 16)}`;
      await mailOperator(around, tx, { kind: "signer_revoked", fill: { signer, list: label, remove } });
    }
  });
}

async function ask(around: Around, source: TrustSourceRow): Promise<void> {
  const { db, clock, log } = around;
  const problem = await problemOf(around, source);
  if (problem === null) return;
  const now = clock.now();
  const retry = later(now, Math.min(everyMs, firstRetryMs * 2 ** Math.min(source.failures, 10)));
  await db.transaction(async (tx) => {
    if (!(await recordProblem(tx, source.address, now, retry, problem))) return;
    await recordTrustAct(tx, now, "source", { act: "refused", subject: source.address, detail: problem });
  });
  log.warn("could not update from a trust source", { source: source.address, problem });
}

/** Imports the edition of the source. Returns the problem, unexpected ones included, or null. */
async function problemOf(around: Around, source: TrustSourceRow): Promise<string | null> {
  const { db, clock } = around;
  try {
    const outcome = await fetchEdition(around, source);
    const now = clock.now();
    // With jitter, so that installations do not all fetch at the same moment.
    const next = later(now, everyMs + Math.floor(Math.random() * jitterMs));
    if (typeof outcome === "object") return await importEdition(around, source, outcome, next);
    if (outcome !== "unchanged") return outcome;
    await recordSuccess(db, source.address, now, next, null);
    return null;
  } catch (error) {
    if (!isAboutData(error)) throw error;
    return `It could not be processed: ${failureReason(error)}`;
  }
}

type Fetched = {
  /** When it was signed. */
  at: Date;
  /** Adds what the edition contains; an import that exists already is no act. */
  insert: (tx: Tx) => Promise<readonly TrustAct[]>;
  sha256: string;
  etag: string | null;
  lastModified: string | null;
};

/** What the source has, or a sentence that says why it cannot be used. */
async function fetchEdition(around: Around, source: TrustSourceRow): Promise<Fetched | "unchanged" | string> {
  const { config, safeFetch } = around;
  const wallet = walletSources(config.wallet.trustSources).find(({ id }) => id === source.address) ?? null;
  const named = namedSources(config.trustSources).find(({ address }) => address === source.address) ?? null;
  let answer: Awaited<ReturnType<SafeFetch["get"]>>;
  try {
    answer = await safeFetch.get(wallet?.address ?? source.address, {
      ...fetchLimits,
      // A revocation list is signed, and authorities publish theirs over plain HTTP.
      protocols: named === null && wallet === null ? "https_or_http" : "https",
      headers: {
        "user-agent": "Assay-Trust/1",
        ...(source.etag === null ? {} : { "if-none-match": source.etag }),
        ...(source.lastModified === null ? {} : { "if-modified-since": source.lastModified }),
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
  if (sha256 === source.fileSha256) return "unchanged";
  const read =
    wallet === null
      ? await readPassportList(around, source, answer.body, named?.pins ?? [])
      : await readWalletEdition(around, wallet, answer.body, sha256);
  if (typeof read === "string") return read;
  return { ...read, sha256, etag: answer.etag, lastModified: answer.lastModified };
}

type ReadEdition = Pick<Fetched, "at" | "insert">;

async function readPassportList(
  { clock, trust, reader }: Around,
  { address }: TrustSourceRow,
  bytes: Uint8Array,
  pins: readonly string[],
): Promise<ReadEdition | string> {
  const snapshot = await trust.snapshot();
  const answer = await reader.readEdition({ trust: snapshot, bytes, label: address, pins, now: clock.now() });
  if (answer.kind === "refused") return answer.reason;
  const { at, records } = answer;
  const insert = async (tx: Tx) => {
    const acts: TrustAct[] = [];
    for (const [part, record] of records.entries())
      if (await insertImport(tx, record, part, "source", address)) acts.push(describeImport(record));
    return acts;
  };
  return { at, insert };
}

async function readWalletEdition(
  { clock, reader }: Around,
  { id, purpose, pins }: WalletSource,
  bytes: Uint8Array,
  sha256: string,
): Promise<ReadEdition | string> {
  const now = clock.now();
  const answer = await reader.readWalletList({ bytes, purpose, pins, now });
  if (answer.kind === "refused") return answer.reason;
  const imported = { ...answer.list, sha256, purpose, scope: "live", label: id, importedAt: now } as const;
  const insert = async (tx: Tx) =>
    (await insertWalletImport(tx, imported, id)) ? [describeWalletImport(imported)] : [];
  return { at: answer.list.at, insert };
}

/** Imports an edition: additions count at once, removals wait. Returns why it is refused, or null. */
async function importEdition(
  around: Around,
  { address }: TrustSourceRow,
  { at, insert, sha256, etag, lastModified }: Fetched,
  next: Date,
): Promise<string | null> {
  const now = around.clock.now();
  let refusal: string | null = null;
  await changeTrust(around.db, now, "source", async (tx) => {
    const known = await lockEdition(tx, address);
    // Removed meanwhile, or imported by another process.
    if (known === null || known.fileSha256 === sha256) return [];
    if (known.editionAt !== null && at < known.editionAt) {
      refusal = `It was signed at ${at.toISOString()}, before the current edition`;
      return [];
    }
    const acts = [...(await insert(tx))];
    for (const earlier of await listEarlierEditions(tx, address, sha256))
      acts.push(...(await supersede(around, tx, earlier, address, now)));
    await recordSuccess(tx, address, now, next, { etag, lastModified, sha256, at });
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
  // Marked first, so that only certificates of no remaining edition are found.
  await holdImport(tx, earlier, until);
  const lost = await listItsOwnCertificates(tx, earlier);
  if (lost.length === 0) {
    await retireImport(tx, earlier, now);
    return [];
  }
  const names = lost.map(nameOf);
  const file = earlier.sha256.slice(0, 16);
  await mailOperator(around, tx, {
    kind: "authorities_leave",
    fill: {
      count: String(lost.length),
      address,
      at: until,
      names: names
        .slice(0, maxNamesInMail)
        .concat(names.length > maxNamesInMail ? ["…"] : [])
        .join("\n"),
      keep: `assay trust keep ${file}`,
      remove: `assay trust remove ${file}`,
    },
  });
  return [
    {
      act: "removal_held",
      subject: earlier.label,
      detail: `${lost.length} authorities until ${until.toISOString()}: ${names.slice(0, maxNamesInMail).join("; ")}`,
    },
  ];
}

async function carryOutRemovals({ db, clock, quarantine }: Around, job: string): Promise<number> {
  const now = clock.now();
  const overdue = await listOverdueImports(db, now);
  const rows = quarantine.rowsOf(job, "trust_imports");
  const idOf = ({ sha256, part }: Edition) => `${sha256}-${part}`;
  const healed = await rows.retry(async (id) => {
    for (const edition of overdue) if (idOf(edition) === id) await carryOutRemoval(db, now, edition);
  });
  const waiting = new Set(overdue.length === 0 ? [] : await rows.waiting(overdue.map(idOf)));
  let removed = 0;
  for (const edition of overdue) {
    if (waiting.has(idOf(edition))) continue;
    await rows.guard({ id: idOf(edition) }, () => carryOutRemoval(db, now, edition));
    removed += 1;
  }
  return healed + removed;
}

async function carryOutRemoval(db: Db, now: Date, edition: Edition): Promise<void> {
  await changeTrust(db, now, "source", async (tx) => {
    if (!(await isOverdue(tx, edition, now))) return [];
    const lost = await listItsOwnCertificates(tx, edition);
    await retireImport(tx, edition, now);
    return [
      {
        act: "removal_carried_out",
        subject: edition.label,
        detail: `${lost.length} authorities of the file ${edition.sha256}`,
      },
    ];
  });
}

/** A certificate that cannot be read any more is named by its fingerprint. */
function nameOf(certificate: Uint8Array): string {
  try {
    return readCertificate(certificate).subject.display;
  } catch (error) {
    if (!isEmrtdError(error)) throw error;
    return createHash("sha256").update(certificate).digest("hex");
  }
}

async function mailOperator(around: Around, tx: Tx, letter: Letter): Promise<void> {
  const { config, log } = around;
  const { subject } = composeMail(
    "",
    letter,
    { name: null, language: "en" },
    { publicUrl: "", organization: null },
  );
  log.warn(subject);
  if (config.operatorEmail !== "") await queueMail(around, tx, { to: config.operatorEmail }, letter);
}
