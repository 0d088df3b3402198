/** The task of a generator. Without a rate each connection sends again after its answer (closed loop). */
export type LoadOrder = {
  url: string;
  /** Complete requests, taken in turn. */
  requests: readonly string[];
  ratePerSecond: number | null;
  connections: number;
  seconds: number;
  /** Good is an answer of success that came within this time. */
  goodMs: number;
};

export type LoadReport = {
  sent: number;
  /** Due, but every connection was busy. */
  unsent: number;
  good: number;
  late: number;
  refused: number;
  failed: number;
  seconds: number;
  /** Of successful answers, whenever they came; null without any. */
  p50Ms: number | null;
  p99Ms: number | null;
  refusedP50Ms: number | null;
  cpuSeconds: number;
};
