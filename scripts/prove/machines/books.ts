/** Minimum work during a fault, and until the next. Less proves nothing: unwritten data cannot be lost. */
export const least = { sessions: 5, verifications: 1 } as const;

type Fault = { name: string; longestMs: number; sessions: number; verifications: number };

/** Answers that clients and receivers got, and failures on the way, seen from outside. */
export class Books {
  /** Sessions that were acknowledged, by their id. */
  readonly created = new Map<string, { reference: string; text: string }>();
  /** References of sessions whose creation failed without an answer: each may exist or not. */
  readonly givenUp: string[] = [];
  readonly cancelled = new Set<string>();
  readonly verified = new Set<string>();
  /** Answers that no fault excuses. */
  readonly wrong: string[] = [];
  /** Writes that were repeated, or sent twice at once, and compared with the first answer. */
  replays = 0;
  reads = 0;
  givenUpOthers = 0;
  readonly #failures = new Map<string, Map<string, number>>();
  readonly #faults: Fault[] = [];
  #lastWriteAt = 0;

  /** From now on what fails is put down to this. */
  begin(fault: string): void {
    this.#faults.push({ name: fault, longestMs: 0, sessions: 0, verifications: 0 });
    if (this.#lastWriteAt === 0) this.#lastWriteAt = performance.now();
  }

  get fault(): string {
    return this.#faults.at(-1)?.name ?? "";
  }

  sessionMade(id: string, answer: { reference: string; text: string }): void {
    this.created.set(id, answer);
    const fault = this.#faults.at(-1);
    if (fault !== undefined) fault.sessions++;
  }

  sessionVerified(id: string): void {
    this.verified.add(id);
    const fault = this.#faults.at(-1);
    if (fault !== undefined) fault.verifications++;
    this.acknowledged();
  }

  /** Whether the current fault has not yet met the minimum work. */
  get hasDoneTooLittle(): boolean {
    const fault = this.#faults.at(-1);
    return (
      fault !== undefined && (fault.sessions < least.sessions || fault.verifications < least.verifications)
    );
  }

  /**
   * A write was acknowledged, or the load has ended.
   * The time since the previous one counts for the fault in which it ends.
   */
  acknowledged(): void {
    const now = performance.now();
    const fault = this.#faults.at(-1);
    if (fault !== undefined) fault.longestMs = Math.max(fault.longestMs, now - this.#lastWriteAt);
    this.#lastWriteAt = now;
  }

  failed(cause: string): void {
    const causes = this.#failures.get(this.fault) ?? new Map<string, number>();
    causes.set(cause, (causes.get(cause) ?? 0) + 1);
    this.#failures.set(this.fault, causes);
  }

  get failures(): number {
    return [...this.#failures.values()].flatMap((causes) => [...causes.values()]).reduce((a, b) => a + b, 0);
  }

  byFault(): (Omit<Fault, "name"> & { fault: string; causes: string })[] {
    return this.#faults.map(({ name, ...counted }) => ({
      fault: name,
      ...counted,
      causes:
        [...(this.#failures.get(name) ?? [])]
          .sort(([, a], [, b]) => b - a)
          .map(([cause, count]) => `${count} ${cause}`)
          .join(", ") || "none",
    }));
  }
}
