/** A complete request, as the generator sends it. */
export function requestText(call: string, key: string, body: object | null = null): string {
  const text = body === null ? "" : JSON.stringify(body);
  const head = [`${call} HTTP/1.1`, "host: bench", `authorization: Bearer ${key}`];
  if (body !== null)
    head.push("content-type: application/json", `content-length: ${Buffer.byteLength(text)}`);
  return `${head.join("\r\n")}\r\n\r\n${text}`;
}

/** How many were answered; throws where one was refused or failed. */
export function answeredOf({ good, late, refused, failed }: LoadReport): number {
  if (refused + failed > 0) throw new Error(`${refused} requests were refused and ${failed} failed`);
  return good + late;
}

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
