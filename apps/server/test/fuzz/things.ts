import type { Dice } from "../../../../scripts/fuzz/dice.ts";

const maxOfAKind = 24;
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const prefixed = /^(vs|va|evt|whd|wha|whe|whk)_[A-Za-z0-9]{32,64}$/;
/** Words for the same thing in requests and answers. */
const alsoCalled: Readonly<Record<string, string>> = {
  version: "terms_version",
  hash: "terms_hash",
};

/** What earlier answers contained: identifiers, tokens and texts for later requests. */
export class Things {
  /** Part of every chosen name, so that two lives never collide. */
  readonly word: string;
  readonly mailHost: string;
  /** Keys of the share contract of the latest session. */
  asked: readonly string[] = [];
  readonly #kinds = new Map<string, string[]>();
  #count = 0;

  constructor(word: string) {
    this.word = word;
    this.mailHost = `${word}.example`;
  }

  next(): number {
    return ++this.#count;
  }

  add(kind: string, value: string): void {
    const known = this.#kinds.get(kind) ?? [];
    if (known.includes(value)) return;
    known.push(value);
    if (known.length > maxOfAKind) known.shift();
    this.#kinds.set(kind, known);
  }

  /** The latest is the likeliest. Takes from the dice whether or not there is any. */
  pick(kind: string, dice: Dice): string | null {
    const roll = dice.next();
    const known = this.#kinds.get(kind) ?? [];
    const index = roll % 2 === 0 ? known.length - 1 : (roll >>> 1) % Math.max(1, known.length);
    return known[index] ?? null;
  }

  /** Every identifier, of whatever kind. */
  ids(): string[] {
    return [...this.#kinds.values()].flat().filter((value) => uuid.test(value) || prefixed.test(value));
  }

  domain(dice: Dice): string {
    return this.pick("apex_domain", dice) ?? this.mailHost;
  }

  /** Collects what an answer of the operations at `collection` contains. */
  collect(data: unknown, collection: string, name = ""): void {
    if (Array.isArray(data)) for (const entry of data) this.collect(entry, collection, name);
    else if (typeof data === "object" && data !== null) {
      for (const [key, value] of Object.entries(data)) {
        if (key === "share_fields" && typeof value === "object" && value !== null)
          this.asked = Object.keys(value);
        else this.collect(value, collection, key);
      }
    } else if (typeof data === "string" && data.length < 300) {
      const prefix = prefixed.exec(data)?.[1];
      if (prefix !== undefined) this.add(prefix, data);
      else if (name === "id" && uuid.test(data)) this.add(collection, data);
      else this.add(alsoCalled[name] ?? name, data);
    }
  }
}
