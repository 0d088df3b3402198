import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { type ProcessRole, type ServiceOptions, startService } from "../../src/app.ts";
import { type Config, loadConfig } from "../../src/config.ts";
import type { Clock } from "../../src/kernel/clock.ts";
import { KeyRing, parseRing } from "../../src/lib/key-ring.ts";
import { createLog } from "../../src/lib/log.ts";
import { Api } from "./api.ts";
import { createTestDatabase } from "./database.ts";
import { skippingMigrations } from "./process.ts";

/** A clock that only moves when told to. It starts at a real-looking moment that no test depends on. */
export class TestClock implements Clock {
  #now = new Date("2026-03-01T09:30:00.000Z").getTime();

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

export const testRing = `1:${Buffer.alloc(32, 1).toString("base64")}`;

/**
 * A running service of its own for a test file: real HTTP on a free port, a real PostgreSQL database of its own, a clock
 * that the test moves. Everything is taken down after the file's tests.
 */
export async function startTestService(
  options: {
    env?: Record<string, string>;
    config?: Partial<Config>;
    databaseUrl?: string;
    clock?: Clock;
    /** `api` leaves background work to the test, so that what is due stays due. */
    role?: ProcessRole;
    webhooks?: ServiceOptions["webhooks"];
    verify?: ServiceOptions["verify"];
  } = {},
) {
  const databaseUrl = options.databaseUrl ?? (await createTestDatabase()).url;
  const dataDir = mkdtempSync(join(tmpdir(), "assay-test-"));
  const clock = options.clock ?? new TestClock();
  const logLines: string[] = [];
  const config = {
    ...loadConfig({
      PORT: "0",
      DATA_DIR: dataDir,
      DATABASE_URL: databaseUrl,
      SECRET_KEYS: testRing,
      DATABASE_POOL_SIZE: "8",
      // A busy machine is no overload of the service that is tested on it.
      REQUEST_MAX_WAIT_MS: "10000",
      ...skippingMigrations,
      ...options.env,
    }),
    ...options.config,
  };
  const service = await startService({
    config,
    databaseUrl,
    ring: new KeyRing(parseRing(config.secretKeys)),
    clock,
    ...(options.role ? { role: options.role } : {}),
    log: createLog({ level: "debug", write: (line) => logLines.push(line), now: () => new Date() }),
    ...(options.webhooks === undefined ? {} : { webhooks: options.webhooks }),
    ...(options.verify === undefined ? {} : { verify: options.verify }),
  });
  after(async () => {
    await service.close();
    rmSync(dataDir, { recursive: true, force: true });
  });
  return {
    ...service,
    service,
    databaseUrl,
    dataDir,
    clock: clock as TestClock,
    api: new Api(service.url),
    logLines,
  };
}

export type TestService = Awaited<ReturnType<typeof startTestService>>;
