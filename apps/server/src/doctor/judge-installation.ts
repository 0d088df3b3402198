import { type Found, ok, problem, warning } from "@assay/cli/checks";
import type { Migration } from "../db/migrate.ts";
import type { Pooler } from "../db/pooler.ts";
import { type AppliedMigration, describeSchemaProblem, schemaProblem } from "../db/schema-version.ts";
import { dayMs, hourMs, minuteMs, secondMs } from "../kernel/clock.ts";

/** What is made of each thing that was seen: pure, so that every sentence can be had without an installation that is broken so. */

const leastNodeMajor = 24;

export function judgeNode(version: string): Found {
  const major = Number(/^v?(\d+)/.exec(version)?.[1]);
  return major >= leastNodeMajor
    ? ok(`Node ${version.replace(/^v/, "")}.`)
    : problem(
        `Node ${version.replace(/^v/, "")} is too old: the service needs ${leastNodeMajor}.`,
        "Start it with `npm start`, which brings its own, or update Node.",
      );
}

export function judgeFolder(folder: {
  path: string;
  /** Null where there is none. */
  mode: number | null;
  isWritable: boolean;
  /** Permissions of the key ring; null where it is not kept here. */
  ringMode: number | null;
}): Found {
  const { path, mode, isWritable, ringMode } = folder;
  if (mode === null)
    return warning(
      `${path} is not there yet.`,
      "The first start makes it. If there should be one, check DATA_DIR.",
    );
  if (!isWritable)
    return problem(
      `${path} cannot be written by this account.`,
      "Run this command as the account that runs the service, or give it the folder with chown.",
    );
  if (ringMode !== null && (ringMode & 0o077) !== 0)
    return problem(`The key ring in ${path} can be read by others.`, `chmod 600 ${path}/secret-keys`);
  // Passing through is allowed: as root the database runs under another account.
  if ((mode & 0o066) !== 0)
    return warning(`${path} can be listed or written by others.`, `chmod 700 ${path}`);
  return ok(`${path} is this account's alone.`);
}

/** Phones that vouch for their pictures do so with keys; those that leaked are on Google's list. */
export function judgeAttestation(revokedFile: string): Found {
  return revokedFile === ""
    ? warning(
        "Phones vouch for their pictures, but revoked keys are not known: a key that leaked passes.",
        "Fetch https://android.googleapis.com/attestation/status regularly into a file, and name it in ATTESTATION_REVOKED.",
      )
    : ok(`Revoked keys are read from ${revokedFile}.`);
}

const gigabyte = 1e9;

/** A rewrite of a table needs as much room as the table has, and a full disk stops every write. */
export function judgeDisk(disk: { free: number; size: number }): Found {
  const found = `${(disk.free / gigabyte).toFixed(1)} GB of ${(disk.size / gigabyte).toFixed(0)} GB are free.`;
  if (disk.free < gigabyte / 4) return problem(found, "Make room: without any, nothing can be written.");
  return disk.free < 2 * gigabyte ? warning(found, "Make room before it is used up.") : ok(found);
}

/** Each connection is an open file; the service takes a thousand clients at once and keeps some hundred files of its own. */
export function judgeOpenFiles(limit: number | "unlimited" | null): Found {
  if (limit === null) return ok("The system does not tell a limit.");
  const found = `${limit} files may be open at once.`;
  return limit === "unlimited" || limit >= 4096
    ? ok(found)
    : limit >= 1024
      ? warning(
          found,
          "Raise it to 65536 (`ulimit -n`, LimitNOFILE of systemd) before many people come at once.",
        )
      : problem(found, "Raise it to 65536 (`ulimit -n`, LimitNOFILE of systemd).");
}

/** A worker that was started with the models. */
export function judgeFaceWorker({ hasNetwork }: { hasNetwork: boolean }): Found {
  const found = "The models load on this machine.";
  return hasNetwork
    ? warning(
        `${found} The workers that see pictures can reach the network.`,
        "Let the account of the service make user namespaces, or see docs/face.md for what holds without.",
      )
    : ok(found);
}

const leastPostgresMajor = 15;

