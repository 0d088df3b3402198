import { setTimeout as wait } from "node:timers/promises";
import { runDevice } from "@assay/device/run-device";
import { virtualPassport } from "@assay/device/virtual-passport";
import { testDocument } from "@assay/emrtd/node/test-country/catalogue";
import type { Books } from "./books.ts";

/**
 * Clients that send and devices that verify at the same time. More: a small machine is overloaded. Fewer: a
 * fault may meet no request.
 */
const clients = 6;
const devices = 2;
const pauseMs = 60;
/** A client sends a request again for this long, with the same key, as long as it gets no answer or 5xx. */
export const patienceMs = 60_000;
const answerWithinMs = 20_000;

type Answer = { status: number; text: string };
type Random = () => number;

/** Repeatable for a seed (mulberry32). What the machine does at the same time is not. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The names under which clients know failures that are none of the service's answers. */
function causeOf(error: unknown): string {
  const { name, cause } = error as Error & { cause?: { code?: string } };
  return cause?.code ?? name;
}

/** A partner's mixed load, through one address. */
export class Load {
  readonly #books: Books;
  readonly #url: string;
  readonly #key: string;
  readonly #seed: number;
  /** Sessions that are not used yet. */
  readonly #open: string[] = [];
  #going = true;
  #number = 0;
  #running: Promise<unknown> = Promise.resolve();

  constructor(books: Books, url: string, key: string, seed: number) {
    this.#books = books;
    this.#url = url;
    this.#key = key;
    this.#seed = seed;
  }

  start(): void {
    const lanes = Array.from({ length: clients + devices }, async (_, lane) => {
      const random = seeded(this.#seed + lane);
      while (this.#going) {
        await (lane < clients ? this.#act(random) : this.#verify());
        await wait(pauseMs * (0.5 + random()));
      }
    });
    this.#running = Promise.all(lanes);
    this.#running.catch((error) => this.#books.wrong.push(`the load ended: ${error}`));
  }

  async stop(): Promise<void> {
    this.#going = false;
    await this.#running.catch(() => {});
    this.#books.acknowledged();
  }

  async #act(random: Random): Promise<void> {
    const choice = random();
    if (choice < 0.45 || this.#books.created.size === 0) await this.#create(random);
    else if (choice < 0.65) await this.#read(random);
    else if (choice < 0.75) await this.#list(random);
    else await this.#cancel(random);
  }

  async #create(random: Random): Promise<string | null> {
    const number = this.#number++;
    const reference = `order-${this.#seed}-${number}`;
    const body = JSON.stringify({ client_reference_id: reference, metadata: { number: String(number) } });
    const send = () => this.#write("POST", "/v1/sessions", 201, { body, key: `key-${reference}` });
    // Now and then two do the same at once, or one does it again later.
    const answers = await Promise.all(random() < 0.1 ? [send(), send()] : [send()]);
    if (random() < 0.1) answers.push(await send());
    const received = answers.filter((answer) => answer !== null);
    const [first, ...others] = received;
    if (first === undefined) {
      this.#books.givenUp.push(reference);
      return null;
    }
    this.#books.replays += others.length;
    if (others.some(({ text }) => text !== first.text))
      this.#books.wrong.push(`${reference} was answered in two ways`);
    const { id } = (JSON.parse(first.text) as { data: { id: string } }).data;
    this.#books.sessionMade(id, { reference, text: first.text });
    this.#open.push(id);
    return first.text;
  }

  async #read(random: Random): Promise<void> {
    const ids = [...this.#books.created.keys()];
    // The newest ones most: it is they that may be missing somewhere.
    const id = ids[Math.floor(ids.length * random() ** 0.1)] ?? "";
    const answer = await this.#send("GET", `/v1/sessions/${id}`, 200, {});
    if (answer !== null) this.#books.reads++;
  }

  async #list(random: Random): Promise<void> {
    const all = [...this.#books.created];
    const [id = "", { reference } = { reference: "" }] = all[Math.floor(all.length * random() ** 0.1)] ?? [];
    const answer = await this.#send("GET", `/v1/sessions?client_reference_id=${reference}`, 200, {});
    if (answer === null) return;
    this.#books.reads++;
    const found = (JSON.parse(answer.text) as { data: { id: string }[] }).data.map((session) => session.id);
    if (found.length !== 1 || found[0] !== id)
      this.#books.wrong.push(`the list of ${reference} has ${found.join(", ") || "nothing"}, not ${id}`);
  }

  async #cancel(random: Random): Promise<void> {
    const [id] = this.#open.splice(Math.floor(this.#open.length * random()), 1);
    if (id === undefined) return;
    const answer = await this.#write("POST", `/v1/sessions/${id}/cancel`, 204, { key: `cancel-${id}` });
    if (answer === null) this.#books.givenUpOthers++;
    else this.#books.cancelled.add(id);
  }

