import { Pool } from "undici";

export type Request = {
  method: "GET" | "POST";
  path: string;
  headers: Record<string, string>;
  body?: () => string;
};
export type LoadResult = { requestsPerSecond: number; p50Ms: number; p99Ms: number };

/** Keeps `connections` concurrent requests for `seconds`, and fails on any answer that is not 2xx. */
export async function load(
  url: string,
  request: Request,
  options: { connections: number; seconds: number },
): Promise<LoadResult> {
  const pool = new Pool(url, { connections: options.connections, pipelining: 1 });
  const times: number[] = [];
  const start = performance.now();
  const end = start + options.seconds * 1000;
  const client = async () => {
    while (performance.now() < end) {
      const sent = performance.now();
      const { statusCode, body } = await pool.request({
        method: request.method,
        path: request.path,
        headers: request.headers,
        body: request.body?.() ?? null,
      });
      const text = await body.text();
      if (statusCode >= 300)
        throw new Error(`${request.method} ${request.path} answered ${statusCode}: ${text.slice(0, 300)}`);
      times.push(performance.now() - sent);
    }
  };
  await Promise.all(Array.from({ length: options.connections }, client));
  const elapsed = (performance.now() - start) / 1000;
  await pool.close();
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(times.length * share)] ?? Number.NaN;
  return { requestsPerSecond: times.length / elapsed, p50Ms: at(0.5), p99Ms: at(0.99) };
}
