import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { type Service, startService } from "../../src/app.ts";
import type { Config } from "../../src/config.ts";
import { loadConfig } from "../../src/load-config.ts";
import type { ServiceOptions } from "../../src/open-services.ts";
import type { ProcessRole } from "../../src/operations/operator/process-report.ts";
import type { Clock } from "../../src/platform/kernel/clock.ts";
import { KeyRing, parseRing } from "../../src/platform/lib/key-ring.ts";
import { createLog, type Log } from "../../src/platform/lib/log.ts";
import type { Who } from "../../src/platform/lib/waiting-line.ts";
import { WorkerLostError } from "../../src/platform/lib/worker-pool.ts";
import { hashPasswordsCheaply } from "../../src/tenants/accounts/password.ts";
import { type ChipPool, openChipThreads } from "../../src/verification/attempts/chip-examiner.ts";
import { openTrustThread } from "../../src/verification/trust/trust-reader.ts";
import { Api } from "./api.ts";
import { createTestDatabase } from "./database.ts";
import { skippingMigrations } from "./process.ts";
import { startRoundRobin } from "./round-robin.ts";
import { testRing } from "./test-ring.ts";

hashPasswordsCheaply();

/**
 * A clock that only a test moves. The clock of each file starts in another millisecond. Ids of one
 * millisecond keep their order for 3,844 of them, which files that share a process would use up.
 */
export class TestClock implements Clock {
  #now = new Date("2026-03-01T09:30:00.000Z").getTime() + Number(process.env.ASSAY_TEST_FILE_NUMBER ?? 0);

  now(): Date {
    return new Date(this.#now);
  }

  advance(milliseconds: number): void {
    this.#now += milliseconds;
  }

  set(to: Date): void {
    this.#now = to.getTime();
  }
}

/** `ASSAY_MACHINES=2 npm test -- PART` runs tests with two machines behind a load balancer. */
const machinesOfRun = Number(process.env.ASSAY_MACHINES ?? 1);

type TestServiceOptions = {
  env?: Record<string, string>;
  config?: Partial<Config>;
  databaseUrl?: string;
  clock?: Clock;
  /** `api` leaves background work to the test, so that what is due stays due. */
  role?: ProcessRole;
  webhooks?: ServiceOptions["webhooks"];
  /** With an `examiner` the service has separate threads that check chips. */
  verify?: ServiceOptions["verify"];
  /**
   * How many machines share the work, each with a separate data folder, behind a load balancer. Use one for a
   * test about a process rather than the service.
   */
  machines?: number;
  /** How soon after the start jobs run. Left out, only those of seconds do; a test runs the others. */
  firstRunWithinMs?: number;
};

/**
 * A running service for a test file: real HTTP on a free port, a new PostgreSQL database, a clock that the
 * test moves. Everything is removed after the file's tests.
 */
export async function startTestService(options: TestServiceOptions = {}) {
  const databaseUrl = options.databaseUrl ?? (await createTestDatabase()).url;
  const clock = options.clock ?? new TestClock();
  const logLines: string[] = [];
  const log = createLog({ level: "debug", write: (line) => logLines.push(line), now: () => new Date() });
  const machines = options.machines ?? machinesOfRun;
  const balancer = machines > 1 ? await startRoundRobin() : null;
  const env = { ...(balancer === null ? {} : { PUBLIC_URL: balancer.url }), ...options.env };
  const started: { service: Service; dataDir: string }[] = [];
  // Also where a machine does not start.
  const close = async () => {
    await Promise.all(started.map(({ service }) => service.close()));
    await balancer?.close();
  };
  after(async () => {
    await close();
    for (const { dataDir } of started) rmSync(dataDir, { recursive: true, force: true });
  });
  for (let machine = 0; machine < machines; machine++) {
    const { service, dataDir } = await startMachine({ ...options, env }, { databaseUrl, clock, log });
    balancer?.targets.push(service.url);
    started.push({ service, dataDir });
  }
  const [first] = started;
  if (first === undefined) throw new Error("there is no machine");
  const url = balancer?.url ?? first.service.url;
  const service: Service =
    balancer === null
      ? first.service
      : {
          ...first.service,
          url,
          close,
          runJob: async (name) => {
            for (const { service } of started) await service.runJob(name);
          },
        };
  return {
    ...service,
    service,
    databaseUrl,
    dataDir: first.dataDir,
    /** Of every machine. */
    dataDirs: started.map(({ dataDir }) => dataDir),
    machines: [first.service, ...started.slice(1).map(({ service }) => service)] as const,
    /** How many requests each of them has had. */
    requests: balancer?.counts ?? [],
    clock: clock as TestClock,
    api: new Api(url),
    logLines,
  };
}

/** One process of the service, with an empty data folder. */
async function startMachine(
  options: TestServiceOptions,
  shared: { databaseUrl: string; clock: Clock; log: Log },
): Promise<{ service: Service; dataDir: string }> {
  const dataDir = mkdtempSync(join(tmpdir(), "assay-test-"));
  const config = {
    ...loadConfig({
      PORT: "0",
      DATA_DIR: dataDir,
      DATABASE_URL: shared.databaseUrl,
      SECRET_KEYS: testRing,
      DATABASE_POOL_SIZE: "8",
      // Without a way to read documents no live session is created.
      DESK_READERS: "true",
      ...skippingMigrations,
      ...options.env,
    }),
    ...options.config,
  };
  const service = await startService({
    config,
    ...shared,
    ring: new KeyRing(parseRing(config.secretKeys)),
    ...(options.role ? { role: options.role } : {}),
    ...(options.webhooks === undefined ? {} : { webhooks: options.webhooks }),
    firstRunWithinMs: options.firstRunWithinMs ?? null,
    verify: { ...options.verify, examiner: options.verify?.examiner ?? { pool: borrowChipThreads() } },
    trustPool: borrow(trustThread),
  });
  return { service, dataDir };
}

type Pool<Task> = {
  run(task: Task, who: Who): Promise<unknown>;
  close(): Promise<void>;
};

/**
 * Threads for the services of all files in this process: starting one takes a third of a second of a
 * processor, more than most files need. They keep no process alive.
 */
const chipThreads = openChipThreads();
const trustThread = openTrustThread();

function borrowChipThreads(): ChipPool {
  return {
    ...borrow(chipThreads),
    get waiting() {
      return chipThreads.waiting;
    },
  };
}

/** The service that closes a borrowed pool loses it; the others keep it. */
function borrow<Task>(pool: Pool<Task>): Pool<Task> {
  const closed = Promise.withResolvers<never>();
  closed.promise.catch(() => {});
  return {
    run: (task, who) => Promise.race([pool.run(task, who), closed.promise]),
    close: async () => closed.reject(new WorkerLostError()),
  };
}

export type TestService = Awaited<ReturnType<typeof startTestService>>;