export function judgeDatabase(facts: { version: string; standby: boolean; read_only: boolean }): Found {
  const major = Number.parseInt(facts.version, 10);
  const found = `PostgreSQL ${facts.version}`;
  if (facts.standby || facts.read_only)
    return problem(
      `${found} takes no writes.`,
      "Point DATABASE_URL at the primary, and end what made it read-only.",
    );
  return major >= leastPostgresMajor
    ? ok(`${found} answers.`)
    : problem(`${found} is too old.`, `Update it to ${leastPostgresMajor} or later.`);
}

/** A pooler that lends connections for single transactions loses locks and notifications without a word. */
export function judgePooler(seen: {
  /** What DATABASE_URL leads through, and whether each of the pooler's clients has names of its own for statements. */
  pooler: Pooler;
  namesApart: boolean;
  /** What DATABASE_DIRECT_URL leads through; null where it is not set. */
  direct: Pooler | null;
  preparedStatements: "named" | "off";
}): Found {
  if ((seen.direct ?? seen.pooler) === "transaction")
    return problem(
      `${seen.direct === null ? "DATABASE_URL" : "DATABASE_DIRECT_URL"} leads through a pooler that lends its connections for single transactions.`,
      "Set DATABASE_DIRECT_URL to the address of PostgreSQL itself.",
    );
  if (seen.preparedStatements === "named" && !seen.namesApart)
    return problem(
      "The pooler does not keep the prepared statements of its clients apart.",
      "Set DATABASE_PREPARED_STATEMENTS=off, or update PgBouncer to 1.21 and set max_prepared_statements.",
    );
  if (seen.pooler === "none") return ok("None is between the service and the database.");
  return ok(
    seen.pooler === "session"
      ? "One is in front of the database, and lends connections for whole sessions."
      : "One is in front of the database, and DATABASE_DIRECT_URL leads past it.",
  );
}

/** Before the first start nothing is there, and that is fine. Later it means that data are lost, or that DATABASE_URL leads elsewhere. */
export function judgeEmpty(found: string, earlierLife: readonly string[]): Found {
  return earlierLife.length === 0
    ? warning(`${found}.`, "`assay migrate`, or the first start, makes the tables.")
    : problem(
        `${found}, although this installation has run before: ${earlierLife.join(", ")}.`,
        "Check that DATABASE_URL and DATA_DIR are those of this installation, or restore a backup. Where it is new all the same, run `assay migrate`.",
      );
}

export function judgeSchema(
  known: readonly Migration[],
  applied: readonly (AppliedMigration & { checksum: string })[] | null,
  earlierLife: readonly string[],
): Found {
  if (applied === null) return judgeEmpty("The database is empty", earlierLife);
  const has = new Map(applied.map(({ name, checksum }) => [name, checksum]));
  const changed = known.filter(({ name, checksum }) => has.has(name) && has.get(name) !== checksum);
  if (changed.length > 0)
    return problem(
      `Applied with other text than this version has: ${changed.map(({ name }) => name).join(", ")}.`,
      "This database belongs to another edition of the service. Run the one that made it.",
    );
  const trouble = schemaProblem(known, applied);
  if (trouble?.kind === "too_new")
    return problem(
      `${describeSchemaProblem(trouble).replace(/^t/, "T")}.`,
      "Run a newer release; the way back to this one is a backup from before.",
    );
  const missing = known.filter(({ name }) => !has.has(name));
  const later = applied.filter(({ name }) => !known.some((migration) => migration.name === name));
  if (missing.length > 0 && trouble === null)
    return warning(
      `Left for later: ${missing.map(({ name }) => name).join(", ")}.`,
      "Run `assay migrate` once no process of an older release runs.",
    );
  if (missing.length > 0)
    return problem(
      `Missing: ${missing.map(({ name }) => name).join(", ")}.`,
      "Run `assay migrate`, or start the service.",
    );
  if (later.length > 0)
    return warning(
      `The database is newer than this version by ${later.length}: ${later.map(({ name }) => name).join(", ")}.`,
      "Going back one version is meant to work; finish the update when you can.",
    );
  return ok(`${known.at(-1)?.name ?? "nothing"} is the newest of ${known.length}, as this version needs.`);
}

