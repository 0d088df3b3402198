import { constants, createReadStream, createWriteStream } from "node:fs";
import { lstat, mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import pg from "pg";
import { hasCode, ignoring } from "../lib/error-code.ts";
import { ExplainedError } from "../lib/explained-error.ts";
import { readTar, type TarEntry, TarError, writeTar } from "../lib/tar.ts";
import {
  type ArchiveKey,
  type ArchiveLock,
  createDecrypter,
  createEncrypter,
  encryptedMark,
} from "./archive-encryption.ts";
import { dataDirMode } from "./data-dir.ts";
import { keyRingFileName } from "./key-ring-file.ts";
import { type EmbeddedPostgresOptions, embeddedFolders } from "./postgres/cluster.ts";
import { startEmbeddedPostgres } from "./postgres/embedded-postgres.ts";
import { syncToDisk } from "./sync-to-disk.ts";

type Progress = (line: string) => void;

const format = "assay-backup";
const formatVersion = 1;
/**
 * Names in the archive. The manifest comes first, so that a foreign file is refused before anything is
 * written.
 */
const manifestName = "assay-backup.json";
const dataName = "postgres/data";
const maxManifestBytes = 64 * 1024;
const maxReadBytes = 256 * 1024;

/**
 * Folders that the server recreates at its start, or that concern only the running server. They are kept
 * empty.
 */
const emptiedFolders = new Set([
  "pg_wal",
  "pg_replslot",
  "pg_dynshmem",
  "pg_notify",
  "pg_serial",
  "pg_snapshots",
  "pg_stat_tmp",
  "pg_subtrans",
]);
const leftOutFiles =
  /^(postmaster\.(pid|opts)|backup_label(\.old)?|tablespace_map(\.old)?|pgsql_tmp.*|pg_internal\.init.*)$/;

/**
 * Writes one archive with the database and its key ring, while the service runs. It contains everything that
 * was committed before the call. By the backup protocol of PostgreSQL, the write-ahead log comes after the
 * files and makes the copy consistent.
 */
export async function backupEmbedded(options: {
  dataDir: string;
  env: EmbeddedPostgresOptions["env"];
  toFile: string;
  /** Null leaves the archive unencrypted. */
  lock?: ArchiveLock | null;
  /** False leaves the key ring out; the operator keeps it elsewhere. */
  withKeys?: boolean;
  log?: Progress;
}): Promise<{ bytes: number }> {
  const { log = () => {}, lock = null, withKeys = true } = options;
  const encrypt = lock === null ? async (plain: Readable) => plain : createEncrypter(lock);
  const toFile = await newFile(options.toFile);
  const { data } = embeddedFolders(options.dataDir);
  if (!(await exists(path.join(data, "PG_VERSION")))) {
    throw new ExplainedError(
      `${options.dataDir} has no data of the built-in PostgreSQL; there is nothing to back up.`,
    );
  }
  const keyRing = withKeys ? path.join(path.resolve(options.dataDir), keyRingFileName) : null;
  const server = await startEmbeddedPostgres({ dataDir: options.dataDir, env: options.env, log: () => {} });
  try {
    const client = new pg.Client({ connectionString: server.adminUrl, application_name: "assay backup" });
    // If the server ends, the next statement fails and is reported.
    client.on("error", () => {});
    await client.connect();
    try {
      log(`writing ${toFile}`);
      const tar = Readable.from(writeTar(archiveEntries(client, data, keyRing, log)));
      const written = await writeWhole(toFile, await encrypt(tar.compose(createGzip({ level: 6 }))));
      log(`backup complete: ${written.bytes} bytes`);
      return written;
    } finally {
      await client.end();
    }
  } finally {
    await server.stop();
  }
}

/** Encrypts a dump of `pg_dump` like an archive. `age --decrypt` opens it. */
export async function encryptDump(
  fromFile: string,
  file: string,
  lock: ArchiveLock,
): Promise<{ bytes: number }> {
  const encrypt = createEncrypter(lock);
  const toFile = await newFile(file);
  const { size } = await lstat(fromFile).catch(() => ({ size: 0 }));
  if (size === 0) throw new ExplainedError(`${fromFile} is missing or empty; there is nothing to encrypt.`);
  return writeWhole(toFile, await encrypt(createReadStream(fromFile)));
}

async function newFile(name: string): Promise<string> {
  const file = path.resolve(name);
  if (await exists(file)) throw new ExplainedError(`${file} already exists; choose another name.`);
  return file;
}

/** Writes under another name and renames at the end, so that the file is complete or absent. */
async function writeWhole(toFile: string, content: Readable): Promise<{ bytes: number }> {
  const partial = `${toFile}.partial-${process.pid}`;
  try {
    // Only the owner may read it: the archive may contain the keys with the data.
    await pipeline(content, createWriteStream(partial, { flags: "wx", mode: 0o600, flush: true }));
    await rename(partial, toFile);
    await syncToDisk(path.dirname(toFile));
    return { bytes: (await lstat(toFile)).size };
  } finally {
    await rm(partial, { force: true });
  }
}

const readRing = (path: string | null) => (path === null ? null : readFile(path, "utf8").catch(() => null));

/**
 * The keys from before and after the copy. A key may be added or retired meanwhile, and the copy may contain
 * values sealed with either.
 */
function joinRings(before: string | null, after: string | null): string | null {
  if (before === null || after === null || before === after) return after ?? before;
  const entries = [after, before].flatMap((text) => text.split(/[\s,]+/)).filter((entry) => entry !== "");
  return `${[...new Set(entries)].join(",")}\n`;
}

async function* archiveEntries(
  client: pg.Client,
  data: string,
  keyRing: string | null,
  log: Progress,
): AsyncGenerator<TarEntry> {
  const major = (await readFile(path.join(data, "PG_VERSION"), "utf8")).trim();
  // A replication slot keeps the write-ahead log of the next minutes on disk. A temporary one ends with this
  // connection.
  await client.query("select pg_create_physical_replication_slot($1, true, true)", [
    `assay_backup_${process.pid}`,
  ]);
  const begun = await client.query(
    "select pg_walfile_name(lsn) as segment from pg_backup_start($1, fast => true) as lsn",
    [format],
  );
  const firstSegment = String(begun.rows[0]?.segment);
  yield textEntry(
    manifestName,
    JSON.stringify({ format, version: formatVersion, postgres: major, made_at: new Date().toISOString() }),
  );
  const ringBefore = await readRing(keyRing);

  yield { kind: "folder", name: "postgres" };
  yield { kind: "folder", name: dataName };
  yield* copyFolder(data, "", log);
  // The control file comes last of the data, as the protocol requires.
  yield textEntry(
    `${dataName}/global/pg_control`,
    await readSettled(path.join(data, "global", "pg_control")),
  );

  const ended = await client.query(
    "select labelfile, pg_walfile_name(lsn) as segment from pg_backup_stop(wait_for_archive => false)",
  );
  const keys = joinRings(ringBefore, await readRing(keyRing));
  if (keys !== null) yield textEntry(keyRingFileName, keys);
  else if (keyRing === null) log("the key ring is not in the archive; back it up separately");
  else log(`no key ring at ${keyRing}; back up SECRET_KEYS separately`);
  const { labelfile, segment: lastSegment } = ended.rows[0] as { labelfile: string; segment: string };
  yield textEntry(`${dataName}/backup_label`, labelfile);
  log("data copied; adding the write-ahead log");
  const segments = (await readdir(path.join(data, "pg_wal")))
    .filter((name) => /^[0-9A-F]{24}$/.test(name) && name >= firstSegment && name <= lastSegment)
    .sort();
  if (segments[0] !== firstSegment || segments.at(-1) !== lastSegment) {
    throw new ExplainedError("the write-ahead log of the backup is incomplete; try again");
  }
  for (const name of segments) {
    const entry = await fileEntry(path.join(data, "pg_wal", name), `${dataName}/pg_wal/${name}`);
    if (entry === null)
      throw new ExplainedError("the write-ahead log changed while it was copied; try again");
    yield entry;
  }
}

async function* copyFolder(data: string, below: string, log: Progress): AsyncGenerator<TarEntry> {
  for (const item of await readdir(path.join(data, below), { withFileTypes: true })) {
    const relative = below === "" ? item.name : `${below}/${item.name}`;
    if (leftOutFiles.test(item.name) || relative === "global/pg_control") continue;
    if (item.isDirectory()) {
      yield { kind: "folder", name: `${dataName}/${relative}` };
      if (below === "") log(`copying ${relative}`);
      if (!emptiedFolders.has(relative)) yield* copyFolder(data, relative, log);
    } else if (item.isFile()) {
      const entry = await fileEntry(path.join(data, relative), `${dataName}/${relative}`);
      // No file: its table was dropped meanwhile, which is also in the write-ahead log.
      if (entry !== null) yield entry;
    } else {
      throw new ExplainedError(
        `${relative} is a link; this command cannot back up a database with other tablespaces`,
      );
    }
  }
}

async function fileEntry(file: string, name: string): Promise<TarEntry | null> {
  let handle: Awaited<ReturnType<typeof open>>;
  try {
    handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return null;
    throw error;
  }
  const { size } = await handle.stat();
  const content = (async function* () {
    try {
      for (let at = 0; at < size; ) {
        // Most files are small: a large buffer for each would be most of the work.
        const buffer = Buffer.allocUnsafe(Math.min(maxReadBytes, size - at));
        const { bytesRead } = await handle.read(buffer, 0, buffer.length, at);
        if (bytesRead === 0) break;
        at += bytesRead;
        yield buffer.subarray(0, bytesRead);
      }
    } finally {
      await handle.close();
    }
  })();
  return { kind: "file", name, bytes: size, content };
}

function textEntry(name: string, content: string | Buffer): TarEntry {
  const bytes = Buffer.from(content as string);
  return { kind: "file", name, bytes: bytes.length, content: once(bytes) };
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

/**
 * The server rewrites the control file in place. Two equal reads in a row prove that it was not half written.
 */
async function readSettled(file: string): Promise<Buffer> {
  let before = await readFile(file);
  for (let attempt = 0; attempt < 100; attempt++) {
    const now = await readFile(file);
    if (now.equals(before)) return now;
    before = now;
  }
  throw new ExplainedError(`${file} changes constantly; try again`);
}

/**
 * Restores DATA_DIR from an archive. It is written beside the target and renamed at the end, so that DATA_DIR
 * is either unchanged or complete. The next start replays the write-ahead log up to the end of the backup.
 */
export async function restoreEmbedded(options: {
  fromFile: string;
  dataDir: string;
  /** For an encrypted archive. */
  key?: ArchiveKey | null;
  log?: Progress;
}): Promise<void> {
  const log = options.log ?? (() => {});
  const dataDir = path.resolve(options.dataDir);
  const present = await readdir(dataDir).catch(ignoring("ENOENT"));
  if (present !== undefined && present.length > 0) {
    throw new ExplainedError(
      `${dataDir} is not empty. Restore into a new folder, or move the old one away first.`,
    );
  }
  await mkdir(path.dirname(dataDir), { recursive: true });
  const partial = `${dataDir}.restore-${process.pid}`;
  await mkdir(partial, { mode: dataDirMode() });
  try {
    log(`reading ${options.fromFile}`);
    const written = { keyRing: false, label: false };
    await pipeline(
      await openArchive(options.fromFile, options.key ?? null),
      createGunzip(),
      async (input: AsyncIterable<Buffer>) => {
        await unpack(input, partial, written);
      },
    );
    if (!written.label) throw new ExplainedError(`${options.fromFile} contains no complete database.`);
    if (!written.keyRing) log("the archive contains no key ring; set SECRET_KEYS to the keys of that time");
    await rename(partial, dataDir);
    await syncToDisk(path.dirname(dataDir));
    log(`restored into ${dataDir}`);
  } catch (error) {
    if (error instanceof TarError || isZlibError(error)) {
      throw new ExplainedError(
        `${options.fromFile} is damaged or not a backup of Assay: ${(error as Error).message}.`,
      );
    }
    throw error;
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

/** The decrypted archive. An archive that cannot be decrypted is refused with the reason. */
async function openArchive(file: string, key: ArchiveKey | null): Promise<Readable> {
  if (!(await isEncrypted(file))) return createReadStream(file);
  if (key === null)
    throw new ExplainedError(`${file} is encrypted: name the key with --identity, or --passphrase-file.`);
  let opened: Readable;
  try {
    opened = await createDecrypter(key)(createReadStream(file));
  } catch (error) {
    throw new ExplainedError(`${file} cannot be decrypted: ${(error as Error).message}.`);
  }
  return Readable.from(
    (async function* () {
      try {
        yield* opened;
      } catch (error) {
        throw new ExplainedError(`${file} is damaged: ${(error as Error).message}.`);
      }
    })(),
  );
}

async function isEncrypted(file: string): Promise<boolean> {
  const handle = await open(file, "r").catch((error: Error) => {
    throw new ExplainedError(`${file} cannot be read: ${error.message}.`);
  });
  try {
    const { buffer } = await handle.read(Buffer.alloc(encryptedMark.length), 0, encryptedMark.length, 0);
    return buffer.toString("latin1") === encryptedMark;
  } finally {
    await handle.close();
  }
}

async function unpack(
  input: AsyncIterable<Buffer>,
  folder: string,
  written: { keyRing: boolean; label: boolean },
): Promise<void> {
  let known = false;
  const made: string[] = [folder];
  for await (const entry of readTar(input)) {
    if (!known) {
      await checkManifest(entry);
      known = true;
      continue;
    }
    const inside =
      entry.name === dataName || entry.name.startsWith(`${dataName}/`) || entry.name === "postgres";
    const place = path.join(folder, entry.name);
    if (entry.kind === "folder") {
      if (!inside) throw new TarError(`the folder ${entry.name} is unexpected`);
      await mkdir(place, { mode: 0o700 });
      made.push(place);
      continue;
    }
    if (entry.name === keyRingFileName) written.keyRing = true;
    else if (!entry.name.startsWith(`${dataName}/`))
      throw new TarError(`the file ${entry.name} is unexpected`);
    if (entry.name === `${dataName}/backup_label`) written.label = true;
    // "wx" never follows or overwrites what an earlier entry created.
    const file = await open(place, "wx", 0o600);
    try {
      for await (const chunk of entry.content) await file.writeFile(chunk);
    } finally {
      await file.close();
    }
    made.push(place);
  }
  await syncAll(made);
}

/**
 * Runs once at the end, for many files in parallel: sequentially it would wait for the disk a thousand times.
 */
async function syncAll(places: string[]): Promise<void> {
  const worker = async () => {
    for (let place = places.pop(); place !== undefined; place = places.pop()) await syncToDisk(place);
  };
  await Promise.all(Array.from({ length: 16 }, worker));
}

async function checkManifest(entry: TarEntry): Promise<void> {
  if (entry.kind !== "file" || entry.name !== manifestName || entry.bytes > maxManifestBytes) {
    throw new TarError("it does not begin like a backup");
  }
  const parts: Buffer[] = [];
  for await (const part of entry.content) parts.push(Buffer.from(part));
  let manifest: { format?: unknown; version?: unknown };
  try {
    manifest = JSON.parse(Buffer.concat(parts).toString("utf8")) ?? {};
  } catch {
    throw new TarError("its manifest cannot be read");
  }
  if (manifest.format !== format) throw new TarError("it does not begin like a backup");
  if (manifest.version !== formatVersion) {
    throw new ExplainedError(
      `This backup has format version ${String(manifest.version)}; this version of Assay reads version ${formatVersion}.`,
    );
  }
}

function isZlibError(error: unknown): boolean {
  return error instanceof Error && "code" in error && /^Z_/.test(String(error.code));
}

async function exists(file: string): Promise<boolean> {
  return (await lstat(file).catch(() => null)) !== null;
}
