/**
 * The processes that judge faces. Set by hand, against what `npm run bench -- face` measures (docs/face-models.md): about 0.8 s of processor time for a try of 44 frames, so about 2 s for the most
 * frames there can be; 2 s with starting a process; 244 to 268 MB.
 */
export const poolLimits = {
  /** The operator's, see FACE_WORKERS. Twice: twice the memory and cores. There is no half. */
  workers: 1,
  /** Tries that may wait for each worker. Half: a group of five at once is partly sent away. Twice: the last one waits about a quarter of a minute. */
  queuePerWorker: 8,
  /** Half: tries at the end of a full queue are refused although their turn is near. Twice: the person looks at a spinner for two minutes. */
  maxWaitMs: 60_000,
  /** Half: a machine ten times slower than the measured one fails the longest tries. Twice: a picture made to loop in a decoder holds a worker for two minutes. */
  jobTimeoutMs: 60_000,
  /** For one frame while the others are still to come; it takes 20 ms. Half: a machine that is busy with something else for five seconds fails a try by a fault. Twice: somebody can hold a worker for twice as long without having filmed anything. */
  lookTimeoutMs: 10_000,
  /** Half: a cold disk may be too slow for loading 60 MB of code and models. Twice: a broken installation is noticed later. */
  startTimeoutMs: 60_000,
  /** Half: people who come every few minutes wait for a start more often. Twice: 270 MB are held for longer with nothing to do. */
  idleMs: 300_000,
  /** Three times the most that was measured. Half: little room is left for a portrait of the most pixels. Twice: a picture made to swell takes 1.8 GB before it is stopped. */
  maxResidentBytes: 900_000_000,
  /** Of the runtime's own heap; pictures and models are outside of it. Half and twice were not tried. */
  heapMegabytes: 256,
  /** Starts in a row that may fail before those who wait are told so. Half: one start that the system killed fails everybody who waits. Twice: up to four minutes until they are told. */
  startAttempts: 2,
  /** How often the memory of a worker at work is looked at. Half: twice the reads of /proc for nothing. Twice: a picture made to swell has half a second. */
  memoryLookMs: 250,
} as const;