/** Leases, links and signatures are judged by the clock. Processes with clocks apart would disagree about who may still do what. */
export function judgeClock(skewMs: number): Found {
  const apart = Math.abs(skewMs);
  const found = `This machine and the database differ by ${apart < secondMs ? `${Math.round(apart)} ms` : `${(apart / secondMs).toFixed(1)} s`}.`;
  const todo = "Have both clocks set by the network (NTP).";
  return apart < secondMs ? ok(found) : apart < 5 * secondMs ? warning(found, todo) : problem(found, todo);
}

/** A mail that is a file is on the disk of the machine whose worker took it. */
export function judgeMailFiles(smtpUrl: string, machines: readonly string[]): Found {
  if (smtpUrl !== "") return ok("Mails go to the mail server.");
  if (machines.length < 2) return ok("Mails are files on this machine.");
  return warning(
    `Mails are files, each on whichever of these machines takes it: ${machines.join(", ")}.`,
    "Set SMTP_URL, the same on all of them.",
  );
}

/** Browsers lend camera, chip reader and passkeys only to https, and to this very machine. */
export function judgePublicUrl(publicUrl: string): Found {
  if (publicUrl === "")
    return warning(
      "PUBLIC_URL is not set: links lead to this machine only.",
      "Fine for trying out. For others, set it to the https address under which they reach the service.",
    );
  const { protocol, hostname } = new URL(publicUrl);
  const isLocal = hostname === "localhost" || hostname === "[::1]" || /^127\./.test(hostname);
  if (protocol !== "https:" && !isLocal)
    return problem(
      `${publicUrl} is not https: browsers give it neither camera nor passkeys, and secrets travel in the clear.`,
      "Put a proxy with a certificate in front, and set PUBLIC_URL to its https address.",
    );
  return ok(`${publicUrl}.`);
}

export function judgeReading(ways: { apps: readonly string[]; desks: boolean }): Found {
  const named = [...ways.apps, ...(ways.desks ? ["desks"] : [])];
  return named.length > 0
    ? ok(`Real documents are read by: ${named.join(", ")}.`)
    : warning(
        "Nothing reads real documents, so live sessions are refused.",
        "Configure READER_APP_ANDROID or READER_APP_IOS, or set DESK_READERS=true if staff read documents at desks.",
      );
}

export type Ring = { loaded: boolean; knownKeys: number; misfits: readonly string[] };

export function judgeRing({ loaded, knownKeys, misfits }: Ring): Found {
  if (!loaded)
    return knownKeys === 0
      ? warning(
          "There is no key ring yet.",
          "The first start makes one in DATA_DIR; copy it to a safe place.",
        )
      : problem(
          "There is no key ring, and the database has data that needs one.",
          "Put back DATA_DIR/secret-keys from your backup, or set SECRET_KEYS. Without it, sealed data cannot be read.",
        );
  if (misfits.length > 0)
    return problem(
      misfits.join(" "),
      "Use the ring that the other processes have (SECRET_KEYS, or DATA_DIR/secret-keys).",
    );
  return ok(
    knownKeys === 0 ? "The database knows no key yet." : "Every key that stored data needs is there.",
  );
}

export type TrustFacts = {
  authorities: number;
  valid: number;
  countries: number;
  /** Countries whose list of revoked signers is past its end. */
  stale: number;
  newestImport: Date | null;
  sources: readonly { address: string; succeededAt: Date | null; problem: string | null }[];
};

/** States publish new signers every few weeks, and their lists of revoked ones at least every three months. */
const oldTrustDays = 90;
const quietSourceDays = 3;

