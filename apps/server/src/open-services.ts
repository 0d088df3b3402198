import type { Config } from "./config.ts";
import { DeliveryWorker, type DeliveryWorkerOptions } from "./delivery/webhooks/delivery-worker.ts";
import { ListenerHub, type ListenerHubOptions } from "./delivery/webhooks/listener-hub.ts";
import { urlSender } from "./delivery/webhooks/send-delivery.ts";
import { createDeliveryFigures, showDeliveries } from "./delivery/webhooks/show-deliveries.ts";
import { keyUsageJob } from "./job-names.ts";
import { SandboxDevices } from "./operations/mcp/finish-sandbox-session.ts";
import type { ProcessRole } from "./operations/operator/process-report.ts";
import { ProcessReporter } from "./operations/operator/process-reporter.ts";
import { type ShowOldestDue, showOldestDue } from "./operations/retention/measure-queues.job.ts";
import type { Core } from "./platform/core.ts";
import { DatabaseClock } from "./platform/db/database-clock.ts";
import { DatabaseProbe } from "./platform/db/database-probe.ts";
import { type Db, openDb } from "./platform/db/db.ts";
import { Listener } from "./platform/db/listener.ts";
import { codeVersion, listMigrations } from "./platform/db/migrate.ts";
import { Quarantine } from "./platform/db/quarantine.ts";
import { showConnections } from "./platform/db/show-connections.ts";
import { Idempotency } from "./platform/http/idempotency.ts";
import { type Clock, secondMs } from "./platform/kernel/clock.ts";
import { RingMember } from "./platform/key-ring/ring-member.ts";
import { createDns, lookUpLocally } from "./platform/lib/dns.ts";
import type { KeyRing } from "./platform/lib/key-ring.ts";
import { describeError, type Log } from "./platform/lib/log.ts";
import { Metrics } from "./platform/lib/metrics.ts";
import { showBuild, watchProcess } from "./platform/lib/process-metrics.ts";
import { exemptHostSet } from "./platform/lib/public-address.ts";
import { createSafeFetch } from "./platform/lib/safe-fetch.ts";
import type { Tracer } from "./platform/lib/tracer.ts";
import { ApiLog } from "./tenants/api-keys/api-log.ts";
import { KeyUsage } from "./tenants/api-keys/key-usage.ts";
import { loadRpTerms } from "./tenants/organizations/rp-terms.ts";
import { openTracing, traceFetch, traceJudge, traceSender } from "./trace-parts.ts";
import { DeviceRegistry, type RegistryOptions } from "./verification/device-socket/registry.ts";
import { createFaceJudge } from "./verification/face/face-judge.ts";
import { faceJudgeSettings } from "./verification/face/face-settings.ts";
import { CurrentTrust } from "./verification/trust/current-trust.ts";
import { type TrustPool, TrustReader } from "./verification/trust/trust-reader.ts";
import { loadConsentTexts } from "./verification/verify/consent-texts.ts";
import { StatusFeed } from "./verification/verify/status-feed.ts";

export type ServiceOptions = {
  config: Config;
  databaseUrl: string;
  ring: KeyRing;
  clock: Clock;
  log: Log;
  role?: ProcessRole;
  /** For tests: authorities to trust instead of Node's, and shorter times. */
  webhooks?: DeliveryWorkerOptions & ListenerHubOptions & { ca?: string };
  /** For tests: shorter times, other threads, another face check or (null) none. */
  verify?: Partial<RegistryOptions>;
  /** For tests: used instead of a new thread. */
  trustPool?: TrustPool;
  /** For tests: time after the start within which jobs first run; null waits for their interval. */
  firstRunWithinMs?: number | null;
};

/** Objects that live as long as the service. */
export type Services = Awaited<ReturnType<typeof openServices>>;

export async function openServices(options: ServiceOptions, role: ProcessRole) {
  const { config, ring, clock, log } = options;
  const databaseUrl = databaseUrlOf(options);
  const metrics = new Metrics();
  const isWatched = config.metricsToken !== "" || config.metricsPort > 0;
  const renderProcess = isWatched ? watchProcess() : async () => "";
  const tracing = openTracing(config, role, log, metrics);
  const tracer = tracing?.tracer ?? null;
  const rpTerms = loadRpTerms(config);
  const consentTexts = loadConsentTexts(config);
  const db = openDatabase(options, tracer);
  const followClock = createClockFollower(options, metrics);
  const { reporter, ringMember } = await joinOthers(options, role, db, metrics, followClock).catch(
    async (error) => {
      await db.close();
      throw error;
    },
  );
  const listener = new Listener(() => config.databaseDirectUrl || databaseUrl(), log);
  showBuild(metrics);
  showConnections(metrics, db, listener);
  const readiness = openReadiness(options, db, ringMember, metrics);
  /** The address is known once the service listens; links are built only after that. */
  const listening = { url: "" };
  const publicUrl = () => (config.publicUrl === "" ? listening.url : config.publicUrl);
  const dns = createDns({ resolvers: config.dnsResolvers, timeoutMs: 2 * secondMs });
  const quarantine = new Quarantine({ db, clock, log, metrics });
  const safeFetch = traceFetch(
    createSafeFetch({
      resolveAddresses: dns.resolveAddresses,
      exemptHosts: exemptHostSet(config.webhookAllowedPrivateHosts),
      resolveExempt: config.dnsResolvers.length > 0 ? dns.resolveAddresses : lookUpLocally,
      ...(options.webhooks?.ca === undefined ? {} : { ca: options.webhooks.ca }),
    }),
    tracer,
  );
  const core: Core = { config, db, clock, dns, ring, log, metrics, quarantine, safeFetch, publicUrl };
  const trust = new CurrentTrust(db);
  const showOldest: ShowOldestDue = showOldestDue(core);
  const figures = createDeliveryFigures(metrics, showOldest);
  const deliveryWorker = new DeliveryWorker(
    core,
    traceSender(urlSender(safeFetch, config.webhookMaxInFlight), tracer),
    figures,
    options.webhooks,
  );
  showDeliveries(metrics, deliveryWorker);
  const listeners = new ListenerHub(core, options.webhooks);
  return {
    core,
    followClock,
    ...readiness,
    tracing,
    tracer,
    rpTerms,
    consentTexts,
    ringMember,
    listener,
    listening,
    safeFetch,
    trust,
    trustReader: new TrustReader(options.trustPool),
    isWatched,
    usage: new KeyUsage(core, keyUsageJob),
    apiLog: new ApiLog(core),
    idempotency: new Idempotency(db, ring, clock),
    showOldest,
    deliveryWorker,
    listeners,
    listenerWorker: new DeliveryWorker(core, listeners, figures, options.webhooks),
    statusFeed: new StatusFeed(core),
    devices: new DeviceRegistry(core, trust, listener, {
      faceJudge: traceJudge(createFaceJudge({ log, metrics, ...faceJudgeSettings(config) }), tracer),
      ...options.verify,
    }),
    sandboxDevices: new SandboxDevices(core, () => listening.url),
    reporter,
    metricsOf: async () => `${await readiness.renderSeries()}${await renderProcess()}`,
  };
}

