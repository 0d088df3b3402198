import { type CallClient, CallLostError, type CallPeer, NobodyFreeError } from "../lib/call-client.ts";
import { type CallHandler, NoRoomError } from "../lib/call-server.ts";
import { anyone } from "../lib/waiting-line.ts";
import { PoolBusyError, WorkerLostError } from "../lib/worker-pool.ts";
import { shareTrust, type TrustSnapshot, trustBytes } from "../trust/trust-snapshot.ts";
import type { ChipPool } from "./chip-examiner.ts";
import type { ChipTask } from "./chip-task.ts";

type VerifyTask = Extract<ChipTask, { kind: "verify" }>;

/** What is trusted is named by its digest: a process that does not have it yet is sent it once, and not with each document. */
type SentTask =
  | Exclude<ChipTask, VerifyTask>
  | (Omit<VerifyTask, "trust"> & { trust: { digest: string } | "test_country" });

type SentTrust = { version: number; bytes: Uint8Array };

type Answered =
  | { kind: "answer"; answer: unknown }
  | { kind: "trust_unknown" }
  /** The thread that had the task is gone. */
  | { kind: "lost" }
  /** In the words of `WorkerPool`, which never quote the chip. */
  | { kind: "failed"; message: string };

/** How many snapshots a process keeps: the current one, and one that an api process still asks for while another has the next. */
const keptTrusts = 2;

/** Has processes of the role `chip` do what threads do otherwise. */
export function callChips(client: CallClient): ChipPool {
  return {
    waiting: null,
    run: async (task) => {
      try {
        return resultOf(await ask(client, task));
      } catch (error) {
        // While nobody can be reached people wait, as they do while everybody is busy.
        if (error instanceof NobodyFreeError) throw new PoolBusyError();
        if (error instanceof CallLostError) throw new WorkerLostError();
        throw error;
      }
    },
    close: async () => client.close(),
  };
}

async function ask(client: CallClient, task: ChipTask): Promise<Answered> {
  if (task.kind !== "verify" || task.trust === "test_country") return (await call(client, task)).answered;
  const { trust } = task;
  const sent: SentTask = { ...task, trust: { digest: trust.digest } };
  const first = await call(client, sent);
  if (first.answered.kind !== "trust_unknown") return first.answered;
  await client.call("trust", { version: trust.version, bytes: trustBytes(trust) } satisfies SentTrust, {
    at: first.peer,
  });
  return (await call(client, sent, first.peer)).answered;
}

async function call(
  client: CallClient,
  task: SentTask,
  at?: CallPeer,
): Promise<{ answered: Answered; peer: CallPeer }> {
  const { answer, peer } = await client.call("check", task, at === undefined ? {} : { at });
  return { answered: answer as Answered, peer };
}

function resultOf(answered: Answered): unknown {
  switch (answered.kind) {
    case "answer":
      return answered.answer;
    case "failed":
      throw new Error(answered.message);
    // Sent a moment ago, and pushed out by newer ones; it is sent again with the next go.
    case "trust_unknown":
    case "lost":
      throw new WorkerLostError();
  }
}

/** The other end: carries out what api processes ask for. */
export function chipHandlers(pool: ChipPool): Record<"check" | "trust", CallHandler> {
  const trusts = new Map<string, TrustSnapshot>();
  const keep = (trust: TrustSnapshot) => {
    // The one that was used last is at the end.
    trusts.delete(trust.digest);
    trusts.set(trust.digest, trust);
    for (const digest of [...trusts.keys()].slice(0, -keptTrusts)) trusts.delete(digest);
  };
  return {
    trust: {
      answer: async (sent) => {
        const { version, bytes } = sent as SentTrust;
        keep(shareTrust(version, bytes));
        return null;
      },
    },
    check: {
      answer: async (sent): Promise<Answered> => {
        const task = taskOf(sent as SentTask, trusts);
        if (task === null) return { kind: "trust_unknown" };
        if (task.kind === "verify" && task.trust !== "test_country") keep(task.trust);
        try {
          return { kind: "answer", answer: await pool.run(task, anyone) };
        } catch (error) {
          if (error instanceof PoolBusyError) throw new NoRoomError();
          if (error instanceof WorkerLostError) return { kind: "lost" };
          return { kind: "failed", message: error instanceof Error ? error.message : "a worker failed" };
        }
      },
    },
  };
}

function taskOf(sent: SentTask, trusts: ReadonlyMap<string, TrustSnapshot>): ChipTask | null {
  if (sent.kind !== "verify") return sent;
  if (sent.trust === "test_country") return { ...sent, trust: sent.trust };
  const trust = trusts.get(sent.trust.digest);
  return trust === undefined ? null : { ...sent, trust };
}
