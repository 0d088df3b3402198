import { type ChildProcess, spawnSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { EncryptionKeyId } from "@assay/contract/ids";
import { median } from "@assay/face/median";
import { claimDue } from "../apps/server/src/delivery/webhooks/delivery.store.ts";
import { sealPayload } from "../apps/server/src/delivery/webhooks/seal-payload.ts";
import { newSigningSecret } from "../apps/server/src/delivery/webhooks/signing.ts";
import { packPayload } from "../apps/server/src/delivery/webhooks/stored-payload.ts";
import type { Db } from "../apps/server/src/platform/db/db.ts";
import { migrate } from "../apps/server/src/platform/db/migrate.ts";
import { sql } from "../apps/server/src/platform/db/sql.ts";
import { later } from "../apps/server/src/platform/kernel/clock.ts";
import { newId, newUuid } from "../apps/server/src/platform/kernel/ids.ts";
import { KeyRing, parseRing } from "../apps/server/src/platform/lib/key-ring.ts";
import { burst } from "./support/burst.ts";
import { emptyDatabase, openDatabase } from "./support/database.ts";
import { publishing } from "./support/publishing.ts";
import { ask, forked, type Rig, withReceiver } from "./support/with-receiver.ts";

const partner = generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey.export({ format: "jwk" });
// About three kilobytes of plaintext, what an outcome with every claim comes to.
const data = { claims: { text: "x".repeat(2700) }, selected_field_keys: ["text"] };

/**
 * `--only publish|burst|throughput|latency|hanging|scaling|backlog` runs one part; `--quick` takes a quarter
 * of the load. For `publish` and `burst`, `--against FOLDER` names a checkout of another version to measure
 * in turn. `publish` takes `--organizations N` (40), used in turn, because test events of one organization
 * wait for each other. `--wal` shows the contents of the WAL.
 */
export async function run(options: readonly string[] = []): Promise<void> {
  const only = options.includes("--only") ? options[options.indexOf("--only") + 1] : undefined;
  const scale = options.includes("--quick") ? 0.25 : 1;
  if (only === undefined || only === "publish") {
    const against = options.includes("--against") ? options[options.indexOf("--against") + 1] : undefined;
    const organizations = Number(options[options.indexOf("--organizations") + 1]);
    await publishing(options.includes("--quick") ? 400 : 1000, against ?? null, {
      withWal: options.includes("--wal"),
      organizations: options.includes("--organizations") ? organizations : 40,
    });
    if (only === "publish") return;
  }
  if (only === undefined || only === "burst") {
    const against = options.includes("--against") ? options[options.indexOf("--against") + 1] : undefined;
    await burst(options.includes("--quick") ? 150 : 500, against ?? null);
    if (only === "burst") return;
  }
  await withReceiver(async (rig) => {
    await migrate(rig.databaseUrl);
    const bench = new Bench(rig);
    try {
      const parts: [string, () => Promise<void>][] = [
        ["throughput", () => throughput(bench, Math.round(4000 * scale))],
        ["latency", () => idleLatency(bench)],
        ["hanging", () => besideHanging(bench, Math.round(10_000 * scale))],
        ["scaling", () => scaling(bench, Math.round(4000 * scale))],
        ["backlog", () => backlog(bench, Math.round(100_000 * scale))],
      ];
      for (const [name, part] of parts) if (only === undefined || only === name) await part();
    } finally {
      await bench.stop();
    }
  });
}

type Usage = { cpuUs: number; rssMb: number };

class Bench {
  readonly rig: Rig;
  readonly db: Db;
  readonly #ring: KeyRing;
  readonly #children = new Set<ChildProcess>();

  constructor(rig: Rig) {
    this.rig = rig;
    this.db = openDatabase(rig.databaseUrl);
    this.#ring = new KeyRing(parseRing(rig.env.SECRET_KEYS));
  }

  /** `core` pins the process if the system can, so that it does not share its core with the load. */
  async fork(file: string, env: Record<string, string> = {}, core?: number): Promise<ChildProcess> {
    const child = await forked(file, {
      ...this.rig.env,
      WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1",
      NODE_EXTRA_CA_CERTS: join(this.rig.folder, "ca.pem"),
      ...env,
    });
    this.#children.add(child);
    if (core !== undefined) spawnSync("taskset", ["-a", "-c", "-p", String(core), String(child.pid)]);
    return child;
  }

  async end(child: ChildProcess): Promise<void> {
    this.#children.delete(child);
    child.kill("SIGKILL");
    await once(child, "exit");
  }

  async stop(): Promise<void> {
    for (const child of this.#children) child.kill("SIGKILL");
    await this.db.close();
  }

  /** An organization with endpoints at these addresses, each with a key. */
  async organization(urls: readonly string[], db = this.db) {
    const now = new Date();
    const organizationId = newUuid(now);
    await db.run(sql`insert into organizations (id, name, slug, created_at, updated_at)
      values (${organizationId}, 'bench', ${organizationId}, ${now}, ${now})`);
    const endpoints = urls.map((url) => {
      const id = newId("whe", now);
      const secret = newSigningSecret();
      return { id, url, secret, keyId: newId("whk", now) };
    });
    await db.run(sql`
      insert into webhook_endpoints (id, organization_id, sandbox, url, enabled, undelivered_payload_retention_hours, signing_secret,
        created_at, updated_at)
      select id, ${organizationId}, true, url, true, 72, secret, ${now}, ${now} from unnest(
        ${endpoints.map(({ id }) => id)}::text[], ${endpoints.map(({ url }) => url)}::text[],
        ${endpoints.map(({ id, secret }) => this.#ring.seal("webhook-secret", secret, id))}::bytea[]) as t (id, url, secret)`);
    await db.run(sql`
      insert into webhook_keys (id, endpoint_id, organization_id, key_id, n, e, is_active, activation_number, created_at, updated_at)
      select id, endpoint, ${organizationId}, 'bench', ${partner.n}, ${partner.e}, true, 1, ${now}, ${now} from unnest(
        ${endpoints.map(({ keyId }) => keyId)}::text[], ${endpoints.map(({ id }) => id)}::text[]) as t (id, endpoint)`);
    // Like autovacuum within a minute of such a change.
    await db.run(sql`analyze webhook_endpoints, webhook_keys`);
    return { organizationId, endpoints };
  }

  async clear(): Promise<void> {
    await this.db.run(
      sql`truncate webhook_deliveries, webhook_delivery_queue, webhook_attempts, events, webhook_keys, webhook_endpoints`,
    );
  }
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function print(label: string, value: string): void {
  console.log(`${label.padEnd(64)} ${value}`);
}

// --- event → sealed → sent → recorded ----------------------------------------------------------------------

async function throughput(bench: Bench, events: number): Promise<void> {
  console.log(`\nDeliveries per second of one process, ${events} events, 20 in a transaction`);
  const { organizationId, endpoints } = await bench.organization([bench.rig.hook]);
  const [endpoint] = endpoints;
  if (endpoint === undefined) return;
  const ours = async () => {
    const child = await bench.fork("webhook-process.ts", {}, 0);
    // A first round warms the code and the connections.
    const publish = (count: number) =>
      ask<Usage>(child, { ask: "publish", organizationId, events: count, perTransaction: 20, data });
    await publish(events / 4);
    const before = await ask<Usage>(child, { ask: "drained" });
    const startedAt = performance.now();
    await publish(events);
    const after = await ask<Usage>(child, { ask: "drained" });
    const perSecond = (events / (performance.now() - startedAt)) * 1000;
    await bench.end(child);
    return { perSecond, cpuUs: (after.cpuUs - before.cpuUs) / events };
  };
  const bare = async () => {
    const child = await bench.fork("webhook-bare.ts", {}, 0);
    const job = {
      organizationId,
      endpointId: endpoint.id,
      keyId: endpoint.keyId,
      n: partner.n,
      e: partner.e,
      url: endpoint.url,
      secret: endpoint.secret,
      perTransaction: 20,
      data,
    };
    const before = await ask<Usage>(child, { ...job, events: events / 4 });
    const startedAt = performance.now();
    const after = await ask<Usage>(child, { ...job, events });
    const perSecond = (events / (performance.now() - startedAt)) * 1000;
    await bench.end(child);
    return { perSecond, cpuUs: (after.cpuUs - before.cpuUs) / events };
  };
  const rounds: { ours: Awaited<ReturnType<typeof ours>>; bare: Awaited<ReturnType<typeof bare>> }[] = [];
  for (let round = 0; round < 3; round++) rounds.push({ bare: await bare(), ours: await ours() });
  for (const { ours: o, bare: b } of rounds)
    print(
      "  round",
      `ours ${o.perSecond.toFixed(0)}/s ${o.cpuUs.toFixed(0)} us CPU, bare ${b.perSecond.toFixed(0)}/s ${b.cpuUs.toFixed(0)} us CPU`,
    );
  print(
    "  ours against the bare loop, deliveries per second (goal 0.7)",
    median(rounds.map(({ ours: o, bare: b }) => o.perSecond / b.perSecond)).toFixed(2),
  );
  print(
    "  ours against the bare loop, 1 / CPU of the process",
    median(rounds.map(({ ours: o, bare: b }) => b.cpuUs / o.cpuUs)).toFixed(2),
  );
  await bench.clear();
}

// --- latency -----------------------------------------------------------------------------------------------

type Target = { db: Db; organizationId: string; endpoint: { id: string; keyId: EncryptionKeyId } };

/**
 * Publishes events to each target in turn, with pauses. Returns for each the milliseconds from before the
 * commit to the request at the receiver. Taking turns makes other load affect all of them alike.
 */
async function measureLatency(bench: Bench, targets: readonly Target[], samples: number) {
  await ask(bench.rig.receiver, { ask: "record" });
  const sent = targets.map(() => new Map<string, number>());
  for (let i = 0; i < samples; i++) {
    for (const [index, { db, organizationId, endpoint }] of targets.entries()) {
      const now = new Date();
      const eventId = newId("evt", now);
      const key = { id: endpoint.keyId, keyId: "bench", n: partner.n ?? "", e: partner.e ?? "" };
      const payload = packPayload(sealPayload(key, JSON.stringify({ id: eventId, data })));
      await db.transaction(async (tx) => {
        await tx.run(sql`
          with new_delivery as (
            insert into webhook_deliveries (id, organization_id, sandbox, event_id, event_type, endpoint_id, encryption_key_id, payload,
              status, attempt_count, created_at, updated_at)
            values (${newId("whd", now)}, ${organizationId}, true, ${eventId}, 'verification.session.succeeded', ${endpoint.id},
              ${endpoint.keyId}, ${payload}, 'pending', 0, ${now}, ${now}) returning *)
          insert into webhook_delivery_queue (organization_id, sandbox, delivery_id, endpoint_id, due_at, tries_used, lease_number, scrubbed,
            changed_at)
          select organization_id, true, id, endpoint_id, created_at, 0, 0, false, created_at from new_delivery`);
        tx.notify("assay_deliveries", endpoint.id);
        sent[index]?.set(eventId, performance.timeOrigin + performance.now());
      });
      await wait((30 + Math.random() * 40) / targets.length);
    }
  }
  await wait(1000);
  const { receipts } = await ask<{ receipts: [string, number][] }>(bench.rig.receiver, { ask: "receipts" });
  const receivedAt = new Map(receipts);
  return sent.map((events) => {
    const latencies = [...events].flatMap(([id, from]) => {
      const at = receivedAt.get(id);
      return at === undefined ? [] : [at - from];
    });
    return { p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99), arrived: latencies.length };
  });
}

async function idleLatency(bench: Bench): Promise<void> {
  console.log("\nFrom commit to the first byte at the receiver, idle, 300 events");
  const child = await bench.fork("webhook-process.ts");
  const target = await targetOf(bench, bench.db);
  await measureLatency(bench, [target], 20);
  const [latency] = await measureLatency(bench, [target], 300);
  print("  p50 (goal under 10 ms)", `${latency?.p50.toFixed(1)} ms`);
  print("  p99 (goal under 100 ms)", `${latency?.p99.toFixed(1)} ms`);
  print("  arrived", `${latency?.arrived} of 300`);
  await bench.end(child);
  await bench.clear();
}

async function targetOf(bench: Bench, db: Db): Promise<Target> {
  const { organizationId, endpoints } = await bench.organization([bench.rig.hook], db);
  const [endpoint] = endpoints;
  if (endpoint === undefined) throw new Error("no endpoint was made");
  return { db, organizationId, endpoint };
}

async function besideHanging(bench: Bench, hanging: number): Promise<void> {
  console.log(
    `\nOne live endpoint beside ${hanging} that hang: half accept a connection and say nothing, half read the request and do not answer`,
  );
  // For comparison the same live endpoint, alone in a separate database and process;
  // the two are measured in turn.
  const aloneUrl = await emptyDatabase(bench.rig.databaseUrl, "alone");
  await migrate(aloneUrl);
  const aloneDb = openDatabase(aloneUrl);
  const aloneChild = await bench.fork("webhook-process.ts", { DATABASE_URL: aloneUrl });
  const child = await bench.fork("webhook-process.ts", { EXEMPT_LOOPBACK: String(hanging) });
  const targets = [await targetOf(bench, aloneDb), await targetOf(bench, bench.db)];
  const dead = await bench.organization(
    Array.from({ length: hanging }, (_, n) =>
      n % 2 === 0
        ? `https://127.1.${n >> 8}.${n & 255}:${bench.rig.silentPort}/hook`
        : `${bench.rig.hook}/${n}?ms=60000`,
    ),
  );
  await measureLatency(bench, targets, 20);
  await ask(child, {
    ask: "publish",
    organizationId: dead.organizationId,
    events: 1,
    perTransaction: 1,
    data,
  });
  await bench.db.run(sql`analyze webhook_deliveries, webhook_delivery_queue`);
  // Until every place for attempts that hang is taken.
  await wait(12_000);
  const before = await ask<Usage>(child, { ask: "usage" });
  const startedAt = performance.now();
  const [alone, beside] = await measureLatency(bench, targets, 300);
  const usage = await ask<Usage>(child, { ask: "usage" });
  const busy = (usage.cpuUs - before.cpuUs) / 10 / (performance.now() - startedAt);
  const state = await bench.db.one<{ delivering: number; pending: number }>(sql`
    select count(*) filter (where lease_until > now()) as delivering, count(*) filter (where lease_until is null) as pending
    from webhook_delivery_queue where organization_id = ${dead.organizationId}`);
  if (alone === undefined || beside === undefined) return;
  for (const [label, { p50, p99, arrived }] of [
    ["alone", alone],
    ["beside them", beside],
  ] as const)
    print(`  ${label}`, `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, ${arrived} of 300`);
  print("  p50 beside them against alone (goal at most 1.2)", (beside.p50 / alone.p50).toFixed(2));
  print("  p99 beside them against alone", (beside.p99 / alone.p99).toFixed(2));
  print(
    "  meanwhile",
    `${state.delivering} hang, ${state.pending} wait, ${busy.toFixed(0)} % of a core, ${usage.rssMb.toFixed(0)} MB`,
  );
  await bench.end(child);
  await bench.end(aloneChild);
  await aloneDb.close();
  await bench.db.run(sql`drop database alone with (force)`);
  await bench.clear();
}

// --- several processes -------------------------------------------------------------------------------------

async function fillQueue(
  bench: Bench,
  organizationId: string,
  endpoints: readonly { id: string; keyId: EncryptionKeyId }[],
  count: number,
) {
  const now = new Date();
  const key = {
    id: endpoints[0]?.keyId ?? newId("whk", now),
    keyId: "bench",
    n: partner.n ?? "",
    e: partner.e ?? "",
  };
  const payload = packPayload(sealPayload(key, JSON.stringify({ data })));
  for (let from = 0; from < count; from += 5000) {
    const size = Math.min(5000, count - from);
    const rows = Array.from({ length: size }, (_, i) => endpoints[(from + i) % endpoints.length]);
    await bench.db.run(sql`
      with new_deliveries as (
        insert into webhook_deliveries (id, organization_id, sandbox, event_id, event_type, endpoint_id, encryption_key_id, payload, status,
          attempt_count, created_at, updated_at)
        select id, ${organizationId}, true, event, 'verification.session.succeeded', endpoint, key, ${payload}::bytea, 'pending', 0, ${now}, ${now}
        from unnest(${rows.map(() => newId("whd", now))}::text[], ${rows.map(() => newId("evt", now))}::text[],
          ${rows.map((row) => row?.id)}::text[], ${rows.map((row) => row?.keyId)}::text[]) as t (id, event, endpoint, key)
        returning *)
      insert into webhook_delivery_queue (organization_id, sandbox, delivery_id, endpoint_id, due_at, tries_used, lease_number, scrubbed,
        changed_at)
      select organization_id, true, id, endpoint_id, created_at, 0, 0, false, created_at from new_deliveries`);
  }
}

async function scaling(bench: Bench, count: number): Promise<void> {
  console.log(`\nTwo processes against one, ${count} deliveries waiting`);
  for (const [label, urls, rows] of [
    ["one receiver that takes 100 ms", [`${bench.rig.hook}?ms=100`], count / 2],
    [
      "receivers that answer at once (the machine's cores are shared)",
      [1, 2, 3, 4].map(() => bench.rig.hook),
      count,
    ],
  ] as const) {
    const rate = async (processes: number) => {
      const { organizationId, endpoints } = await bench.organization(urls);
      await fillQueue(bench, organizationId, endpoints, rows);
      const children = await Promise.all(
        Array.from({ length: processes }, () => bench.fork("webhook-process.ts")),
      );
      await waitUntil(bench, (open) => open <= rows * 0.9);
      const from = performance.now();
      await waitUntil(bench, (open) => open <= rows * 0.1);
      const perSecond = ((rows * 0.8) / (performance.now() - from)) * 1000;
      for (const child of children) await bench.end(child);
      await bench.clear();
      return perSecond;
    };
    const ones: number[] = [];
    const twos: number[] = [];
    for (let round = 0; round < 2; round++) {
      ones.push(await rate(1));
      twos.push(await rate(2));
    }
    print(`  ${label}`, `${median(ones).toFixed(0)}/s and ${median(twos).toFixed(0)}/s`);
    print("    two against one (goal 1.7)", (median(twos) / median(ones)).toFixed(2));
  }
}

async function waitUntil(bench: Bench, reached: (open: number) => boolean): Promise<void> {
  for (;;) {
    const { open } = await bench.db.one<{ open: number }>(
      sql`select count(*) as open from webhook_delivery_queue where lease_until is null`,
    );
    if (reached(open)) return;
    await wait(20);
  }
}

// --- a long queue ------------------------------------------------------------------------------------------

async function backlog(bench: Bench, count: number): Promise<void> {
  console.log(`\n${count} deliveries waiting`);
  const { organizationId, endpoints } = await bench.organization([bench.rig.hook, `${bench.rig.hook}?ms=50`]);
  const [endpoint, other] = endpoints;
  if (endpoint === undefined || other === undefined) return;
  const claimMs = async () => {
    // Like autovacuum within a minute;
    // otherwise the first claims would scan the rows of the previous measurement.
    await bench.db.run(sql`vacuum analyze webhook_deliveries, webhook_delivery_queue`);
    const times: number[] = [];
    for (let i = 0; i < 40; i++) {
      const now = new Date();
      const startedAt = performance.now();
      const leased = await claimDue(bench.db, { kind: "url" }, [{ endpointId: other.id, most: 64 }], {
        owner: newUuid(now),
        now,
        until: later(now, 30_000),
      });
      times.push(performance.now() - startedAt);
      await bench.db.run(sql`update webhook_delivery_queue set lease_owner = null, lease_until = null
        where organization_id = ${organizationId} and delivery_id = any(${leased.map(({ id }) => id)}::text[])`);
    }
    return median(times);
  };
  await fillQueue(bench, organizationId, [other], 1000);
  const few = await claimMs();
  await fillQueue(bench, organizationId, [endpoint, other], count - 1000);
  const many = await claimMs();
  print("  claiming 64 with 1000 waiting, and with all", `${few.toFixed(2)} ms and ${many.toFixed(2)} ms`);
  print("    against each other (goal: does not grow)", (many / few).toFixed(2));
  const child = await bench.fork("webhook-process.ts");
  const memory: number[] = [];
  for (let second = 0; second < 20; second++) {
    await wait(1000);
    memory.push((await ask<Usage>(child, { ask: "usage" })).rssMb);
  }
  const { count: received } = await ask<{ count: number }>(bench.rig.receiver, { ask: "count" });
  print(
    "  memory in seconds 5, 10, 15 and 20",
    [4, 9, 14, 19].map((i) => `${memory[i]?.toFixed(0)} MB`).join(", "),
  );
  print("  received by then", String(received));
  await bench.end(child);
  await bench.clear();
}
