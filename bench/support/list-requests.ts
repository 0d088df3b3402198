// What a list costs whoever asks for it: the whole request over HTTP, through a service on each of two databases with the same rows.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { apiKeyForm } from "@assay/contract/facts";
import type { OrganizationId } from "@assay/contract/ids";
import { median } from "@assay/face/median";
import { Pool } from "undici";
import { insertApiKey } from "../../apps/server/src/api-keys/api-key.store.ts";
import type { Db } from "../../apps/server/src/db/db.ts";
import { newUuid } from "../../apps/server/src/kernel/ids.ts";
import { KeyRing, parseRing } from "../../apps/server/src/lib/key-ring.ts";
import { insertOrganization } from "../../apps/server/src/organizations/organization.store.ts";
import { othersCpuClock } from "./parts.ts";
import { ServerProcess } from "./server-process.ts";

const secretKeys = `1:${Buffer.alloc(32, 1).toString("base64")}`;
const roundsOfRequests = 10;
/** The first times PostgreSQL tries which plan is cheaper, and the process does not know how far back the list reaches. */
const roundsBefore = 3;
const requestsARound = 32;
/** Code that V8 has not optimized yet costs several times as much. */
const warmingRequests = 3_000;

/** A list, asked for by an organization. */
export type ListRequest = { organization: OrganizationId; path: string };

/** One caller of a service on a database that holds sessions. */
export class ListService {
  readonly #db: Db;
  readonly #server: ServerProcess;
  readonly #pool: Pool;
  readonly #dataDir: string;

  private constructor(db: Db, server: ServerProcess, dataDir: string) {
    this.#db = db;
    this.#server = server;
    this.#pool = new Pool(server.url, { connections: 1, pipelining: 1 });
    this.#dataDir = dataDir;
  }

  /** `db` is a single connection to the database of `url`, whose sessions belong to organizations that are not there yet. For the service it is always `now`. */
  static async start(
    db: Db,
    url: string,
    organizations: readonly OrganizationId[],
    now: Date,
  ): Promise<ListService> {
    const dataDir = mkdtempSync(join(tmpdir(), "assay-bench-"));
    const server = await ServerProcess.start(
      new URL("./assay-server.ts", import.meta.url),
      {
        DATABASE_URL: url,
        SECRET_KEYS: secretKeys,
        PORT: "0",
        DATA_DIR: dataDir,
        REQUEST_MAX_WAIT_MS: "10000",
        BENCH_TIME: now.toISOString(),
      },
      ["api"],
    );
    const ring = new KeyRing(parseRing(secretKeys));
    await db.transaction(async (tx) => {
      for (const id of new Set(organizations)) {
        await insertOrganization(tx, {
          id,
          name: "Bench",
          slug: id,
          documentIdKey: Buffer.alloc(32),
          createdBy: null,
          now,
        });
        const { hash, keyId } = ring.keyedHash("api-key-hash", keyOf(id));
        await insertApiKey(tx, {
          id: newUuid(now),
          organizationId: id,
          environment: "sandbox",
          name: "bench",
          scopes: ["sessions:read"],
          secretHash: hash,
          hashKeyId: keyId,
          createdBy: null,
          now,
        });
      }
    });
    return new ListService(db, server, dataDir);
  }

  /** Asks for the lists in turn; how long each answer took, and what service and database had of the processor for a request. */
  async ask(lists: readonly ListRequest[], requests: number): Promise<{ ms: number[]; cpuUs: number }> {
    const ms: number[] = [];
    const databaseCpuUs = await othersCpuClock(this.#db);
    const before = (await this.#server.usage()).cpuMicroseconds;
    for (let request = 0; request < requests; request++) {
      const list = lists[request % lists.length];
      if (list === undefined) throw new Error("there is no list to ask for");
      const sent = performance.now();
      const { statusCode, body } = await this.#pool.request({
        method: "GET",
        path: list.path,
        headers: { authorization: `Bearer ${keyOf(list.organization)}` },
      });
      const text = await body.text();
      if (statusCode !== 200) throw new Error(`${list.path} answered ${statusCode}: ${text.slice(0, 300)}`);
      ms.push(performance.now() - sent);
    }
    const after = (await this.#server.usage()).cpuMicroseconds;
    return { ms, cpuUs: (after - before + (await databaseCpuUs())) / requests };
  }

  async stop(): Promise<void> {
    await this.#pool.close();
    await this.#server.stop();
    rmSync(this.#dataDir, { recursive: true, force: true });
  }
}

const keyOf = (organization: OrganizationId) => `${apiKeyForm.prefix}${organization}`;

/** `lists` by name, as 16 organizations and as the busiest ask for them. */
export async function compareRequests(
  one: ListService,
  parts: ListService,
  lists: readonly { name: string; others: readonly ListRequest[]; busiest: readonly ListRequest[] }[],
): Promise<void> {
  console.log(
    `\nThe same lists as requests over HTTP, one caller: processor time of service and PostgreSQL together (the least of ${roundsOfRequests} rounds of ${requestsARound}), p50 by the clock`,
  );
  const everything = lists.flatMap(({ others, busiest }) => [...others, ...busiest]);
  for (const service of [one, parts]) await service.ask(everything, warmingRequests);
  const ratios = {
    others: { cpu: [] as number[], ms: [] as number[] },
    busiest: { cpu: [] as number[], ms: [] as number[] },
  };
  for (const { name, ...asked } of lists) {
    let line = `  ${name.padEnd(52)}`;
    for (const whose of ["others", "busiest"] as const) {
      const [inOne, inParts] = await costOf([one, parts], asked[whose]);
      const cpu = inParts.cpuUs / inOne.cpuUs;
      const ms = inParts.ms / inOne.ms;
      ratios[whose].cpu.push(cpu);
      ratios[whose].ms.push(ms);
      line += ` ${whose === "busiest" ? " busy " : ""}${inOne.cpuUs.toFixed(0).padStart(5)} → ${inParts.cpuUs.toFixed(0).padStart(5)} µs ${cpu.toFixed(2)}, ${inOne.ms.toFixed(2)} → ${inParts.ms.toFixed(2)} ms ${ms.toFixed(2)}`;
    }
    console.log(line);
  }
  for (const [whose, { cpu, ms }] of Object.entries(ratios))
    console.log(
      `  requests in parts, ${whose}: median ${median(cpu).toFixed(2)} of one table, at most ${Math.max(...cpu).toFixed(2)}, ${cpu.filter((ratio) => ratio <= 1.2).length} of ${cpu.length} within 1.2; by the clock median ${median(ms).toFixed(2)}, at most ${Math.max(...ms).toFixed(2)}`,
    );
}

type Cost = { cpuUs: number; ms: number };

/** In rounds that alternate. */
async function costOf(
  services: readonly [ListService, ListService],
  lists: readonly ListRequest[],
): Promise<[Cost, Cost]> {
  const sides = services.map((service) => ({ service, cpuUs: Number.POSITIVE_INFINITY, ms: [] as number[] }));
  for (let round = -roundsBefore; round < roundsOfRequests; round++)
    for (const side of sides) {
      const { ms, cpuUs } = await side.service.ask(lists, requestsARound);
      if (round < 0) continue;
      side.cpuUs = Math.min(side.cpuUs, cpuUs);
      side.ms.push(...ms);
    }
  const [one, parts] = sides.map(({ cpuUs, ms }) => ({ cpuUs, ms: median(ms) }));
  if (one === undefined || parts === undefined) throw new Error("there are two services");
  return [one, parts];
}
