import { createHash } from "node:crypto";
import { idempotencyLimits } from "@assay/contract/facts";
import type { RouteDefinition } from "@assay/contract/route";
import type { Db, Tx } from "../db/db.ts";
import { sql } from "../db/sql.ts";
import { type Clock, hourMs, later } from "../lib/clock.ts";
import type { KeyRing } from "../lib/key-ring.ts";
import { ApiError } from "./api-error.ts";
import type { Caller, OrganizationCaller } from "./caller.ts";
import type { RenderedAnswer } from "./rendered-answer.ts";

const keptMs = idempotencyLimits.keptHours * hourMs;
const keyPattern = new RegExp(`^[\\x21-\\x7e]{1,${idempotencyLimits.keyCharacters}}$`);

type KeyedRequest = {
  key: string | string[];
  definition: RouteDefinition;
  caller: Caller | OrganizationCaller | null;
  path: string;
  body: unknown;
};

/**
 * `Idempotency-Key`: the key, what the request writes and the answer are one transaction. A second request with the
 * key waits for the first, then gets its answer; a process that dies in between leaves nothing behind, and the
 * repetition starts anew. Failed requests write nothing, so they are not remembered.
 */
export class Idempotency {
  readonly #db: Db;
  readonly #ring: KeyRing;
  readonly #clock: Clock;

  constructor(db: Db, ring: KeyRing, clock: Clock) {
    this.#db = db;
    this.#ring = ring;
    this.#clock = clock;
  }

  async once(
    request: KeyedRequest,
    answer: () => Promise<RenderedAnswer>,
  ): Promise<RenderedAnswer & { replayed: boolean }> {
    const { key } = request;
    if (typeof key !== "string" || !keyPattern.test(key)) {
      throw new ApiError("BAD_REQUEST", {
        message: "`Idempotency-Key` must be 1 to 255 visible ASCII characters.",
      });
    }
    const id = createHash("sha256")
      .update(JSON.stringify([ownerOf(request.caller), request.definition.id, key]))
      .digest();
    // The body may hold secrets: only a keyed hash of it is kept.
    const fingerprint = JSON.stringify([request.path, request.body ?? null]);
    return this.#db.joinedTransaction(async (tx) => {
      const earlier = await this.#claim(tx, id, this.#ring.hash("request-hash", fingerprint));
      if (earlier !== null) {
        const same = this.#ring
          .hashes("request-hash", fingerprint)
          .some((hash) => hash.equals(earlier.request_hash));
        if (!same) throw new ApiError("IDEMPOTENCY_KEY_REUSED");
        const text =
          earlier.answer && this.#ring.openText("idempotent-answer", earlier.answer, id.toString("hex"));
        return { status: earlier.status, text, replayed: true };
      }
      const fresh = await answer();
      const sealed =
        fresh.text === null ? null : this.#ring.seal("idempotent-answer", fresh.text, id.toString("hex"));
      await tx.run(
        sql`update idempotent_answers set status = ${fresh.status}, answer = ${sealed} where id = ${id}`,
      );
      return { ...fresh, replayed: false };
    });
  }

  /** Takes the key, waiting for another request that holds it. Returns what was answered if it was used before. */
  async #claim(tx: Tx, id: Buffer, requestHash: Buffer) {
    const now = this.#clock.now();
    await tx.run(sql`delete from idempotent_answers where id = ${id} and expires_at <= ${now}`);
    const claimed = await tx.run(sql`
      insert into idempotent_answers (id, request_hash, status, expires_at)
      values (${id}, ${requestHash}, 0, ${later(now, keptMs)})
      on conflict (id) do nothing`);
    if (claimed === 1) return null;
    return tx.one<{ request_hash: Buffer; status: number; answer: Buffer | null }>(
      sql`select request_hash, status, answer from idempotent_answers where id = ${id}`,
    );
  }

  /** Removes a batch of answers that are past their day; returns how many. */
  async purge(limit: number): Promise<number> {
    return this.#db.run(sql`
      delete from idempotent_answers where id in (
        select id from idempotent_answers where expires_at <= ${this.#clock.now()} limit ${limit} for update skip locked)`);
  }
}

function ownerOf(caller: Caller | OrganizationCaller | null): string {
  if (caller === null) return "public";
  return "organizationId" in caller ? `organization ${caller.organizationId}` : `user ${caller.userId}`;
}
