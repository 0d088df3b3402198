import { createHash } from "node:crypto";
import type { Environment } from "@assay/contract/facts";
import { CredentialError } from "@assay/credential/credential-error";
import { readStatusList } from "@assay/credential/status-list/read-status-list";
import { type StatusList, statusAt } from "@assay/credential/status-list/status-list";
import { testStatusList, testStatusUri } from "@assay/credential/test-country/test-status";
import type { Purpose } from "@assay/credential/trust-anchor";
import type { StatusReference } from "@assay/credential/verdict";
import type { Core } from "../../platform/core.ts";
import { later, minuteMs, secondMs } from "../../platform/kernel/clock.ts";
import { type SafeFetch, SafeFetchError } from "../../platform/lib/safe-fetch.ts";
import { statusAnchors } from "../trust/wallet-anchors.ts";
import { findStatusList, type StatusListRow, saveStatusList } from "./status-list.store.ts";

/**
 * The published status of a credential. `stale`: valid by an outdated copy, and no newer one was available.
 * `no_list`: no copy that an authority of the purpose signed.
 */
type StatusOutcome = "valid" | "revoked" | "suspended" | "stale" | "no_list";

type Context = { purpose: Purpose; environment: Environment; now: Date };
type Around = Pick<Core, "config" | "db" | "log" | "safeFetch" | "publicUrl">;

/** A person waits meanwhile. Too small: slow issuers are never reached. Too large: people give up. */
const fetchLimits = { timeoutMs: 5 * secondMs, maxBodyBytes: 8 * 1024 * 1024 };
/** After a failure, others do not wait for the same address. */
const retryAfterMs = minuteMs;
const maxFailures = 1000;

/** Looks up one entry of a list that is fetched whole, so that the issuer does not see which one. */
export async function checkStatus(
  around: Around,
  { uri, index }: StatusReference,
  context: Context,
): Promise<StatusOutcome> {
  const { purpose, environment, now } = context;
  const ofTestCountry = environment === "sandbox" ? testStatusList(around.publicUrl(), uri, now) : null;
  // The service does not fetch its own lists over HTTP.
  if (ofTestCountry !== null)
    return uri === testStatusUri(around.publicUrl(), purpose) ? outcomeOf(ofTestCountry, index) : "no_list";
  const key = createHash("sha256").update(`${environment}\n${purpose}\n${uri}`).digest();
  const known = await findStatusList(around.db, key);
  const fresh =
    known !== null && isFresh(around, known, now) ? known : await fetchOnce(around, key, uri, known, context);
  const list = fresh === null ? null : await readOrNull(around, fresh, context);
  if (list !== null) return outcomeOf(list, index);
  if (known === null) return "no_list";
  // An expired copy was valid when it was fetched.
  const former = await readOrNull(around, known, { ...context, now: known.fetchedAt });
  if (former === null) return "no_list";
  const outcome = outcomeOf(former, index);
  return outcome === "valid" ? "stale" : outcome;
}

/** A value that the specification does not name says at least that the credential is not valid. */
function outcomeOf(list: StatusList, index: number): "valid" | "revoked" | "suspended" {
  const status = statusAt(list, index);
  return status === "unknown" ? "revoked" : status;
}

function isFresh({ config }: Around, { fetchedAt, expiresAt }: StatusListRow, now: Date): boolean {
  const until = later(fetchedAt, config.wallet.statusMaxAgeSeconds * secondMs);
  return now < until && (expiresAt === null || now < expiresAt);
}

/** Checked each time, because the authority that signed the list may have been removed since. */
async function readOrNull(
  around: Around,
  { uri, body }: Pick<StatusListRow, "uri" | "body">,
  { purpose, environment, now }: Context,
): Promise<StatusList | null> {
  const anchors = await statusAnchors(around, environment, now);
  try {
    return await readStatusList(body, { uri, anchors, purpose, now });
  } catch (error) {
    if (!(error instanceof CredentialError)) throw error;
    return null;
  }
}

type Fetches = { running: Map<string, Promise<StatusListRow | null>>; failedAt: Map<string, Date> };

/** In this process, by the client that fetches. */
const fetchesOf = new WeakMap<SafeFetch, Fetches>();

/** One request at a time for each list, shared by all callers. Null if there is no newer copy. */
function fetchOnce(
  around: Around,
  key: Buffer,
  uri: string,
  known: StatusListRow | null,
  context: Context,
): Promise<StatusListRow | null> {
  const fetches: Fetches = fetchesOf.get(around.safeFetch) ?? { running: new Map(), failedAt: new Map() };
  fetchesOf.set(around.safeFetch, fetches);
  const name = key.toString("hex");
  const failedAt = fetches.failedAt.get(name);
  if (failedAt !== undefined && context.now < later(failedAt, retryAfterMs)) return Promise.resolve(null);
  const running = fetches.running.get(name);
  if (running !== undefined) return running;
  const started = fetchList(around, key, uri, known, context)
    .then((row) => {
      if (fetches.failedAt.size >= maxFailures) fetches.failedAt.clear();
      if (row === null) fetches.failedAt.set(name, context.now);
      else fetches.failedAt.delete(name);
      return row;
    })
    .finally(() => fetches.running.delete(name));
  fetches.running.set(name, started);
  return started;
}

async function fetchList(
  around: Around,
  key: Buffer,
  uri: string,
  known: StatusListRow | null,
  context: Context,
): Promise<StatusListRow | null> {
  const { db, log, safeFetch } = around;
  const { purpose, now } = context;
  const give = (problem: string) => {
    log.warn("could not get a status list", { source: URL.parse(uri)?.origin ?? "", problem });
    return null;
  };
  let answer: Awaited<ReturnType<SafeFetch["get"]>>;
  try {
    answer = await safeFetch.get(uri, {
      ...fetchLimits,
      headers: {
        "user-agent": "Assay-Status/1",
        accept: "application/statuslist+jwt, application/statuslist+cwt",
        ...(known?.etag == null ? {} : { "if-none-match": known.etag }),
      },
    });
  } catch (error) {
    if (!(error instanceof SafeFetchError)) throw error;
    return give(error.problem);
  }
  const isUnchanged = answer.status === 304 && known !== null;
  if (answer.status !== 200 && !isUnchanged) return give(`status ${answer.status}`);
  const body = isUnchanged ? known.body : answer.body;
  if (body === null) return give("too large");
  const list = await readOrNull(around, { uri, body }, context);
  if (list === null) return give("not signed by an authority of its purpose, or expired");
  const { issuedAt } = list;
  const etag = isUnchanged ? known.etag : answer.etag;
  const row = {
    uriHash: key,
    uri,
    purpose,
    body,
    issuedAt,
    expiresAt: endOf(list, now),
    fetchedAt: now,
    etag,
  };
  return (await saveStatusList(db, row)) ? row : give("older than the copy before");
}

/** The earlier of when the token expires and when its issuer wants it fetched again. */
function endOf({ expiresAt, ttlSeconds }: StatusList, now: Date): Date | null {
  const ends = [expiresAt, ttlSeconds === null ? null : later(now, ttlSeconds * secondMs)].filter(
    (end) => end !== null,
  );
  return ends.length === 0 ? null : new Date(Math.min(...ends.map((end) => end.getTime())));
}
