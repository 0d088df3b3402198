import { join, resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { median } from "@assay/face/median";
import { postgresMicroseconds } from "./support/postgres-usage.ts";
import { type CancelLoad, cancelAll, cpuSeconds, createSessions, type System } from "./support/system.ts";
import { countOf, received, withReceiver } from "./support/with-receiver.ts";

/** Concurrent verifications. */
const atOnce = 8;

type Figures = { server: number; postgres: number };
type Part = {
  name: string;
  count: number;
  end: (system: System, count: number) => Promise<() => Promise<unknown>>;
};

/**
 * Cost of a session that ends with one delivery: cancelled by the partner, or verified by a device.
 * Cancellations come over many connections, over 4, and at 50 a second, as in most installations. Processor
 * time of service and PostgreSQL, medians of `--rounds N` (5). `--against FOLDER` names an installed checkout
 * of another version to measure in turn. `--quick`: a quarter of the load. `--only cancelled|verified`.
 */
export async function run(options: readonly string[] = []): Promise<void> {
  const optionOf = (name: string) =>
    options.includes(name) ? options[options.indexOf(name) + 1] : undefined;
  const rounds = Number(optionOf("--rounds") ?? 5);
  const scale = options.includes("--quick") ? 0.25 : 1;
  const against = optionOf("--against");
  const only = optionOf("--only") ?? "";
  const own = resolve(import.meta.dirname, "..");
  const roots = new Map([
    ["ours", own],
    ...(against === undefined ? [] : [["before", resolve(against)] as const]),
  ]);
  await withReceiver(async ({ folder, receiver, start }) => {
    const systems: System[] = [];
    for (const [name, root] of roots) systems.push(await start({ name, root, roles: ["all"] }));
    const parts: Part[] = [
      {
        name: "cancelled, 16 connections,",
        count: 800 * scale,
        end: cancelled({ connections: 16, ratePerSecond: null }),
      },
      {
        name: "cancelled, 4 connections,",
        count: 400 * scale,
        end: cancelled({ connections: 4, ratePerSecond: null }),
      },
      {
        name: "cancelled, 50 a second,",
        count: 400 * scale,
        end: cancelled({ connections: 8, ratePerSecond: 50 }),
      },
      { name: "verified,", count: 120 * scale, end: verifiedBy(roots) },
    ];
    for (const { name, count, end } of parts.filter((part) => part.name.startsWith(only))) {
      const measure = async (system: System): Promise<Figures> => {
        const endAll = await end(system, count);
        const used = async () => ({
          server: (await cpuSeconds(system)) * 1000,
          postgres: postgresMicroseconds(folder) / 1000,
        });
        const [arrived, before] = [await countOf(receiver), await used()];
        await endAll();
        await received(receiver, arrived, count);
        // Results are recorded a few milliseconds after the last arrival.
        await wait(500);
        const after = await used();
        return {
          server: (after.server - before.server) / count,
          postgres: (after.postgres - before.postgres) / count,
        };
      };
      for (const system of systems) await measure(system);
      const figures = systems.map(() => [] as Figures[]);
      for (let round = 0; round < rounds; round++)
        for (const [at, system] of systems.entries()) figures[at]?.push(await measure(system));
      report(`A session that is ${name} with one delivery`, systems, figures);
    }
  });
}

function report(what: string, systems: readonly System[], figures: readonly (readonly Figures[])[]): void {
  console.log(`\n${what}`);
  const totals = systems.map(({ name }, at) => {
    const of = (part: keyof Figures) => median((figures[at] ?? []).map((one) => one[part]));
    const total = median((figures[at] ?? []).map(({ server, postgres }) => server + postgres));
    console.log(
      `  ${name.padEnd(6)} ${of("server").toFixed(2)} ms of the server + ${of("postgres").toFixed(2)} of PostgreSQL, ${total.toFixed(2)} ms of processor time in all`,
    );
    return total;
  });
  const [ours = 0, before] = totals;
  if (before !== undefined) console.log(`  ${(ours / before).toFixed(2)} of before`);
}

/** The sessions are created before the measurement begins. */
function cancelled(load: CancelLoad): Part["end"] {
  return async (system, count) => {
    const ids = await createSessions(system, count);
    return () => cancelAll(system, ids, load);
  };
}

/**
 * Each version uses the device of its checkout.
 * Sessions are created within the measurement, so it covers whole verifications.
 */
function verifiedBy(roots: ReadonlyMap<string, string>): Part["end"] {
  return async (system, count) => {
    const from = async (file: string) =>
      import(pathToFileURL(join(roots.get(system.name) ?? "", "packages", file)).href);
    const { runDevice }: typeof import("@assay/device/run-device") = await from("device/src/run-device.ts");
    const { virtualPassport }: typeof import("@assay/device/virtual-passport") = await from(
      "device/src/virtual-passport.ts",
    );
    const { testDocuments }: typeof import("@assay/emrtd/node/test-country/catalogue") = await from(
      "emrtd/src/node/test-country/catalogue.ts",
    );
    const document = testDocuments(new Date()).find(({ id }) => id === "passport-valid");
    if (document === undefined) throw new Error("there is no valid passport");
    let left = count;
    const lane = async () => {
      while (left-- > 0) {
        const [id] = await createSessions(system, 1);
        const outcome = await runDevice({
          verificationUrl: `${system.url}/verify/${id}`,
          chip: virtualPassport(document),
        });
        // Versions before named it `result`.
        const { kind, result = kind } = outcome as { kind?: string; result?: string };
        if (result !== "succeeded") throw new Error(`a verification ended with ${result}`);
      }
    };
    return () => Promise.all(Array.from({ length: atOnce }, lane));
  };
}
