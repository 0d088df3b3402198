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
import { startEmbeddedPostgres } from "./postgres/embedded-postgres.ts";
import { type EmbeddedPostgresOptions, embeddedFolders } from "./postgres/place.ts";
import { syncToDisk } from "./sync-to-disk.ts";

/** A reason that an operator can act on: its message is the whole report. */
export class BackupError extends ExplainedError {}

type Progress = (line: string) => void;

const format = "assay-backup";
const formatVersion = 1;
/** Names in the archive. The manifest comes first, so that a foreign file is refused before anything is written. */
const manifestName = "assay-backup.json";
const dataName = "postgres/data";
const maxManifestBytes = 64 * 1024;

/** Folders whose files the server makes again at start, or which are about the running server only. Their names are kept, empty. */
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
 * Writes one archive with the database and the key ring that reads it, while the service runs. Everything committed before
 * the call is in it. The server's own protocol for this is followed: it is told that a copy begins, files are copied as they
 * are, and the write-ahead log of that time, which makes the copy consistent, is added at the end.
 */
export async function backupEmbedded(options: {
  dataDir: string;
  env: EmbeddedPostgresOptions["env"];
  toFile: string;
  /** Null leaves the archive in clear. */
  lock?: ArchiveLock | null;
  /** False leaves the key ring out, which is then kept elsewhere. */
  withKeys?: boolean;
  log?: Progress;
}): Promise<{ bytes: number }> {
  const { log = () => {}, lock = null, withKeys = true } = options;
  const encrypt = lock === null ? null : createEncrypter(lock);
  const toFile = path.resolve(options.toFile);
  if (await exists(toFile)) throw new BackupError(`${toFile} exists already; choose another name.`);
  const { data } = embeddedFolders(options.dataDir);
  if (!(await exists(path.join(data, "PG_VERSION")))) {
    throw new BackupError(
      `${options.dataDir} holds no data of the built-in PostgreSQL; there is nothing to back up.`,
    );
  }
  const keyRing = withKeys ? path.join(path.resolve(options.dataDir), keyRingFileName) : null;
  const server = await startEmbeddedPostgres({ dataDir: options.dataDir, env: options.env, log: () => {} });
  const partial = `${toFile}.partial-${process.pid}`;
  try {
    const client = new pg.Client({ connectionString: server.adminUrl, application_name: "assay backup" });
    // A server that ends in the middle makes the next statement fail, which is reported.
    client.on("error", () => {});
    await client.connect();
    try {
      log(`writing ${toFile}`);
      const tar = Readable.from(writeTar(archiveEntries(client, data, keyRing, log)));
      const packed = tar.compose(createGzip({ level: 6 }));
      await pipeline(
        encrypt === null ? packed : await encrypt(packed),
        // Only the owner may read: the archive may hold the keys beside the data.
        createWriteStream(partial, { flags: "wx", mode: 0o600, flush: true }),
      );
    } finally {
      await client.end();
    }
    await rename(partial, toFile);
    await syncToDisk(path.dirname(toFile));
    const { size } = await lstat(toFile);
    log(`backup complete: ${size} bytes`);
    return { bytes: size };
  } finally {
    await rm(partial, { force: true });
    await server.stop();
  }
}

/** Encrypts a dump that PostgreSQL's own tool wrote, as the archives are. `age --decrypt` opens it. */
export async function encryptDump(
  fromFile: string,
  file: string,
  lock: ArchiveLock,
): Promise<{ bytes: number }> {
  const encrypt = createEncrypter(lock);
  const toFile = path.resolve(file);
  if (await exists(toFile)) throw new BackupError(`${toFile} exists already; choose another name.`);
  const { size } = await lstat(fromFile).catch(() => ({ size: 0 }));
  if (size === 0) throw new BackupError(`${fromFile} is missing or empty; there is nothing to encrypt.`);
  const partial = `${toFile}.partial-${process.pid}`;
  try {
    const target = createWriteStream(partial, { flags: "wx", mode: 0o600, flush: true });
    await pipeline(await encrypt(createReadStream(fromFile)), target);
    await rename(partial, toFile);
    await syncToDisk(path.dirname(toFile));
    return { bytes: (await lstat(toFile)).size };
  } finally {
    await rm(partial, { force: true });
  }
}

const readRing = (path: string | null) => (path === null ? null : readFile(path, "utf8").catch(() => null));

