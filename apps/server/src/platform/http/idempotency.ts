import { createHash } from "node:crypto";
import { idempotencyLimits } from "@assay/contract/facts";
import type { RouteDefinition } from "@assay/contract/route";
import type { Db } from "../db/db.ts";
import { ApiError } from "../kernel/api-error.ts";
import { type Clock, hourMs, later } from "../kernel/clock.ts";
import type { KeyRing } from "../lib/key-ring.ts";
import type { AdmittedCaller } from "./access.ts";
import { claimKey, type EarlierAnswer, findAnswer, rememberAnswer } from "./idempotency.store.ts";

/** A rendered answer: the status and the body as text, null without a body. */
export type RenderedAnswer = { status: number; text: string | null };

/** The same, with whether it is a replay and until when it is stored. */
type RememberedAnswer = RenderedAnswer & { replayed: boolean; expiresAt: Date };

const keptMs = idempotencyLimits.keptHours * hourMs;
const keyPattern = new RegExp(`^[\\x21-\\x7e]{1,${idempotencyLimits.keyCharacters}}$`);

type KeyedRequest = {
  key: string | string[];
  definition: RouteDefinition;
  caller: AdmittedCaller | null;
  path: string;
  body: unknown;
};

/**
 * `Idempotency-Key`: the key, the writes of the request and the answer are one transaction. A second request
 * with the key waits for the first, then gets its answer. If the process dies in between, nothing is stored
 * and the retry starts over. Failed requests write nothing, so they are not stored.
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

  /**
   * `prepare` runs before the transaction, which holds a connection, and not for a stored answer. Two
   * concurrent requests may both prepare, but only one is executed.
   */
  async once<P>(
    request: KeyedRequest,
    steps: { prepare: (() => Promise<P>) | null; answer: (prepared: P | null) => Promise<RenderedAnswer> },
  ): Promise<RememberedAnswer> {
    const { key } = request;
    if (typeof key !== "string" || !keyPattern.test(key)) {
      throw new ApiError("BAD_REQUEST", {
        message: "`Idempotency-Key` must be 1 to 255 visible ASCII characters.",
      });
    }
    const id = createHash("sha256")
      .update(JSON.stringify([ownerOf(request.caller), request.definition.id, key]))
      .digest();
    const fingerprint = JSON.stringify([request.path, request.body ?? null]);
    const known = steps.prepare === null ? null : await findAnswer(this.#db, id, this.#clock.now());
    if (known !== null) return this.#replay(known, id, fingerprint);
    const prepared = steps.prepare === null ? null : await steps.prepare();
    // The body may hold secrets: only its hash is stored, sealed, so that it is resealed together with the
    // answer.
    const context = id.toString("hex");
    const digest = digestOf(fingerprint);
    return this.#db.joinedTransaction(async (tx) => {
      const now = this.#clock.now();
      const expiresAt = later(now, keptMs);
      const requestDigest = this.#ring.seal("request-hash", digest, context);
      const earlier = await claimKey(tx, id, { requestDigest, now, expiresAt });
      if (earlier !== null) return this.#replay(earlier, id, fingerprint);
      const fresh = await steps.answer(prepared);
      const sealed = fresh.text === null ? null : this.#ring.seal("idempotent-answer", fresh.text, context);
      await rememberAnswer(tx, id, fresh.status, sealed);
      return { ...fresh, replayed: false, expiresAt };
    });
  }

  #replay(earlier: EarlierAnswer, id: Buffer, fingerprint: string): RememberedAnswer {
    const context = id.toString("hex");
    const same =
      earlier.requestDigest === null
        ? // Stored before digests were sealed.
          this.#ring.hashes("request-hash", fingerprint).all.some((hash) => earlier.requestHash?.equals(hash))
        : this.#ring.open("request-hash", earlier.requestDigest, context).equals(digestOf(fingerprint));
    if (!same) throw new ApiError("IDEMPOTENCY_KEY_REUSED");
    const text = earlier.answer && this.#ring.openText("idempotent-answer", earlier.answer, context);
    return { status: earlier.status, text, replayed: true, expiresAt: earlier.expiresAt };
  }
}

function digestOf(fingerprint: string): Buffer {
  return createHash("sha256").update(fingerprint).digest();
}

/** The scope of a key: one environment must not receive an answer of the other. */
function ownerOf(caller: AdmittedCaller | null): string {
  if (caller === null) return "public";
  if (!("organizationId" in caller)) return `user ${caller.userId}`;
  return "environment" in caller
    ? `organization ${caller.organizationId} ${caller.environment}`
    : `organization ${caller.organizationId}`;
}