/** Registers this process with the others, after it has read the clock of the database. */
async function joinOthers(
  { config, ring, clock, log }: ServiceOptions,
  role: ProcessRole,
  db: Db,
  metrics: Metrics,
  followClock: (db: Db) => Promise<void>,
) {
  await followClock(db);
  const reporter = new ProcessReporter({ clock, log, metrics }, { role, faceWorkers: config.faceWorkers });
  const { version, startedAt } = reporter;
  const self = { role, version, codeVersion: codeVersion(), startedAt };
  const ringMember = new RingMember({ db, ring, clock, log, self, report: reporter.report });
  await ringMember.join();
  return { reporter, ringMember };
}

/** Why the process is not ready, for `/readyz` and `/metrics`. */
function openReadiness(options: ServiceOptions, db: Db, ringMember: RingMember, metrics: Metrics) {
  const leaving = { isDraining: false };
  const probe = new DatabaseProbe(databaseUrlOf(options), db, listMigrations(), {
    pooled: isPooled(options.config),
  });
  const notReadyBecause = async () =>
    leaving.isDraining ? "the process is being stopped" : (ringMember.problem ?? probe.problem());
  const showReady = metrics.gauge("assay_ready", "1 while /readyz answers 200, 0 while it answers 503.");
  const renderSeries = async () => {
    showReady((await notReadyBecause()) === null ? 1 : 0);
    return metrics.render();
  };
  return { leaving, probe, notReadyBecause, renderSeries };
}

export const isPooled = (config: Config) => config.databaseDirectUrl !== "";

/** Address for a new connection. SIGHUP may change DATABASE_URL while the service runs. */
const databaseUrlOf =
  ({ config, databaseUrl }: ServiceOptions) =>
  () =>
    config.databaseUrl || databaseUrl;

function openDatabase(options: ServiceOptions, tracer: Tracer | null): Db {
  const { config, log } = options;
  return openDb({
    url: databaseUrlOf(options),
    poolSize: config.databasePoolSize,
    limits: {
      statementMs: config.databaseStatementSeconds * secondMs,
      lockMs: config.databaseLockSeconds * secondMs,
      idleInTransactionMs: config.databaseIdleTransactionSeconds * secondMs,
      connectMs: config.databaseConnectSeconds * secondMs,
    },
    onError: (error) => log.warn("a database connection was lost", describeError(error)),
    tracer,
    named: config.databasePreparedStatements === "named",
    ...(isPooled(config) ? { directUrl: () => config.databaseDirectUrl } : {}),
  });
}

/** A larger difference between the clocks is logged. `assay doctor` uses the same limit. */
const clocksApartMs = 5 * secondMs;

/** Reads the time from the database. The clock of the machine is only compared with it. */
function createClockFollower({ clock, log }: ServiceOptions, metrics: Metrics) {
  metrics.gaugeOf(
    "assay_clock_ahead_seconds",
    "Seconds by which the clock of this machine is ahead of the database's, which the service uses.",
    () => (clock instanceof DatabaseClock ? clock.machineAheadMs / secondMs : null),
  );
  if (!(clock instanceof DatabaseClock)) return async () => {};
  let hasWarned = false;
  return async (db: Db) => {
    await clock.ask(db);
    const isApart = Math.abs(clock.machineAheadMs) > clocksApartMs;
    if (isApart && !hasWarned)
      log.warn("the clock of this machine differs from the database's, which the service uses", {
        seconds: Math.round(clock.machineAheadMs / secondMs),
      });
    hasWarned = isApart;
  };
}

/** Event streams stay open, so they would delay the shutdown. */
export function endStreams(services: Services): void {
  services.statusFeed.stop();
  services.listeners.stop();
}

/** Also closes the services of a start that failed. */
export async function closeServices(services: Services): Promise<void> {
  const { core } = services;
  await services.listenerWorker.stop();
  await Promise.all([services.safeFetch.close(), services.trustReader.close()]);
  await services.listener.stop();
  await services.ringMember.leave();
  await services.probe.close();
  await core.db.close();
  await services.tracing?.exporter.close();
}
