/**
 * Limits of the processes that judge faces, chosen by hand from the measurements in docs/face-models.md (`npm
 * run bench -- face`). A try of 44 frames takes about 0.8 s of processor time, the longest about 2 s.
 * Starting takes 2 s, a process 244 to 268 MB.
 */
export const poolLimits = {
  /** The operator sets it with FACE_WORKERS. */
  workers: 1,
  /**
   * Tries that may wait for each worker. Too small: a group of five at once is partly refused. Too large: the
   * last one waits too long.
   */
  queuePerWorker: 8,
  /** Too small: the end of a full queue is refused too early. Too large: the person waits for minutes. */
  maxWaitMs: 60_000,
  /** Too small: long tries fail on slow machines. Too large: a picture that loops holds a worker. */
  jobTimeoutMs: 60_000,
  /**
   * For one frame during the capture; it takes 20 ms. Too small: a busy machine fails a try by a fault. Too
   * large: a hostile frame holds a worker for longer.
   */
  lookTimeoutMs: 10_000,
  /** Too small: a cold disk cannot load 60 MB. Too large: a broken installation is noticed later. */
  startTimeoutMs: 60_000,
  /** Too small: people wait for starts more often. Too large: an idle process holds 270 MB for longer. */
  idleMs: 300_000,
  /**
   * Three times the measured maximum. Too small: a portrait of the most pixels does not fit. Too large: a
   * hostile picture takes more memory.
   */
  maxResidentBytes: 900_000_000,
  /** The runtime's heap; pictures and models are outside of it. */
  heapMegabytes: 256,
  /**
   * Starts in a row that may fail before waiting tries fail. Too small: one killed start fails all of them.
   * Too large: they wait for minutes.
   */
  maxStartAttempts: 2,
  /** How often the memory of a busy worker is measured. Too large: a picture has more time to grow. */
  memoryCheckMs: 250,
} as const;
