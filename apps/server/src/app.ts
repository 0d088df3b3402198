import { setTimeout as wait } from "node:timers/promises";
import { jobsOfEveryProcess, jobsOfWorkers, wakeByNotification } from "./background-jobs.ts";
import { createApp } from "./create-app.ts";
import { foldEmailsJob, foldInvitationsJob } from "./job-names.ts";
import {
  closeServices,
  endStreams,
  isPooled,
  openServices,
  type ServiceOptions,
  type Services,
} from "./open-services.ts";
import type { Core } from "./platform/core.ts";
import { claimJobRun } from "./platform/db/job-run.store.ts";
import { checkSchema, migrate } from "./platform/db/migrate.ts";
import { checkPooler } from "./platform/db/pooler.ts";
import { listenForMetrics, type Readiness } from "./platform/http/health.ts";
import { openableUrl } from "./platform/http/listen-address.ts";
import type { Server } from "./platform/http/server.ts";
import { showInstallation } from "./platform/installation/show-installation.ts";
import { secondMs } from "./platform/kernel/clock.ts";
import { Scheduler } from "./platform/lib/scheduler.ts";
import { foldEmails } from "./tenants/accounts/fold-emails.job.ts";
import { foldInvitations } from "./tenants/organizations/fold-invitations.job.ts";
import { takeOverTrustFolder } from "./verification/trust/take-over-folder.ts";
import { hasTrustedAuthority } from "./verification/trust/trust.store.ts";

export type Service = {
  /** Address on which it listens, for example http://127.0.0.1:3000. */
  url: string;
  core: Core;
  /** The names of the background jobs that this process runs. */
  jobs: readonly string[];
  /** Runs a background job now, until nothing is left to do. */
  runJob(name: string): Promise<void>;
  /**
   * Prepares the shutdown while requests are still served: reports not ready, stops background work, then
   * asks connected clients to reconnect elsewhere.
   */
  drain(): Promise<void>;
  /** Finishes requests in flight, refuses new ones and waits for background work to end. */
  close(): Promise<void>;
};

/**
 * Connections that the kernel keeps until the process accepts them, one in each round of its event loop. The
 * kernel drops more than these, and their clients try again a second later: Node's 511 drop half of a burst
 * of a thousand.
 */
const maxUnaccepted = 1024;

/** Starts the service. Waits for the database if it does not answer yet, and applies migrations. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { config, role = "all" } = options;
  await prepareSchema(options);
  if (isPooled(config)) await checkPooler(options.databaseUrl, config.databasePreparedStatements);
  const services = await openServices(options, role);
  let app: Server | null = null;
  try {
    const created = await createApp(services, role);
    app = created.app;
    return await runService(services, created, options);
  } catch (error) {
    // Open connections would keep the process alive and disturb the shutdown of an embedded database.
    endStreams(services);
    await app?.close();
    await closeServices(services);
    throw error;
  }
}

async function runService(
  services: Services,
  { app, readiness }: { app: Server; readiness: Readiness },
  { config, role = "all", firstRunWithinMs }: ServiceOptions,
): Promise<Service> {
  const { core, listener, statusFeed, deliveryWorker, metricsOf } = services;
  const { log } = core;
  showInstallation(core.metrics, config, core.clock);
  await prepareTrust(core);
  // Accounts are found by their folded address, so fold all of them before the first request.
  await foldAllEmails(core);
  const work = role === "api" ? [] : jobsOfWorkers(services);
  const jobs = [...jobsOfEveryProcess(services), ...work];
  const scheduler = new Scheduler(jobs, {
    ...core,
    tracer: services.tracer,
    claim: (job) => claimJobRun(core.db, job, core.clock.now()),
    firstRunWithinMs,
  });
  wakeByNotification(services, scheduler, jobs);
  services.reporter.begin({
    problem: () => services.ringMember.problem,
    isOverloaded: readiness.isOverloaded,
    jobs: () => scheduler.runs,
  });
  await services.ringMember.refresh();
  statusFeed.listen(listener);
  if (role !== "worker") {
    services.listeners.listen(listener, (endpointId) => services.listenerWorker.look(endpointId));
    services.listenerWorker.start(listener);
  }
  await listener.start();
  services.listening.url = openableUrl(
    await app.listen({ port: config.port, host: config.host, backlog: maxUnaccepted }),
  );
  const metricsServer =
    config.metricsPort > 0 ? await listenForMetrics(metricsOf, config.host, config.metricsPort) : null;
  scheduler.start();
  if (role !== "api") deliveryWorker.start(listener);

  /** Jobs in progress are finished or released at once, so that another process can take them. */
  let resting: Promise<unknown> | null = null;
  const stopWork = () => {
    if (resting === null) core.db.endBackgroundWork((config.shutdownGraceSeconds * secondMs) / 2);
    resting ??= Promise.all([scheduler.rest(work.map(({ name }) => name)), deliveryWorker.stop()]);
    return resting;
  };
  const drain = async () => {
    services.leaving.isDraining = true;
    // A worker serves no requests, so it does not wait for a load balancer.
    const { drainSeconds, drainAttemptSeconds } = config;
    log.info("draining", { seconds: role === "worker" ? 0 : drainSeconds });
    await Promise.all([stopWork(), role === "worker" ? null : wait(drainSeconds * secondMs)]);
    endStreams(services);
    await services.devices.leave(role === "worker" ? 0 : drainAttemptSeconds * secondMs);
  };
  const close = async () => {
    endStreams(services);
    services.sandboxDevices.stop();
    await Promise.all([stopWork(), app.close()]);
    await scheduler.stop();
    await Promise.all([services.usage.flush(), services.apiLog.flush()]);
    metricsServer?.close();
    await closeServices(services);
  };
  let drained: Promise<void> | null = null;
  let closed: Promise<void> | null = null;
  return {
    url: services.listening.url,
    core,
    jobs: jobs.map((job) => job.name),
    runJob: (name) => scheduler.run(name),
    drain: () => {
      drained ??= drain();
      return drained;
    },
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}

async function prepareSchema({ config, databaseUrl, log }: ServiceOptions): Promise<void> {
  const options = { waitForDatabaseMs: config.databaseStartWaitSeconds * secondMs, warn: log.warn };
  const url = config.databaseDirectUrl || databaseUrl;
  if (config.skipMigrations) return checkSchema(url, options);
  const applied = await migrate(url, {
    ...options,
    onPostponed: (migration, processes) =>
      log.info("a migration waits until processes of an older release have ended", {
        migration,
        processes: processes.join(", "),
      }),
  });
  if (applied.length > 0) log.info("database migrated", { applied: applied.join(" ") });
}

/** Imports the trust folder of an older version, and warns if no issuing authority is trusted. */
async function prepareTrust({ db, config, clock, log }: Core): Promise<void> {
  const taken = await takeOverTrustFolder(db, config.dataDir, clock.now(), (problem) => log.warn(problem));
  if (taken > 0) log.info("the trust folder was taken over into the database", { files: taken });
  if (!(await hasTrustedAuthority(db)))
    log.warn(
      "no issuing authority is trusted, so only sandbox sessions can succeed: import a master list with `assay trust import`",
    );
}

async function foldAllEmails(core: Core): Promise<void> {
  while ((await foldEmails(core, foldEmailsJob)) > 0);
  await foldInvitations(core, foldInvitationsJob);
}
