import { createHmac, createSecretKey, hkdfSync, type KeyObject, randomBytes } from "node:crypto";
import { decrypt, encrypt } from "./aes-gcm.ts";

/** The purpose of a derived key. A key of one purpose is never used for another. */
export type KeyPurpose =
  | "api-key-hash"
  | "token-hash"
  | "request-hash"
  | "idempotent-answer"
  | "mail"
  | "second-factor"
  | "guess-limit"
  | "wallet-response"
  | "webhook-secret"
  | "document-id"
  | "consent-receipt"
  | "deletion-receipt"
  | "wallet-identity";

export type RingKey = { id: string; secret: Buffer };
export type LoadedKey = { id: string; fingerprint: string };

const keyIdPattern = /^[a-z0-9]{1,16}$/;

/**
 * Parses `id:base64,id:base64`. The first key is the current one. Error messages never contain key material.
 */
export function parseRing(text: string): RingKey[] {
  const keys = text
    .split(/[\s,]+/)
    .filter((entry) => entry !== "")
    .map((entry, index) => {
      const at = entry.indexOf(":");
      const id = entry.slice(0, at);
      if (at < 1 || !keyIdPattern.test(id))
        throw new Error(`key ${index + 1} has no id: write it as id:base64, with an id of a-z and 0-9`);
      const secret = Buffer.from(entry.slice(at + 1), "base64");
      if (secret.length < 32) throw new Error(`key "${id}" is shorter than 32 bytes`);
      return { id, secret };
    });
  if (keys.length === 0) throw new Error("it contains no key");
  if (new Set(keys.map((key) => key.id)).size !== keys.length) throw new Error("two keys have the same id");
  return keys;
}

export function formatRing(keys: readonly RingKey[]): string {
  return keys.map((key) => `${key.id}:${key.secret.toString("base64")}`).join(",");
}

/** A new key with an id that no existing or former key has. */
export function newRingKey(existing: readonly { id: string }[]): RingKey {
  const numbers = existing.map((key) => Number(key.id)).filter(Number.isInteger);
  return { id: String(Math.max(0, ...numbers) + 1), secret: randomBytes(32) };
}

/**
 * What may be published about a key: it distinguishes two keys with the same id, but does not reveal the
 * secret.
 */
export function loadedKey({ id, secret }: RingKey): LoadedKey {
  return {
    id,
    fingerprint: Buffer.from(hkdfSync("sha256", secret, "assay", "fingerprint", 16)).toString("hex"),
  };
}

/**
 * The server's secrets. Data made with any key of the ring is readable. New data uses the first key until `sealWith`
 * names another one: where several processes share a database, `RingMember` tells which key all of them have.
 */
export class KeyRing {
  #keys: readonly RingKey[];
  #sealsWith: string | null = null;
  #derived = new Map<string, KeyObject>();
  readonly #reread: (() => readonly RingKey[]) | undefined;

  /** `reread` loads the ring again: a process that finds an unknown key id checks whether a key was added. */
  constructor(keys: readonly RingKey[], reread?: () => readonly RingKey[]) {
    this.#keys = keys;
    this.#reread = reread;
  }

  get currentId(): string {
    return this.#current.id;
  }

  get keys(): readonly RingKey[] {
    return this.#keys;
  }

  /** The keys in the source now; does not change the ring. */
  readAgain(): readonly RingKey[] {
    return this.#reread?.() ?? this.#keys;
  }

  replace(keys: readonly RingKey[]): void {
    this.#keys = keys;
    this.#derived.clear();
  }

  sealWith(id: string): void {
    if (!this.#keys.some((key) => key.id === id))
      throw new Error(`the key ring has no key "${id}" to seal with`);
    this.#sealsWith = id;
  }

  get #current(): RingKey {
    const key = this.#keys.find((candidate) => candidate.id === this.#sealsWith) ?? this.#keys[0];
    if (key === undefined) throw new Error("the key ring is empty");
    return key;
  }

  #derive(key: RingKey, purpose: KeyPurpose): KeyObject {
    const name = `${key.id}/${purpose}`;
    let derived = this.#derived.get(name);
    if (derived === undefined) {
      derived = createSecretKey(Buffer.from(hkdfSync("sha256", key.secret, "assay", purpose, 32)));
      this.#derived.set(name, derived);
    }
    return derived;
  }

  #find(id: string): RingKey | undefined {
    const known = this.#keys.find((key) => key.id === id);
    if (known !== undefined || this.#reread === undefined) return known;
    const added = this.#reread().find((key) => key.id === id);
    if (added !== undefined) this.#keys = [...this.#keys, added];
    return added;
  }

  /** The HMAC under the current key, for storing. */
  hash(purpose: KeyPurpose, text: string): Buffer {
    return this.keyedHash(purpose, text).hash;
  }

  /**
   * The same with the id of its key. Returned together, so that they match even if the current key changes.
   */
  keyedHash(purpose: KeyPurpose, text: string): { hash: Buffer; keyId: string } {
    const key = this.#current;
    return { hash: this.#hmac(key, purpose, text), keyId: key.id };
  }

  /** The HMACs under every key of the ring, to look up data from before a rotation, and the current one. */
  hashes(purpose: KeyPurpose, text: string): { all: Buffer[]; current: { hash: Buffer; keyId: string } } {
    const hashed = this.#keys.map((key) => ({ keyId: key.id, hash: this.#hmac(key, purpose, text) }));
    const { id } = this.#current;
    const current = hashed.find(({ keyId }) => keyId === id);
    if (current === undefined) throw new Error("the key ring is empty");
    return { all: hashed.map(({ hash }) => hash), current };
  }

  #hmac(key: RingKey, purpose: KeyPurpose, text: string): Buffer {
    return createHmac("sha256", this.#derive(key, purpose)).update(text).digest();
  }

  /**
   * Encrypts with AES-256-GCM. `context` (such as a row's id) is authenticated: the result opens only with
   * the same context.
   */
  seal(purpose: KeyPurpose, plaintext: string | Uint8Array, context: string): Buffer {
    const key = this.#current;
    const id = Buffer.from(key.id);
    const body = encrypt(this.#derive(key, purpose), plaintext, context);
    return Buffer.concat([Buffer.from([id.length]), id, body]);
  }

  open(purpose: KeyPurpose, sealed: Buffer, context: string): Buffer {
    const idEnd = 1 + (sealed[0] ?? 0);
    const id = sealed.toString("latin1", 1, idEnd);
    const key = this.#find(id);
    if (key === undefined)
      throw new Error(`the key ring has no key "${id}"; restore it to read the data that it sealed`);
    return decrypt(this.#derive(key, purpose), sealed.subarray(idEnd), context);
  }

  openText(purpose: KeyPurpose, sealed: Buffer, context: string): string {
    return this.open(purpose, sealed, context).toString("utf8");
  }
}
