import { type CallClient, CallLostError, NobodyFreeError } from "../lib/call-client.ts";
import { type CallHandler, NoRoomError } from "../lib/call-server.ts";
import type { FaceJob, FaceJobResult, FaceLook, FaceLookResult } from "./face-job.ts";
import type { FaceMeasurer } from "./face-judge.ts";
import { type FaceWorkerPool, WorkerFault, type WorkerFaultReason } from "./face-worker-pool.ts";

type Answered<T> = { kind: "answer"; answer: T } | { kind: "fault"; reason: WorkerFaultReason };

/** Live and sandbox are calls of their own, so that a process knows before it reads a word whether it has a place. */
type CallName = "place-live" | "place-sandbox" | "judge-live" | "judge-sandbox" | "look";
const place = (sandbox: boolean): CallName => (sandbox ? "place-sandbox" : "place-live");
const judge = (sandbox: boolean): CallName => (sandbox ? "judge-sandbox" : "judge-live");

/** A try whose process is lost is given to others so often. Half is none. Twice: pictures that bring processes down bring down twice as many. */
const lostJobRetries = 2;
/** A frame is looked at while the person still moves, if somebody has the time; asking all of many processes would take longer than looking. */
const askedForLook = 2;

/**
 * Has processes of the role `face` do what the workers of this process do otherwise. They keep nothing between two calls: what was seen in the frames so far stays with the try in
 * this process and is sent along, so any of them can go on, and the end of one costs a repeated call and no film.
 */
export function callFaces(client: CallClient): FaceMeasurer {
  const run = async (job: FaceJob, sandbox: boolean): Promise<FaceJobResult> => {
    for (let lost = 0; ; lost++) {
      try {
        const { answer } = await client.call(judge(sandbox), job);
        return resultOf(answer as Answered<FaceJobResult>);
      } catch (error) {
        if (error instanceof NobodyFreeError) throw new WorkerFault("busy");
        if (!(error instanceof CallLostError)) throw error;
        if (lost >= lostJobRetries) throw new WorkerFault("worker_died");
      }
    }
  };
  const look = async (frame: FaceLook): Promise<FaceLookResult | null> => {
    try {
      const { answer } = await client.call("look", frame, { most: askedForLook });
      return resultOf(answer as Answered<FaceLookResult>);
    } catch (error) {
      // It is looked at with the judgement.
      if (error instanceof NobodyFreeError || error instanceof CallLostError) return null;
      throw error;
    }
  };
  return {
    // Whoever says that it has a place does so.
    warmUp: () => {},
    hasPlace: ({ sandbox }) =>
      client.call(place(sandbox), null).then(
        () => true,
        (error) => {
          if (error instanceof NobodyFreeError || error instanceof CallLostError) return false;
          throw error;
        },
      ),
    run: (job, { sandbox }) => run(job, sandbox),
    look,
    close: async () => client.close(),
  };
}

function resultOf<T>(answered: Answered<T>): T {
  if (answered.kind === "fault") throw new WorkerFault(answered.reason);
  return answered.answer;
}

/** The other end: the queue, its order and its limits are those of the pool. */
export function faceHandlers(
  pool: Pick<FaceWorkerPool, "warmUp" | "hasPlace" | "run" | "look">,
): Record<CallName, CallHandler> {
  const placeFor = (sandbox: boolean): CallHandler => ({
    hasRoom: () => pool.hasPlace({ sandbox }),
    answer: async () => {
      pool.warmUp();
      return null;
    },
  });
  const judgeFor = (sandbox: boolean): CallHandler => ({
    hasRoom: () => pool.hasPlace({ sandbox }),
    answer: (job) => answered(pool.run(job as FaceJob, { sandbox })),
  });
  return {
    "place-live": placeFor(false),
    "place-sandbox": placeFor(true),
    "judge-live": judgeFor(false),
    "judge-sandbox": judgeFor(true),
    look: {
      answer: async (frame) => {
        const look = pool.look(frame as FaceLook);
        if (look === null) throw new NoRoomError();
        return answered(look);
      },
    },
  };
}

async function answered<T>(result: Promise<T>): Promise<Answered<T>> {
  try {
    return { kind: "answer", answer: await result };
  } catch (error) {
    if (!(error instanceof WorkerFault)) throw error;
    // This process is about to end. One that waited in vain, on the other hand, has waited long enough.
    if (error.reason === "closed") throw new NoRoomError();
    return { kind: "fault", reason: error.reason };
  }
}
