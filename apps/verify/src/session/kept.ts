import { sessionLifetimeMinutes } from "@assay/contract/facts";
import { shellTransport } from "../device/chip-transport.ts";
import { isOffer, type Offer } from "./offers.ts";

/**
 * State that survives a reload. Tokens live as long as the tab (sessionStorage). The device id lives longer,
 * because a phone may end the tab while the person takes out the passport. Without storage the page works,
 * but not across reloads. At the end of the session everything no longer needed is deleted, because others
 * may use this computer.
 */
type Area = "session" | "device";

const memory = new Map<string, string>();

/**
 * A phone may end the app around this page at any time,
 * and sessionStorage with it; a shell can store it longer.
 */
function storageOf(area: Area): Pick<Storage, "getItem" | "setItem" | "removeItem"> | null {
  try {
    if (area === "device") return window.localStorage;
    return shellTransport()?.storage ?? window.sessionStorage;
  } catch {
    return null;
  }
}

function read(area: Area, key: string): string | null {
  try {
    return storageOf(area)?.getItem(key) ?? memory.get(key) ?? null;
  } catch {
    return memory.get(key) ?? null;
  }
}

function write(area: Area, key: string, value: string | null): void {
  if (value === null) memory.delete(key);
  else memory.set(key, value);
  try {
    if (value === null) storageOf(area)?.removeItem(key);
    else storageOf(area)?.setItem(key, value);
  } catch {
    // Kept in memory only.
  }
}

/** Takes it out of the storage; this page, until it is loaded again, still knows it. */
function unstore(area: Area, key: string): void {
  try {
    storageOf(area)?.removeItem(key);
  } catch {
    // It was never stored.
  }
}

/** Lists that all tabs of this browser share. */
const devicesKey = "assay:devices";
const returnCodesKey = "assay:return-codes";
const walletsKey = "assay:wallets";
const maxRemembered = 8;
const rememberedMs = sessionLifetimeMinutes * 60_000;

type Remembered = [session: string, value: string, sinceMs: number];

/** The reading of this tab: how the device came to it, and the token of its socket. */
export type KeptReading = {
  /** From the scanned code; null if this page reads itself. */
  handoffToken: string | null;
  socketToken: string | null;
};

export class Kept {
  /** The person agrees on this page, and the request is pending. The stream may report it first. */
  isAgreeing = false;
  readonly #prefix: string;
  readonly #sessionId: string;

  constructor(sessionId: string) {
    this.#sessionId = sessionId;
    this.#prefix = `assay:${sessionId}:`;
  }

  get cancelToken(): string | null {
    return read("session", `${this.#prefix}cancel`);
  }

  set cancelToken(value: string | null) {
    write("session", `${this.#prefix}cancel`, value);
  }

  get reading(): KeptReading | null {
    const text = read("session", `${this.#prefix}reading`);
    return text === null ? null : (JSON.parse(text) as KeptReading);
  }

  set reading(value: KeptReading | null) {
    write("session", `${this.#prefix}reading`, value === null ? null : JSON.stringify(value));
  }

  /** This page came by a scanned code: it is only the reading device, and the person continues elsewhere. */
  get onDevice(): boolean {
    return read("session", `${this.#prefix}device`) !== null;
  }

  set onDevice(value: boolean) {
    write("session", `${this.#prefix}device`, value ? "yes" : null);
  }

  /** On a phone: the person wants to read with another device, although this one can read. */
  get otherDevice(): boolean {
    return read("session", `${this.#prefix}other`) !== null;
  }

  set otherDevice(value: boolean) {
    write("session", `${this.#prefix}other`, value ? "yes" : null);
  }

  /** The person has confirmed on this device, which came by a code, that they began the verification. */
  get startedByPerson(): boolean {
    return read("session", `${this.#prefix}started`) !== null;
  }

  set startedByPerson(value: boolean) {
    write("session", `${this.#prefix}started`, value ? "yes" : null);
  }

  /** The person's choice, if there are several ways. */
  get offer(): Offer | null {
    const kept = read("session", `${this.#prefix}offer`);
    return isOffer(kept) ? kept : null;
  }

  set offer(value: Offer | null) {
    write("session", `${this.#prefix}offer`, value);
  }

  /** This browser has asked a wallet, which may return to another tab. */
  get askedWallet(): { offer: Offer; onDevice: boolean } | null {
    const [offer = null, onDevice] = valueIn(walletsKey, this.#sessionId)?.split(" ") ?? [];
    return isOffer(offer) ? { offer, onDevice: onDevice !== undefined } : null;
  }

  set askedWallet(value: { offer: Offer; onDevice: boolean } | null) {
    put(walletsKey, this.#sessionId, value && `${value.offer}${value.onDevice ? " device" : ""}`);
  }

  /** The code that this browser returns to the partner, if it was the first to open the session. */
  get returnCode(): string | null {
    return valueIn(returnCodesKey, this.#sessionId);
  }

  set returnCode(value: string | null) {
    put(returnCodesKey, this.#sessionId, value);
  }

  /**
   * Whether this device has claimed the session before:
   * only it may continue without the token of the consent.
   */
  hasTakenPart(): boolean {
    return valueIn(devicesKey, this.#sessionId) !== null;
  }

  /** Random for every session, so that it links nothing. */
  deviceId(): string {
    const known = valueIn(devicesKey, this.#sessionId);
    if (known !== null) return known;
    const bytes = crypto.getRandomValues(new Uint8Array(24));
    const made = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    put(devicesKey, this.#sessionId, made);
    return made;
  }

  /**
   * The session has ended. The token of the consent stays stored only if the person can still withdraw with
   * it. Otherwise it stays in this page's memory, for the receipt.
   */
  forget({ canWithdraw }: { canWithdraw: boolean }): void {
    this.reading = null;
    this.otherDevice = false;
    this.startedByPerson = false;
    this.offer = null;
    if (!canWithdraw) unstore("session", `${this.#prefix}cancel`);
    for (const key of [devicesKey, walletsKey]) put(key, this.#sessionId, null);
  }
}

/** Removes expired entries from the storage, whatever session the page shows. */
export function forgetOldSessions(): void {
  for (const key of [devicesKey, returnCodesKey, walletsKey])
    if (read("device", key) !== null) remember(key, remembered(key));
}

function valueIn(key: string, sessionId: string): string | null {
  return remembered(key).find(([session]) => session === sessionId)?.[1] ?? null;
}

function put(key: string, sessionId: string, value: string | null): void {
  const others = remembered(key).filter(([session]) => session !== sessionId);
  remember(key, value === null ? others : [[sessionId, value, Date.now()], ...others]);
}

function remember(key: string, entries: readonly Remembered[]): void {
  const kept = entries.slice(0, maxRemembered);
  write("device", key, kept.length === 0 ? null : JSON.stringify(kept));
}

function remembered(key: string): Remembered[] {
  let stored: unknown;
  try {
    stored = JSON.parse(read("device", key) ?? "[]");
  } catch {
    return [];
  }
  const now = Date.now();
  // A clock that was set back makes an entry of the future; it would never grow old.
  return (Array.isArray(stored) ? stored : []).filter(
    (entry): entry is Remembered =>
      Array.isArray(entry) && typeof entry[2] === "number" && Math.abs(now - entry[2]) < rememberedMs,
  );
}
