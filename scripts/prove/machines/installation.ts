import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { Balancer } from "../../../apps/server/test/support/balancer.ts";
import { createAuthority } from "../../../apps/server/test/support/certificate.ts";
import { freePort } from "../../../apps/server/test/support/free-port.ts";
import { findPgbouncer, openPgbouncer } from "../../../apps/server/test/support/pgbouncer.ts";
import { assay, launchAssay } from "../../../apps/server/test/support/process.ts";
import { openReceiver } from "../../../apps/server/test/support/receiver.ts";
import { DatabasePair, openPrimaryAddress } from "./database-pair.ts";

export const members = ["api A", "api B", "worker"] as const;
export type Member = (typeof members)[number];
/** The folder with the code of a release. */
type Release = string;
type Running = { process: ReturnType<typeof launchAssay>; url: string; release: Release; port: number };

/** A release from before the bundle runs from its source. */
const mainOf = (release: Release) => {
  const bundled = path.join(release, "apps/server/dist/main.js");
  return existsSync(bundled) ? bundled : path.join(release, "apps/server/src/main.ts");
};
const startsWithinMs = 300_000;

/**
 * Two processes for requests and one for jobs, each as on a separate machine, with everything around them.
 */
export class Installation {
  readonly balancer: Balancer;
  readonly receiver: Awaited<ReturnType<typeof openReceiver>>;
  readonly pair: DatabasePair;
  readonly pooler: Awaited<ReturnType<typeof openPgbouncer>> | null;
  readonly #way: Awaited<ReturnType<typeof openPrimaryAddress>>;
  readonly #folder: string;
  readonly #running = new Map<Member, Running>();
  readonly #common: Record<string, string>;

  private constructor(parts: {
    folder: string;
    balancer: Balancer;
    receiver: Installation["receiver"];
    pair: DatabasePair;
    way: Awaited<ReturnType<typeof openPrimaryAddress>>;
    pooler: Installation["pooler"];
    caFile: string;
  }) {
    this.#folder = parts.folder;
    this.balancer = parts.balancer;
    this.receiver = parts.receiver;
    this.pair = parts.pair;
    this.#way = parts.way;
    this.pooler = parts.pooler;
    this.#common = {
      SECRET_KEYS: `1:${Buffer.alloc(32, 7).toString("base64")}`,
      PUBLIC_URL: this.balancer.url,
      SKIP_MIGRATIONS: "true",
      DRAIN_SECONDS: "1",
      DRAIN_ATTEMPT_SECONDS: "10",
      FACE_WORKERS: "1",
      WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1",
      NODE_EXTRA_CA_CERTS: parts.caFile,
      LOG_LEVEL: "warn",
    };
  }

  static async open(folder: string): Promise<Installation> {
    const authority = createAuthority();
    const caFile = path.join(folder, "ca.pem");
    writeFileSync(caFile, authority.certificate);
    const pair = await DatabasePair.start(path.join(folder, "database"));
    const way = await openPrimaryAddress(pair);
    const program = findPgbouncer();
    const pooler = program === null ? null : await openPgbouncer(way.url, program);
    const balancer = await Balancer.open();
    const receiver = await openReceiver(authority);
    return new Installation({ folder, balancer, receiver, pair, way, pooler, caFile });
  }

  /** The first goes through the pooler; all reach the current primary at one address. */
  #environment(member: Member): Record<string, string> {
    const dataDir = path.join(this.#folder, member.replace(" ", "-"));
    mkdirSync(dataDir, { recursive: true });
    const own: Record<string, string> =
      member === "api A" && this.pooler !== null
        ? {
            DATABASE_URL: this.pooler.url,
            DATABASE_DIRECT_URL: this.#way.url,
            DATABASE_PREPARED_STATEMENTS: findPgbouncer()?.keepsNames === true ? "named" : "off",
          }
        : { DATABASE_URL: this.#way.url };
    return { ...this.#common, ...own, DATA_DIR: dataDir };
  }

  /** `assay ARGS` on a machine that runs nothing else. */
  command(args: readonly string[], release: Release) {
    const { DATA_DIR: _, ...environment } = this.#environment("worker");
    const dataDir = path.join(this.#folder, "command");
    mkdirSync(dataDir, { recursive: true });
    return assay(args, { ...environment, DATA_DIR: dataDir }, mainOf(release));
  }

  async start(member: Member, release: Release, port?: number): Promise<void> {
    const own = port ?? (await freePort());
    const url = `http://127.0.0.1:${own}`;
    const role = member === "worker" ? "worker" : "api";
    const launched = launchAssay(
      { ...this.#environment(member), PORT: String(own) },
      { file: mainOf(release), role },
    );
    this.#running.set(member, { process: launched, url, release, port: own });
    const deadline = performance.now() + startsWithinMs;
    // A worker answers the same question at its port.
    while (!(await isReady(url))) {
      const { exitCode, signalCode } = launched.child;
      if (exitCode !== null || signalCode !== null || performance.now() > deadline)
        throw new Error(`${member} did not start:\n${launched.output()}`);
      await wait(100);
    }
    if (role === "api") this.balancer.add(url);
  }

  /** kill -9, and a restart at the same address a second later, as by a supervisor. */
  async crash(member: Member): Promise<void> {
    const { process, release, port } = this.#get(member);
    await process.stop("SIGKILL");
    await wait(1000);
    await this.start(member, release, port);
  }

  /** First the new process, then the end of the old one. */
  async replace(member: Member, release: Release): Promise<void> {
    const old = this.#get(member);
    await this.start(member, release);
    const code = await old.process.stop();
    if (code !== 0) throw new Error(`${member} ended with ${code}:\n${old.process.output().slice(-2000)}`);
    this.balancer.remove(old.url);
  }

  #get(member: Member): Running {
    const running = this.#running.get(member);
    if (running === undefined) throw new Error(`${member} does not run`);
    return running;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#running.values()].map(({ process }) => process.stop("SIGKILL")));
    this.pooler?.close();
    this.#way.close();
    this.balancer.close();
    await this.receiver.close();
    await this.pair.close();
  }
}

function isReady(url: string): Promise<boolean> {
  return fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5000) }).then(
    ({ ok }) => ok,
    () => false,
  );
}
