import type { FoldedEmail } from "@assay/contract/email";
import type { UserId, UserSessionId } from "@assay/contract/ids";
import type { Core } from "../../platform/core.ts";
import type { Tx } from "../../platform/db/db.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import { dayMs, later } from "../../platform/kernel/clock.ts";
import { addressBlock } from "../../platform/lib/address-block.ts";
import {
  isFamiliarAddress,
  lockLimits,
  refundLimit,
  rememberAddress,
  removeLimit,
  writeLimit,
} from "./guess-limit.store.ts";
import { familiarForMs, forgottenAt, type LimitRule, rules, tryOnce } from "./guess-limit.ts";

type Needs = Pick<Core, "db" | "clock" | "ring">;
type Bucket = { key: Buffer; rule: LimitRule; onSuccess: "empty" | "refund" };

/** The origin of a try: a network address or, for a signed-in caller, the sign-in session. */
type Origin = { address: string } | { userSessionId: UserSessionId };

/** The subject of a limit: an account, or the address that a caller claims to have. */
type Subject = FoldedEmail | UserId;

/** A counted try. `succeeded` refunds it: correct answers are not limited. */
type CountedTry = { succeeded(): Promise<void> };

/**
 * Counts a guess at the `what` of an account, or refuses it. Call it before checking the guess. Works the
 * same for accounts that do not exist.
 */
export async function countGuess(
  core: Needs,
  what: "password" | "code",
  account: Subject,
  origin: Origin,
): Promise<CountedTry> {
  const place = placeOf(origin);
  const buckets: Bucket[] = [
    {
      key: keyOf(core, [what, "account and origin", account, place]),
      rule: rules.accountAndOrigin,
      onSuccess: "empty",
    },
  ];
  // A familiar origin is limited only by its own wrong guesses, not by those of its neighbours or network.
  if ("address" in origin && !(await isFamiliar(core, account, origin))) {
    buckets.push(
      { key: keyOf(core, [what, "address", place]), rule: rules.address, onSuccess: "refund" },
      { key: keyOf(core, [what, "account", account]), rule: rules.account, onSuccess: "refund" },
    );
  }
  return take(core, buckets);
}

/**
 * Counts the use of a mailed link. Its token cannot be guessed; the limit bounds the work of endless
 * attempts.
 */
export function countLink(core: Needs, address: string): Promise<CountedTry> {
  const key = keyOf(core, ["link", "address", addressBlock(address)]);
  return take(core, [{ key, rule: rules.address, onSuccess: "refund" }]);
}

/** Counts an expensive request without sign-in. */
export async function countWork(core: Needs, what: "sign-up" | "challenge", address: string): Promise<void> {
  await take(core, [
    { key: keyOf(core, [what, "address", addressBlock(address)]), rule: rules.work, onSuccess: "refund" },
  ]);
}

/**
 * Counts a request for a mail. Throws `RATE_LIMITED` if this origin asks too often. Returns false if the
 * account's quota is used up. The caller must not reveal that, because it depends on requests of others.
 */
export async function countMail(core: Needs, account: Subject, origin: Origin): Promise<boolean> {
  const place = placeOf(origin);
  const buckets: Bucket[] = [
    {
      key: keyOf(core, ["mail", "account and origin", account, place]),
      rule: rules.mailFromOrigin,
      onSuccess: "refund",
    },
  ];
  if ("address" in origin)
    buckets.push({ key: keyOf(core, ["mail", "address", place]), rule: rules.address, onSuccess: "refund" });
  await take(core, buckets);
  try {
    const key = keyOf(core, ["mail", "account", account]);
    await take(core, [{ key, rule: rules.mailToAccount, onSuccess: "refund" }]);
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.code === "RATE_LIMITED") return false;
    throw error;
  }
}

