/**
 * What outlives a reload. Tokens live as long as the tab (sessionStorage). The device's own name is kept longer, because a
 * phone may end the tab while the person takes out the passport. A browser that refuses storage still gets through, without
 * reloads.
 */
type Area = "session" | "device";

const memory = new Map<string, string>();

function storageOf(area: Area): Storage | null {
  try {
    return area === "session" ? window.sessionStorage : window.localStorage;
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

const rememberedDevices = 8;

/** The reading of this tab: how the device came to it, and the token of its socket. */
export type KeptReading = {
  /** From the scanned code; null when this page reads by itself. */
  handoffToken: string | null;
  socketToken: string | null;
};

export class Kept {
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

  /** Random for every session, so that it links nothing. */
  deviceId(): string {
    let known: [string, string][] = [];
    try {
      known = JSON.parse(read("device", "assay:devices") ?? "[]") as [string, string][];
    } catch {
      // The stored text is not ours; it is replaced below.
    }
    const found = known.find(([session]) => session === this.#sessionId);
    if (found !== undefined) return found[1];
    const bytes = crypto.getRandomValues(new Uint8Array(24));
    const made = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    write(
      "device",
      "assay:devices",
      JSON.stringify([[this.#sessionId, made], ...known].slice(0, rememberedDevices)),
    );
    return made;
  }
}
