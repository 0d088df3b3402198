import { type DeviceOutcome, runDevice } from "@assay/device/run-device";
import { virtualPassport } from "@assay/device/virtual-passport";
import { testDocuments } from "@assay/emrtd/node/test-country/catalogue";
import { newOwner } from "./support/new-partner.ts";
import { ServerProcess } from "./support/server-process.ts";
import { withPostgres } from "./support/with-postgres.ts";

/**
 * Many verifications at once through one process, each a whole device with a software chip. None may fail
 * because of the service. The time is mostly that of the devices, which share the machine.
 * `npm run bench -- verify [number]`
 */
export async function run(options: readonly string[]): Promise<void> {
  const count = Number(options[0] ?? "200");
  if (!Number.isInteger(count) || count < 1 || count > 2000)
    throw new Error("the number must be from 1 to 2000");
  await withPostgres(async ({ env }) => {
    const server = await ServerProcess.start(new URL("./support/assay-server.ts", import.meta.url), {
      ...env,
      DATABASE_POOL_SIZE: "10",
      METRICS_TOKEN: "bench-metrics-token",
    });
    try {
      await verifyAtOnce(server, count);
    } finally {
      await server.stop();
    }
  });
}

async function verifyAtOnce(server: ServerProcess, count: number): Promise<void> {
  const { send } = await newOwner(server.url, { name: "Bench", slug: "bench" });
  const document = testDocuments(new Date()).find(({ id }) => id === "passport-valid");
  if (document === undefined) throw new Error("there is no valid passport");
  const verificationUrls = await Promise.all(
    Array.from({ length: count }, async () => (await send("/v1/sessions", {})).verification_url ?? ""),
  );
  const before = await server.usage();
  const startedAt = performance.now();
  let waited = 0;
  const seconds: number[] = [];
  const results = new Map<string, number>();
  await Promise.all(
    verificationUrls.map(async (verificationUrl) => {
      let asked = false;
      const outcome: DeviceOutcome | { kind: string } = await runDevice({
        verificationUrl,
        chip: virtualPassport(document),
        onStep: (step) => {
          asked ||= step === "waiting";
        },
      }).catch((error: Error) => ({ kind: `error: ${error.message}` }));
      seconds.push((performance.now() - startedAt) / 1000);
      if (asked) waited += 1;
      results.set(outcome.kind, (results.get(outcome.kind) ?? 0) + 1);
    }),
  );
  const after = await server.usage();
  const total = (performance.now() - startedAt) / 1000;
  seconds.sort((a, b) => a - b);
  console.log(`${count} at once: ${[...results].map(([result, n]) => `${n} ${result}`).join(", ")}`);
  console.log(
    `${total.toFixed(1)} s in all, median ${(seconds[count >> 1] ?? 0).toFixed(1)} s, asked to wait: ${waited}`,
  );
  const cpu = (after.cpuMicroseconds - before.cpuMicroseconds) / 1000 / count;
  console.log(
    `service: ${cpu.toFixed(1)} ms of processor time each, ${Math.round(after.rssBytes / 2 ** 20)} MiB`,
  );
  const metrics = await (
    await fetch(`${server.url}/metrics`, { headers: { authorization: "Bearer bench-metrics-token" } })
  ).text();
  for (const [, step = "", sum = ""] of metrics.matchAll(
    /assay_verify_step_seconds_sum\{step="([a-z_]+)"\} (\S+)/g,
  ))
    console.log(`  ${step.padEnd(16)} ${((Number(sum) / count) * 1000).toFixed(1)} ms each`);
  if (results.get("succeeded") !== count) process.exitCode = 1;
}