/** Makes this origin familiar: the account was signed in to from here. */
export async function rememberOrigin(
  core: Needs,
  user: { id: UserId; emailFolded: FoldedEmail | null },
  address: string,
): Promise<void> {
  const until = later(core.clock.now(), familiarForMs);
  for (const account of user.emailFolded === null ? [user.id] : [user.emailFolded, user.id])
    await rememberAddress(core.db, familiarKey(core, account, { address }), until);
}

/**
 * Counts an event with daily limits (UTC), in the transaction of the event. Returns the exhausted limit, or
 * null if it was counted for all of them.
 */
export async function countOfDay(
  core: Pick<Core, "clock" | "ring">,
  tx: Tx,
  counts: readonly { what: readonly string[]; limit: number }[],
): Promise<number | null> {
  const now = core.clock.now();
  const day = now.toISOString().slice(0, 10);
  const tomorrow = later(new Date(`${day}T00:00:00.000Z`), dayMs);
  const keys = counts.map(({ what }) => keyOf(core, ["of day", day, ...what]));
  const rows = await lockLimits(tx, keys, now);
  const levels = keys.map((key) => rows.find((row) => row.key.equals(key))?.level ?? 0);
  const refusal = counts.findIndex(({ limit }, i) => (levels[i] ?? 0) >= limit);
  if (refusal !== -1) return refusal;
  for (const [i, key] of keys.entries())
    await writeLimit(tx, key, { level: (levels[i] ?? 0) + 1, updatedAt: now, blockedUntil: null }, tomorrow);
  return null;
}

async function take({ db, clock }: Needs, buckets: readonly Bucket[]): Promise<CountedTry> {
  const now = clock.now();
  const taken = await db.transaction(async (tx) => {
    const rows = await lockLimits(
      tx,
      buckets.map((bucket) => bucket.key),
      now,
    );
    const verdicts = buckets.map((bucket) => {
      const state = rows.find((row) => row.key.equals(bucket.key)) ?? null;
      return { bucket, verdict: tryOnce(state, bucket.rule, now) };
    });
    const waits = verdicts.map(({ verdict }) => (verdict.allowed ? 0 : verdict.retryAfterMs));
    const retryAfterMs = Math.max(...waits);
    // A refused try is not counted, so a retry does not extend the wait.
    if (retryAfterMs > 0) return { retryAfterMs };
    const counted: { bucket: Bucket; blockedUntil: Date | null }[] = [];
    for (const { bucket, verdict } of verdicts) {
      if (!verdict.allowed) continue;
      await writeLimit(tx, bucket.key, verdict.next, forgottenAt(verdict.next, bucket.rule));
      counted.push({ bucket, blockedUntil: verdict.next.blockedUntil });
    }
    return { counted };
  });
  if ("retryAfterMs" in taken) {
    const seconds = Math.ceil(taken.retryAfterMs / 1000);
    throw new ApiError("RATE_LIMITED", {
      hint: `Wait ${seconds} seconds, then try again.`,
      headers: { "retry-after": String(seconds) },
    });
  }
  return {
    succeeded: async () => {
      for (const { bucket, blockedUntil } of taken.counted) {
        if (bucket.onSuccess === "empty") await removeLimit(db, bucket.key);
        else await refundLimit(db, bucket.key, blockedUntil);
      }
    },
  };
}

function placeOf(origin: Origin): string {
  return "address" in origin ? addressBlock(origin.address) : `session ${origin.userSessionId}`;
}

function isFamiliar(core: Needs, account: Subject, origin: { address: string }): Promise<boolean> {
  return isFamiliarAddress(core.db, familiarKey(core, account, origin), core.clock.now());
}

function familiarKey(core: Needs, account: Subject, origin: { address: string }): Buffer {
  return keyOf(core, ["familiar", account, placeOf(origin)]);
}

/**
 * A keyed hash (HMAC), so that the table alone does not reveal which account was tried from which address.
 */
function keyOf({ ring }: Pick<Core, "ring">, parts: readonly string[]): Buffer {
  return ring.hash("guess-limit", JSON.stringify(parts));
}