export function judgeTrust(trust: TrustFacts, now: Date): Found {
  const ageDays = (then: Date) => Math.floor((now.getTime() - then.getTime()) / dayMs);
  if (trust.authorities === 0)
    return warning(
      "Nothing is trusted: test documents pass in the sandbox, no live document can be accepted.",
      "Import a master list with `assay trust import`, or name sources in TRUST_SOURCES.",
    );
  if (trust.valid === 0)
    return problem(
      "Every trusted authority has expired.",
      "Import a newer master list with `assay trust import`.",
    );
  const found = `${trust.valid} authorities of ${trust.countries} countries are valid`;
  const quiet = trust.sources.filter(
    ({ succeededAt, problem: trouble }) =>
      trouble !== null && (succeededAt === null || ageDays(succeededAt) >= quietSourceDays),
  );
  if (quiet.length > 0)
    return problem(
      `${found}, but ${quiet.length} of ${trust.sources.length} sources bring nothing: ${quiet.map(({ address, problem: trouble }) => `${address} (${trouble})`).join(", ")}.`,
      "`assay trust status` tells more. Until it is mended, revoked signers may still count.",
    );
  if (trust.sources.length === 0 && trust.newestImport !== null && ageDays(trust.newestImport) > oldTrustDays)
    return warning(
      `${found}, but the newest list was imported ${ageDays(trust.newestImport)} days ago.`,
      "Import the newest lists, or have them fetched: TRUST_SOURCES.",
    );
  if (trust.stale > 0)
    return warning(
      `${found}; for ${trust.stale} the list of revoked signers is past its end.`,
      "Import newer revocation lists, or have them fetched: TRUST_SOURCES=distribution-points. `assay trust audit` names the countries.",
    );
  return ok(`${found}.`);
}

export type JobFacts = {
  processes: number;
  /** Whether a process has ever run on this database. */
  hasRun: boolean;
  aside: readonly { job: string; count: number }[];
  oldestMail: Date | null;
};

export function judgeJobs({ processes, hasRun, aside, oldestMail }: JobFacts, now: Date): Found {
  const nobody = "No process of the service runs.";
  const waitingMs = oldestMail === null ? 0 : now.getTime() - oldestMail.getTime();
  if (waitingMs > 10 * minuteMs)
    return problem(
      `The oldest mail has waited for ${ago(waitingMs)}.`,
      processes === 0
        ? `${nobody} Start it.`
        : "The log of the worker tells why the mail server does not take it.",
    );
  if (processes === 0 && hasRun)
    return problem(
      nobody,
      "Start it with `npm start`, and look at its log for why it ended. Where it runs on another machine, give both the same DATABASE_URL.",
    );
  if (aside.length > 0)
    return warning(
      `Set aside, because a job cannot deal with them: ${aside.map(({ job, count }) => `${count} of ${job}`).join(", ")}.`,
      "`assay jobs` tells why. Mend it, then `assay jobs retry`.",
    );
  return processes === 0
    ? warning(nobody, "Start it with `npm start`.")
    : ok(`${processes} ${processes === 1 ? "process runs" : "processes run"}, nothing is set aside.`);
}

export function judgeWebhooks(due: readonly { failing: boolean | null; due_at: Date }[], now: Date): Found {
  const lateMs = Math.max(
    0,
    ...due.filter(({ failing }) => failing !== true).map(({ due_at: at }) => now.getTime() - at.getTime()),
  );
  const failing = due.filter((endpoint) => endpoint.failing === true).length;
  if (lateMs > minuteMs)
    return problem(
      `The oldest delivery that could be sent has been due for ${ago(lateMs)}.`,
      "See whether a worker runs (`assay worker`, or `assay start`) and what its log says.",
    );
  return failing > 0
    ? warning(
        `${failing} endpoints of partners fail now; their deliveries are tried again.`,
        "Nothing, unless it is all of them: then this machine may not get out.",
      )
    : ok("Nothing is late.");
}

const oldBackupDays = 7;

export function judgeBackup(last: Date | null, isEmbedded: boolean, now: Date): Found {
  if (!isEmbedded)
    return ok("Not known here: your PostgreSQL is backed up with its own tools, SECRET_KEYS apart from it.");
  if (last === null)
    return warning(
      "No backup was made with `assay backup`, as far as is known here.",
      "`assay backup FILE`, and keep the file on another machine.",
    );
  const passed = now.getTime() - last.getTime();
  const found = `The last backup was made ${ago(passed)} ago.`;
  return passed > oldBackupDays * dayMs
    ? warning(found, "`assay backup FILE`, best every night by a timer.")
    : ok(found);
}

function ago(milliseconds: number): string {
  const [count, unit] =
    milliseconds < hourMs
      ? [Math.round(milliseconds / minuteMs), "minute"]
      : milliseconds < 2 * dayMs
        ? [Math.round(milliseconds / hourMs), "hour"]
        : [Math.round(milliseconds / dayMs), "day"];
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}
