import type { Receiver } from "../../../apps/server/test/support/receiver.ts";
import { decrypt } from "../../../apps/server/test/support/receiver.ts";
import { type Books, least } from "./books.ts";

/** A guarantee, how many times it was broken, and the first cases. */
export type Finding = { guarantee: string; broken: readonly string[]; of: number };

/** The database, as its owner asks it. */
type Admin = { query<T extends Record<string, unknown>>(text: string): Promise<{ rows: T[] }> };

/**
 * Longest time without a write, as a multiple of that without a fault, and at most in seconds. Lower: the
 * promotion of a replica, which takes seconds, counts as an outage. Higher: an outage of half a minute counts
 * as none.
 */
const longestGap = { times: 60, seconds: 15 } as const;

type StoredSession = {
  id: string;
  client_reference_id: string;
  metadata: { number: string };
  status: string;
};

/** Compares earlier answers to clients and receiver with the service's answers now, and with its tables. */
export async function checkBooks(
  books: Books,
  receiver: Pick<Receiver, "received">,
  listAll: () => Promise<StoredSession[]>,
  admin: Admin,
): Promise<Finding[]> {
  const listed = await listAll();
  const byId = Map.groupBy(listed, ({ id }) => id);
  const byReference = Map.groupBy(listed, (session) => session.client_reference_id);
  const isNot = (status: string) => (id: string) => byId.get(id)?.[0]?.status !== status;
  const lost = [...books.created].filter(([id, { reference, text }]) => {
    const sent = (JSON.parse(text) as { data: StoredSession }).data;
    const [now, ...more] = byId.get(id) ?? [];
    return (
      now === undefined ||
      more.length > 0 ||
      now.client_reference_id !== reference ||
      now.metadata.number !== sent.metadata.number
    );
  });
  const known = new Set([...books.created.values()].map(({ reference }) => reference).concat(books.givenUp));
  const { rows: events } = await admin.query<{ id: string; session_id: string }>(
    "select id, session_id from events where session_id is not null and retracted_at is null",
  );
  const received = new Set(receiver.received.map(({ headers }) => String(headers["webhook-id"])));
  const published = new Set(events.map(({ id }) => id));
  const ended = listed.filter(({ status }) => status !== "created" && status !== "in_progress");
  const terminal = await terminalEvents(receiver);
  const inTables = Map.groupBy(events, ({ session_id }) => session_id);
  return [
    {
      guarantee: "acknowledged writes lost",
      broken: [
        ...lost.map(([id]) => `session ${id}`),
        ...[...books.cancelled].filter(isNot("cancelled")).map((id) => `cancellation of ${id}`),
        ...[...books.verified].filter(isNot("succeeded")).map((id) => `success of ${id}`),
      ],
      of: books.created.size + books.cancelled.size + books.verified.size,
    },
    {
      guarantee: "keys that made two sessions",
      broken: [...byReference].filter(([, found]) => found.length > 1).map(([reference]) => reference),
      of: known.size,
    },
    {
      guarantee: "sessions that no client requested",
      broken: listed.filter((session) => !known.has(session.client_reference_id)).map(({ id }) => id),
      of: listed.length,
    },
    {
      guarantee: "ended sessions without one live terminal event",
      broken: ended.map(({ id }) => id).filter((id) => inTables.get(id)?.length !== 1),
      of: ended.length,
    },
    {
      guarantee: "sessions with two live terminal events",
      broken: [...terminal].filter(([, ids]) => ids.size > 1).map(([id]) => id),
      of: terminal.size,
    },
    {
      guarantee: "events never delivered",
      broken: events.map(({ id }) => id).filter((id) => !received.has(id)),
      of: events.length,
    },
    {
      guarantee: "events marked as delivered that no receiver got",
      broken: [...received].filter((id) => !published.has(id)),
      of: received.size,
    },
    {
      guarantee: "answers that no fault excuses",
      broken: books.wrong,
      of: books.created.size + books.replays + books.reads,
    },
    ...checkWork(books),
  ];
}

/** That there was something to lose: a service that answers nothing loses nothing. */
function checkWork(books: Books): Finding[] {
  const faults = books.byFault();
  const usualMs = faults[0]?.longestMs ?? 0;
  const boundMs = Math.max(longestGap.times * usualMs, longestGap.seconds * 1000);
  const tooFew = (what: "sessions" | "verifications"): Finding => ({
    guarantee: `faults with fewer than ${least[what]} ${what}`,
    broken: faults
      .filter((fault) => fault[what] < least[what])
      .map((fault) => `${fault.fault}: ${fault[what]}`),
    of: faults.length,
  });
  const givenUp = [
    ...books.givenUp,
    ...(books.givenUpOthers === 0 ? [] : [`${books.givenUpOthers} cancellations and verifications`]),
  ];
  return [
    {
      guarantee: "requests given up",
      broken: givenUp,
      of: books.created.size + books.cancelled.size + books.givenUp.length + books.givenUpOthers,
    },
    tooFew("sessions"),
    tooFew("verifications"),
    {
      guarantee: `faults over ${(boundMs / 1000).toFixed(0)} s without a write`,
      broken: faults
        .filter(({ longestMs }) => longestMs > boundMs)
        .map(({ fault, longestMs }) => `${fault}: ${(longestMs / 1000).toFixed(1)} s`),
      of: faults.length,
    },
  ];
}

/** By the session that each event is sealed for, as its receiver opens it. */
async function terminalEvents(receiver: Pick<Receiver, "received">): Promise<Map<string, Set<string>>> {
  const bySession = new Map<string, Set<string>>();
  const opened = new Set<string>();
  for (const { headers, body } of receiver.received) {
    const id = String(headers["webhook-id"]);
    if (opened.has(id)) continue;
    opened.add(id);
    const { event } = await decrypt(body);
    const session = event.metadata.verification_session_id as string;
    bySession.set(session, (bySession.get(session) ?? new Set()).add(id));
  }
  return bySession;
}