  /**
   * A person with a test passport, from the link to the outcome.
   * After an interruption the device tries again.
   */
  async #verify(): Promise<void> {
    const text = await this.#create(() => 1);
    if (text === null) return;
    const { id, verification_url: verificationUrl } = (
      JSON.parse(text) as { data: { id: string; verification_url: string } }
    ).data;
    this.#open.splice(this.#open.indexOf(id), 1);
    const document = passport();
    const deadline = performance.now() + patienceMs;
    const deviceId = crypto.randomUUID();
    while (performance.now() < deadline) {
      try {
        const outcome = await runDevice({
          verificationUrl,
          chip: virtualPassport(document),
          deviceId: () => deviceId,
          signal: AbortSignal.timeout(patienceMs),
        });
        if (outcome.kind === "succeeded") {
          this.#books.sessionVerified(id);
          return;
        }
        if (outcome.kind === "failed")
          this.#books.wrong.push(`the good passport of ${id} failed: ${outcome.failureCode}`);
        if (outcome.kind === "failed") return;
        this.#books.failed(`device ${outcome.kind} ${"code" in outcome ? outcome.code : ""}`.trim());
      } catch (error) {
        this.#books.failed(`device ${deviceCause(error)}`);
      }
      // It may have succeeded without a word of it getting through.
      const answer = await this.#send("GET", `/v1/sessions/${id}`, 200, {});
      const status = answer && (JSON.parse(answer.text) as { data: { status: string } }).data.status;
      if (status === "succeeded") return;
      await wait(500);
    }
    this.#books.givenUpOthers++;
  }

  async #write(
    method: string,
    path: string,
    expected: number,
    request: { body?: string; key: string },
  ): Promise<Answer | null> {
    const answer = await this.#send(method, path, expected, request);
    if (answer !== null) this.#books.acknowledged();
    return answer;
  }

  /** Retries until there is a final answer. Null if it stopped trying. */
  async #send(
    method: string,
    path: string,
    expected: number,
    { body, key }: { body?: string; key?: string },
  ): Promise<Answer | null> {
    const deadline = performance.now() + patienceMs;
    for (let pause = 50; performance.now() < deadline; pause = Math.min(pause * 2, 1000)) {
      try {
        const response = await fetch(`${this.#url}${path}`, {
          method,
          signal: AbortSignal.timeout(answerWithinMs),
          headers: {
            authorization: `Bearer ${this.#key}`,
            ...(body === undefined ? {} : { "content-type": "application/json" }),
            ...(key === undefined ? {} : { "idempotency-key": key }),
          },
          ...(body === undefined ? {} : { body }),
        });
        const text = await response.text();
        if (response.status === expected) return { status: response.status, text };
        const cause = `${response.status} ${codeIn(text)}`;
        this.#books.failed(cause);
        if (response.status < 500 && response.status !== 429) {
          this.#books.wrong.push(`${method} ${path} was answered with ${cause} (${this.#books.fault})`);
          return null;
        }
      } catch (error) {
        this.#books.failed(causeOf(error));
      }
      await wait(pause);
    }
    return null;
  }
}

function codeIn(text: string): string {
  try {
    return (JSON.parse(text) as { error: { code: string } }).error.code;
  } catch {
    return "without a code";
  }
}

/** Devices show sentences to people; the underlying cause says more here. */
function deviceCause(error: unknown): string {
  const { code, status } = error as { code?: string; status?: number };
  if (code !== undefined || status !== undefined) return [status, code].filter(Boolean).join(" ");
  return causeOf(error);
}

let made: ReturnType<typeof testDocument> = null;
function passport() {
  made ??= testDocument("passport-valid", new Date());
  if (made === null) throw new Error("the test country has no valid passport");
  return made;
}
