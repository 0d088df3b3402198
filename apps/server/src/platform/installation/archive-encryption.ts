import { Readable } from "node:stream";
import { Decrypter, Encrypter } from "age-encryption";

/** What encrypts an archive: age public keys, or a passphrase. */
export type ArchiveLock =
  | { kind: "recipients"; recipients: readonly string[] }
  /** `workFactor`: the cost of one guess, as a power of two. Only tests use less than age's default. */
  | { kind: "passphrase"; passphrase: string; workFactor?: number };

/** What opens an archive: age private keys, or the passphrase. */
export type ArchiveKey =
  | { kind: "identities"; identities: readonly string[] }
  | { kind: "passphrase"; passphrase: string };

/** The first bytes of every file in the age format. */
export const encryptedMark = "age-encryption.org/";

/** Throws if a key is invalid, before anything is read. */
export function createEncrypter(lock: ArchiveLock): (input: Readable) => Promise<Readable> {
  const encrypter = new Encrypter();
  if (lock.kind === "passphrase") {
    encrypter.setPassphrase(lock.passphrase);
    if (lock.workFactor !== undefined) encrypter.setScryptWorkFactor(lock.workFactor);
  } else for (const recipient of lock.recipients) encrypter.addRecipient(recipient);
  return async (input) => fromWeb(await encrypter.encrypt(toWeb(input)));
}

export function createDecrypter(key: ArchiveKey): (input: Readable) => Promise<Readable> {
  const decrypter = new Decrypter();
  if (key.kind === "passphrase") decrypter.addPassphrase(key.passphrase);
  else for (const identity of key.identities) decrypter.addIdentity(identity);
  return async (input) => fromWeb(await decrypter.decrypt(toWeb(input)));
}

// The streams of `node:stream/web` are those of the platform; only their declared types differ.
const toWeb = (input: Readable) => Readable.toWeb(input) as ReadableStream<Uint8Array>;
const fromWeb = (output: ReadableStream<Uint8Array>) =>
  Readable.fromWeb(output as Parameters<typeof Readable.fromWeb>[0]);
