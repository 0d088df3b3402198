import type { OrganizationId } from "@assay/contract/ids";
import { verifySocketLimits } from "@assay/contract/verify-protocol";

/** What an attempt holds bytes for. */
export type BytePart = "chip" | "face";

/** Which limit a reservation met first. */
type ByteLimit = "process" | "sandbox" | "organization";

type ByteLimits = {
  /** All attempts of this process together. */
  readonly process: number;
  /** All attempts of the sandbox. Accounts are free, so the sandbox must leave memory to live sessions. */
  readonly sandbox: number;
  /** The attempts of one organization, live and sandbox counted separately. */
  readonly organization: { readonly live: number; readonly sandbox: number };
};

/** The most that one attempt can hold. No limit is smaller, because then no attempt could succeed. */
const maxOfOneAttempt = verifySocketLimits.chipBytes + verifySocketLimits.faceBytes;

export function byteLimits(options: {
  processBytes: number;
  sandboxPercent: number;
  organizationPercent: number;
}): ByteLimits {
  const atLeastOne = (bytes: number) => Math.max(Math.floor(bytes), maxOfOneAttempt);
  const process = atLeastOne(options.processBytes);
  const sandbox = atLeastOne((process * options.sandboxPercent) / 100);
  const shareOf = (bytes: number) => atLeastOne((bytes * options.organizationPercent) / 100);
  return { process, sandbox, organization: { live: shareOf(process), sandbox: shareOf(sandbox) } };
}

/** Counts the bytes that attempts of this process may hold, reserved before the first one is accepted. */
export class ByteBudget {
  readonly #limits: ByteLimits;
  readonly #onRefused: (limit: ByteLimit) => void;
  readonly #reserved = { live: 0, sandbox: 0 };
  /** By organization and environment. An entry of 0 is removed. */
  readonly #byOwner = new Map<string, number>();

  constructor(limits: ByteLimits, onRefused: (limit: ByteLimit) => void = () => {}) {
    this.#limits = limits;
    this.#onRefused = onRefused;
  }

  get reserved(): number {
    return this.#reserved.live + this.#reserved.sandbox;
  }

  get reservedBySandbox(): number {
    return this.#reserved.sandbox;
  }

  /** How many organizations hold anything; for tests of the release. */
  get owners(): number {
    return this.#byOwner.size;
  }

  /** An empty reservation for one attempt. */
  open(owner: { organizationId: OrganizationId; sandbox: boolean }): ByteReservation {
    const pool = owner.sandbox ? "sandbox" : "live";
    const key = `${owner.organizationId} ${pool}`;
    return new ByteReservation((by) => {
      const ofOwner = this.#byOwner.get(key) ?? 0;
      const limit = this.#limitMet(pool, ofOwner, by);
      if (limit !== null) {
        this.#onRefused(limit);
        return false;
      }
      this.#reserved[pool] += by;
      if (ofOwner + by === 0) this.#byOwner.delete(key);
      else this.#byOwner.set(key, ofOwner + by);
      return true;
    });
  }

  #limitMet(pool: "live" | "sandbox", ofOwner: number, by: number): ByteLimit | null {
    if (this.reserved + by > this.#limits.process) return "process";
    if (pool === "sandbox" && this.#reserved.sandbox + by > this.#limits.sandbox) return "sandbox";
    return ofOwner + by > this.#limits.organization[pool] ? "organization" : null;
  }
}

/** The reservations of one attempt, by purpose. */
export class ByteReservation {
  readonly #change: (by: number) => boolean;
  readonly #parts: Record<BytePart, number> = { chip: 0, face: 0 };

  constructor(change: (by: number) => boolean) {
    this.#change = change;
  }

  /** Returns false and changes nothing if the budget is exceeded. Shrinking always succeeds. */
  resize(part: BytePart, bytes: number): boolean {
    if (!this.#change(bytes - this.#parts[part])) return false;
    this.#parts[part] = bytes;
    return true;
  }

  release(): void {
    this.resize("chip", 0);
    this.resize("face", 0);
  }
}