/**
 * The keys of the ring before and after the data was copied. A key may be added or retired in between, and the copy may hold
 * values that were sealed with either.
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
  // A replication slot keeps the write-ahead log of the coming minutes on disk. A temporary one vanishes with this connection.
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
  // The control file comes last of the data, as the protocol asks.
  yield textEntry(
    `${dataName}/global/pg_control`,
    await readSettled(path.join(data, "global", "pg_control")),
  );

  const ended = await client.query(
    "select labelfile, pg_walfile_name(lsn) as segment from pg_backup_stop(wait_for_archive => false)",
  );
  const keys = joinRings(ringBefore, await readRing(keyRing));
  if (keys !== null) yield textEntry(keyRingFileName, keys);
  else if (keyRing === null) log("the key ring is not in the archive; keep it safe yourself");
  else log(`no key ring at ${keyRing}; keep SECRET_KEYS safe yourself`);
  const { labelfile, segment: lastSegment } = ended.rows[0] as { labelfile: string; segment: string };
  yield textEntry(`${dataName}/backup_label`, labelfile);
  log("data copied; adding the write-ahead log");
  const segments = (await readdir(path.join(data, "pg_wal")))
    .filter((name) => /^[0-9A-F]{24}$/.test(name) && name >= firstSegment && name <= lastSegment)
    .sort();
  if (segments[0] !== firstSegment || segments.at(-1) !== lastSegment) {
    throw new BackupError("the write-ahead log of the time of the backup is not complete; try again");
  }
  for (const name of segments) {
    const entry = await fileEntry(path.join(data, "pg_wal", name), `${dataName}/pg_wal/${name}`);
    if (entry === null) throw new BackupError("the write-ahead log changed while it was copied; try again");
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
      // No file: its table was dropped meanwhile, which the write-ahead log says too.
      if (entry !== null) yield entry;
    } else {
      throw new BackupError(
        `${relative} is a link; a database with tablespaces elsewhere cannot be backed up this way`,
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
      const buffer = Buffer.alloc(256 * 1024);
      for (let at = 0; at < size; ) {
        const { bytesRead } = await handle.read(buffer, 0, Math.min(buffer.length, size - at), at);
        if (bytesRead === 0) break;
        at += bytesRead;
        yield Buffer.from(buffer.subarray(0, bytesRead));
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

/** The server rewrites the control file in place. Two equal readings in a row did not see it half written. */
async function readSettled(file: string): Promise<Buffer> {
  let before = await readFile(file);
  for (let attempt = 0; attempt < 100; attempt++) {
    const now = await readFile(file);
    if (now.equals(before)) return now;
    before = now;
  }
  throw new BackupError(`${file} changes all the time; try again`);
}

/**
 * Makes DATA_DIR from an archive. It is written beside its place and renamed at the end, so that DATA_DIR is either as before or
 * complete. The next start replays the write-ahead log and serves what was committed when the backup ended.
 */
export async function restoreEmbedded(options: {
  fromFile: string;
  dataDir: string;
  /** For an archive that is encrypted. */
  key?: ArchiveKey | null;
  log?: Progress;
}): Promise<void> {
  const log = options.log ?? (() => {});
  const dataDir = path.resolve(options.dataDir);
  const present = await readdir(dataDir).catch(ignoring("ENOENT"));
  if (present !== undefined && present.length > 0) {
    throw new BackupError(
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
    if (!written.label) throw new BackupError(`${options.fromFile} holds no complete database.`);
    if (!written.keyRing) log("the archive holds no key ring; set SECRET_KEYS to the keys of that time");
    await rename(partial, dataDir);
    await syncToDisk(path.dirname(dataDir));
    log(`restored into ${dataDir}`);
  } catch (error) {
    if (error instanceof TarError || isZlibError(error)) {
      throw new BackupError(
        `${options.fromFile} is damaged or no backup of Assay: ${(error as Error).message}.`,
      );
    }
    throw error;
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

/** The archive in clear. What cannot be decrypted is refused with the reason. */
async function openArchive(file: string, key: ArchiveKey | null): Promise<Readable> {
  if (!(await isEncrypted(file))) return createReadStream(file);
  if (key === null)
    throw new BackupError(`${file} is encrypted: name the key with --identity, or --passphrase-file.`);
  let opened: Readable;
  try {
    opened = await createDecrypter(key)(createReadStream(file));
  } catch (error) {
    throw new BackupError(`${file} cannot be decrypted: ${(error as Error).message}.`);
  }
  return Readable.from(
    (async function* () {
      try {
        yield* opened;
      } catch (error) {
        throw new BackupError(`${file} is damaged: ${(error as Error).message}.`);
      }
    })(),
  );
}

async function isEncrypted(file: string): Promise<boolean> {
  const handle = await open(file, "r").catch((error: Error) => {
    throw new BackupError(`${file} cannot be read: ${error.message}.`);
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
      if (!inside) throw new TarError(`the folder ${entry.name} does not belong here`);
      await mkdir(place, { mode: 0o700 });
      made.push(place);
      continue;
    }
    if (entry.name === keyRingFileName) written.keyRing = true;
    else if (!entry.name.startsWith(`${dataName}/`))
      throw new TarError(`the file ${entry.name} does not belong here`);
    if (entry.name === `${dataName}/backup_label`) written.label = true;
    // "wx" never follows or overwrites what an earlier entry made.
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

/** Runs once, at the end, for many files at a time: one after the other would wait for the disk a thousand times. */
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
    throw new TarError("its description cannot be read");
  }
  if (manifest.format !== format) throw new TarError("it does not begin like a backup");
  if (manifest.version !== formatVersion) {
    throw new BackupError(
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
