import { setTimeout as wait } from "node:timers/promises";
import { routes } from "@assay/contract/routes";
import type { Config } from "./config.ts";
import { setAsideAs } from "./delivery/webhooks/delivery.store.ts";
import { DeliveryWorker, type DeliveryWorkerOptions } from "./delivery/webhooks/delivery-worker.ts";
import { canReceiveResults } from "./delivery/webhooks/endpoint.store.ts";
import { ListenerHub, type ListenerHubOptions } from "./delivery/webhooks/listener-hub.ts";
import { createPurgeHistory, scrubPayloads } from "./delivery/webhooks/purge-history.job.ts";
import { removeAbsentListeners } from "./delivery/webhooks/remove-absent-listeners.job.ts";
import { urlSender } from "./delivery/webhooks/send-delivery.ts";
import { createDeliveryFigures, showDeliveries } from "./delivery/webhooks/show-deliveries.ts";
import { webhookRoutes } from "./delivery/webhooks/webhooks.routes.ts";
import { analyticsRoutes } from "./operations/analytics/analytics.routes.ts";
import { SandboxDevices } from "./operations/mcp/finish-sandbox-session.ts";
import { mcpEndpoint } from "./operations/mcp/mcp.routes.ts";
import { operatorRoutes } from "./operations/operator/operator.routes.ts";
import { isOperator } from "./operations/operator/operator.store.ts";
import { listReports } from "./operations/operator/process-report.store.ts";
import { machinesOf } from "./operations/operator/process-report.ts";
import { ProcessReporter } from "./operations/operator/process-reporter.ts";
import { dropDivisionChecks } from "./operations/retention/division-check.store.ts";
import {
  measureQueues,
  type ShowOldestDue,
  showOldestDue,
} from "./operations/retention/measure-queues.job.ts";
import { measureBacklogJob, retentionJobs } from "./operations/retention/retain-sessions.job.ts";
import { searchRoutes } from "./operations/search/search.routes.ts";
import { auditRoutes } from "./platform/audit/audit.routes.ts";
import type { Core } from "./platform/core.ts";
import { DatabaseClock } from "./platform/db/database-clock.ts";
import { DatabaseProbe } from "./platform/db/database-probe.ts";
import { type Db, openDb } from "./platform/db/db.ts";
import { claimJobRun } from "./platform/db/job-run.store.ts";
import { Listener } from "./platform/db/listener.ts";
import { checkSchema, codeVersion, listMigrations, migrate } from "./platform/db/migrate.ts";
import { checkPooler } from "./platform/db/pooler.ts";
import { type Expired, retryChannel } from "./platform/db/set-aside.store.ts";
import { SetAside } from "./platform/db/set-aside.ts";
import { showConnections } from "./platform/db/show-connections.ts";
import { Admission } from "./platform/http/admission.ts";
import { mountAppFile } from "./platform/http/app-file.ts";
import { connectionLimit, openFilesLimit } from "./platform/http/connection-limit.ts";
import { givingToDashboard } from "./platform/http/give-to-dashboard.ts";
import { listenForMetrics, mountHealth, mountMetrics, type Readiness } from "./platform/http/health.ts";
import { expiredAnswers } from "./platform/http/idempotency.store.ts";
import { Idempotency } from "./platform/http/idempotency.ts";
import type { IdentifyOptions } from "./platform/http/identify.ts";
import { openableUrl } from "./platform/http/listen-address.ts";
import { type Binding, mount } from "./platform/http/mount.ts";
import { mountMcp } from "./platform/http/mount-mcp.ts";
import { enableSockets } from "./platform/http/mount-socket.ts";
import { pageHeaders } from "./platform/http/page-headers.ts";
import { mountPages } from "./platform/http/pages.ts";
import { createServer, type Server } from "./platform/http/server.ts";
import { writeSessionCookie } from "./platform/http/session-cookie.ts";
import { mountWebApp } from "./platform/http/web-apps.ts";
import { mountRobots, mountSecurityText, mountWellKnown } from "./platform/http/well-known.ts";
import { showInstallation } from "./platform/installation/show-installation.ts";
import { type Clock, dayMs, hourMs, later, minuteMs, secondMs } from "./platform/kernel/clock.ts";
import { RingMember } from "./platform/key-ring/ring-member.ts";
import { ringChannel } from "./platform/key-ring/ring-state.store.ts";
import { goneAfterMs, reportEveryMs } from "./platform/key-ring/ring-state.ts";
import { createDns, lookUpLocally } from "./platform/lib/dns.ts";
import type { KeyRing } from "./platform/lib/key-ring.ts";
import { describeError, type Log } from "./platform/lib/log.ts";
import { Metrics } from "./platform/lib/metrics.ts";
import { NameLookups } from "./platform/lib/name-lookups.ts";
import { showBuild } from "./platform/lib/process-metrics.ts";
import { exemptHostSet } from "./platform/lib/public-address.ts";
import { createSafeFetch } from "./platform/lib/safe-fetch.ts";
import { type Job, Scheduler } from "./platform/lib/scheduler.ts";
import type { Tracer } from "./platform/lib/tracer.ts";
import { removeMailFiles } from "./platform/mails/mail-files.ts";
import { mailChannel } from "./platform/mails/queue-mail.ts";
import { createMailTransport, sendDueMails } from "./platform/mails/send-mails.job.ts";
import { accountRoutes } from "./tenants/accounts/accounts.routes.ts";
import { answerMailRequests } from "./tenants/accounts/answer-mail-requests.job.ts";
import { foldEmails } from "./tenants/accounts/fold-emails.job.ts";
import { purgeAccountLeftovers } from "./tenants/accounts/purge-accounts.job.ts";
import { mailRequestChannel } from "./tenants/accounts/request-link.ts";
import { expiredUserSessions, findMembership } from "./tenants/accounts/user.store.ts";
import { authenticateUser } from "./tenants/accounts/user-session.ts";
import { apiKeyRoutes } from "./tenants/api-keys/api-keys.routes.ts";
import { authenticateKey } from "./tenants/api-keys/authenticate-key.ts";
import { KeyUsage } from "./tenants/api-keys/key-usage.ts";
import { expiredChallenges, hasActiveDomain } from "./tenants/domains/domain.store.ts";
import { domainRoutes } from "./tenants/domains/domains.routes.ts";
import { recheckDomains } from "./tenants/domains/recheck-domains.job.ts";
import { organizationDeletionRoutes } from "./tenants/organizations/deletion.routes.ts";
import { foldInvitations } from "./tenants/organizations/fold-invitations.job.ts";
import { goLiveRoutes } from "./tenants/organizations/go-live.routes.ts";
import { deleteOrganizations } from "./tenants/organizations/hard-delete.job.ts";
import { expiredInvitations, isInvited } from "./tenants/organizations/invitation.store.ts";
import { organizationRoutes } from "./tenants/organizations/organizations.routes.ts";
import { loadRpTerms } from "./tenants/organizations/rp-terms.ts";
import { traceFetch, traceJudge, traceSender } from "./trace-parts.ts";
import { deleteAttemptSockets } from "./verification/attempts/attempt-socket.store.ts";
import { bindVerifySocket } from "./verification/device-socket/device-socket.routes.ts";
import { DeviceRegistry, type RegistryOptions } from "./verification/device-socket/registry.ts";
import { createFaceJudge } from "./verification/face/face-judge.ts";
import { faceJudgeSettings } from "./verification/face/face-settings.ts";
import { countSessionOutcomes } from "./verification/sessions/count-outcomes.job.ts";
import { expireSessions } from "./verification/sessions/expire-sessions.job.ts";
import { canReadDocuments } from "./verification/sessions/reading-ways.ts";
import { sessionRoutes } from "./verification/sessions/sessions.routes.ts";
import { CurrentTrust } from "./verification/trust/current-trust.ts";
import { refreshTrust } from "./verification/trust/refresh-trust.job.ts";
import { createShowTrust } from "./verification/trust/show-trust.ts";
import { takeOverTrustFolder } from "./verification/trust/take-over-folder.ts";
import { trustsAnybody } from "./verification/trust/trust.store.ts";
import { TrustReader } from "./verification/trust/trust-reader.ts";
import { deleteConsents } from "./verification/verify/consent.store.ts";
import { loadConsentTexts } from "./verification/verify/consent-texts.ts";
import { findFrameAncestor } from "./verification/verify/frame-ancestor.ts";
import { giveToPage, isVerifyPage } from "./verification/verify/given-to-page.ts";
import { deleteHandoffTokens } from "./verification/verify/handoff.store.ts";
import { LogoCache } from "./verification/verify/logo-cache.ts";
import { appBannerOf, wellKnownDocuments } from "./verification/verify/reader-apps.ts";
import { StatusFeed } from "./verification/verify/status-feed.ts";
import { verifyRoutes } from "./verification/verify/verify.routes.ts";
import { openWatch } from "./watch-process.ts";

const keyUsageJob = "flush-key-usage";
const sendMailsJob = "send-mails";
const answerMailsJob = "answer-mail-requests";
const expireSessionsJob = "expire-sessions";
const reportProcessJob = "report-process";

/** `api` answers requests, `worker` runs the background work, `all` does both. */
export type ProcessRole = "api" | "worker" | "all";

export type Service = {
  /** Where it listens, for example http://127.0.0.1:3000. */
  url: string;
  core: Core;
  /** The names of the background jobs that this process runs. */
  jobs: readonly string[];
  /** Runs a background job now, until nothing is left to do. */
  runJob(name: string): Promise<void>;
  /** Prepares the end while requests are still served: not ready, no more background work, then everybody who is connected is told to go on elsewhere. */
  drain(): Promise<void>;
  /** Finishes requests in flight, refuses new ones, lets background work come to rest. */
  close(): Promise<void>;
};

export type ServiceOptions = {
  config: Config;
  databaseUrl: string;
  ring: KeyRing;
  clock: Clock;
  log: Log;
  role?: ProcessRole;
  /** For tests: authorities to trust in place of Node's own, and shorter times. */
  webhooks?: DeliveryWorkerOptions & ListenerHubOptions & { ca?: string };
  /** For tests: shorter times, other threads, another face check or (null) none. */
  verify?: Partial<RegistryOptions>;
  /** For tests: how soon after the start jobs run for the first time, or (null) not before their interval has passed. */
  firstRunWithinMs?: number | null;
};

/** Starts the service. Waits for the database where it is not there yet; migrations are applied here. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { config, role = "all" } = options;
  await prepareSchema(options);
  if (isPooled(config)) await checkPooler(options.databaseUrl, config.databasePreparedStatements);
  const parts = await openParts(options, role);
  let app: Server | null = null;
  try {
    const created = await createApp(parts, role);
    app = created.app;
    return await runService(parts, created, options);
  } catch (error) {
    // What is open would keep the process from ending, and an embedded database from ending quietly.
    endStreams(parts);
    await app?.close();
    await closeParts(parts);
    throw error;
  }
}

async function runService(
  parts: Parts,
  { app, readiness }: { app: Server; readiness: Readiness },
  { config, role = "all", firstRunWithinMs }: ServiceOptions,
): Promise<Service> {
  const { core, listener, statusFeed, deliveryWorker, metricsOf } = parts;
  const { log } = core;
  showInstallation(core.metrics, config, core.clock);
  await prepareTrust(core);
  // Nobody is found by an address that is not folded yet, so this is done before anybody asks.
  await foldAllEmails(core);
  const work = role === "api" ? [] : jobsOfWorkers(parts);
  const jobs = [...jobsOfEveryProcess(parts), ...work];
  const scheduler = new Scheduler(jobs, {
    ...core,
    tracer: parts.tracer,
    claim: (job) => claimJobRun(core.db, job, core.clock.now()),
    firstRunWithinMs,
  });
  wakeByNotification(parts, scheduler, jobs);
  parts.reporter.begin({
    problem: () => parts.ringMember.problem,
    isOverloaded: readiness.isOverloaded,
    jobs: () => scheduler.runs,
  });
  await parts.ringMember.refresh();
  await warnOfMailFiles(core);
  statusFeed.listen(listener);
  if (role !== "worker") {
    parts.listeners.listen(listener, (endpointId) => parts.listenerWorker.look(endpointId));
    parts.listenerWorker.start(listener);
  }
  await listener.start();
  parts.listening.url = openableUrl(await app.listen({ port: config.port, host: config.host }));
  const metricsServer =
    config.metricsPort > 0 ? await listenForMetrics(metricsOf, config.host, config.metricsPort) : null;
  scheduler.start();
  if (role !== "api") deliveryWorker.start(listener);

  /** What is under way is finished or given back at once, so that another process takes it. */
  let resting: Promise<unknown> | null = null;
  const stopWork = () => {
    if (resting === null) core.db.endBackgroundWork((config.shutdownGraceSeconds * secondMs) / 2);
    resting ??= Promise.all([scheduler.rest(work.map(({ name }) => name)), deliveryWorker.stop()]);
    return resting;
  };
  const drain = async () => {
    parts.leaving.isDraining = true;
    // Nobody sends requests to a worker.
    const { drainSeconds, drainAttemptSeconds } = config;
    log.info("draining", { seconds: role === "worker" ? 0 : drainSeconds });
    await Promise.all([stopWork(), role === "worker" ? null : wait(drainSeconds * secondMs)]);
    endStreams(parts);
    await parts.devices.leave(role === "worker" ? 0 : drainAttemptSeconds * secondMs);
  };
  const close = async () => {
    endStreams(parts);
    parts.sandboxDevices.stop();
    await Promise.all([stopWork(), app.close()]);
    await scheduler.stop();
    await parts.usage.flush();
    metricsServer?.close();
    await closeParts(parts);
  };
  let drained: Promise<void> | null = null;
  let closed: Promise<void> | null = null;
  return {
    url: parts.listening.url,
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

/** They would stay open and hold up the end. */
function endStreams(parts: Parts): void {
  parts.statusFeed.stop();
  parts.listeners.stop();
}

/** Also of a service that did not come up. */
async function closeParts(parts: Parts): Promise<void> {
  const { core } = parts;
  await parts.listenerWorker.stop();
  await Promise.all([parts.safeFetch.close(), parts.trustReader.close()]);
  await parts.listener.stop();
  await parts.ringMember.leave();
  await parts.probe.close();
  await core.db.close();
  await parts.tracing?.exporter.close();
}

async function prepareSchema({ config, databaseUrl, log }: ServiceOptions): Promise<void> {
  const options = { waitForDatabaseMs: config.databaseStartWaitSeconds * secondMs, tell: log.warn };
  const url = config.databaseDirectUrl || databaseUrl;
  if (config.skipMigrations) return checkSchema(url, options);
  const applied = await migrate(url, {
    ...options,
    onPutOff: (migration, processes) =>
      log.info("a migration waits until processes of an older release have ended", {
        migration,
        processes: processes.join(", "),
      }),
  });
  if (applied.length > 0) log.info("database migrated", { applied: applied.join(" ") });
}

/** What an older version kept in a folder is taken over, and whoever starts a service that can verify nobody is told so. */
async function prepareTrust({ db, config, clock, log }: Core): Promise<void> {
  const taken = await takeOverTrustFolder(db, config.dataDir, clock.now(), (problem) => log.warn(problem));
  if (taken > 0) log.info("the trust folder was taken over into the database", { files: taken });
  if (!(await trustsAnybody(db)))
    log.warn(
      "no issuing authority is trusted, so only sandbox sessions can succeed: import a master list with `assay trust import`",
    );
}

/** Seconds that clocks may be apart without anybody being told; the same as for `assay doctor`. */
const clocksApartMs = 5 * secondMs;

/** Asks the database what time it is. What the clock of the machine says is shown, and counts for nothing. */
function createClockFollower({ clock, log }: ServiceOptions, metrics: Metrics) {
  metrics.gaugeOf(
    "assay_clock_ahead_seconds",
    "How far the clock of this machine is ahead of the database's, which counts.",
    () => (clock instanceof DatabaseClock ? clock.machineAheadMs / secondMs : null),
  );
  if (!(clock instanceof DatabaseClock)) return async () => {};
  let isTold = false;
  return async (db: Db) => {
    await clock.ask(db);
    const isApart = Math.abs(clock.machineAheadMs) > clocksApartMs;
    if (isApart && !isTold)
      log.warn("the clock of this machine is not that of the database, which counts", {
        seconds: Math.round(clock.machineAheadMs / secondMs),
      });
    isTold = isApart;
  };
}

/** A mail that is a file is on the disk of whichever machine took it, where nobody may look for it. */
async function warnOfMailFiles({ config, db, clock, log }: Core): Promise<void> {
  if (config.smtpUrl !== "") return;
  const machines = machinesOf(await listReports(db, later(clock.now(), -goneAfterMs)));
  if (machines.length > 1)
    log.warn("several machines run, and mails are files on whichever of them takes each: set SMTP_URL", {
      machines: machines.join(", "),
    });
}

const foldEmailsJob = "fold-emails";
const foldInvitationsJob = "fold-invitations";

async function foldAllEmails(core: Core): Promise<void> {
  while ((await foldEmails(core, foldEmailsJob)) > 0);
  await foldInvitations(core, foldInvitationsJob);
}

/** What lives as long as the service does. */
type Parts = Awaited<ReturnType<typeof openParts>>;

async function openParts(options: ServiceOptions, role: ProcessRole) {
  const { config, databaseUrl, ring, clock, log } = options;
  const metrics = new Metrics();
  const { isWatched, processWatch, tracing } = openWatch(config, role, log, metrics);
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
  const listener = new Listener(config.databaseDirectUrl || databaseUrl, log);
  showBuild(metrics);
  showConnections(metrics, db, listener);
  const readiness = openReadiness(options, db, ringMember, metrics);
  /** The address is known only once the service listens, and links are made only after that. */
  const listening = { url: "" };
  const publicUrl = () => (config.publicUrl === "" ? listening.url : config.publicUrl);
  const dns = createDns({ resolvers: config.dnsResolvers, timeoutMs: 2 * secondMs });
  const setAside = new SetAside({ db, clock, log, metrics });
  const core: Core = { config, db, clock, dns, ring, log, metrics, setAside, publicUrl };
  const safeFetch = traceFetch(
    createSafeFetch({
      resolveAddresses: dns.resolveAddresses,
      exemptHosts: exemptHostSet(config.webhookAllowedPrivateHosts),
      resolveExempt: config.dnsResolvers.length > 0 ? dns.resolveAddresses : lookUpLocally,
      ...(options.webhooks?.ca === undefined ? {} : { ca: options.webhooks.ca }),
    }),
    tracer,
  );
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
    trustReader: new TrustReader(),
    isWatched,
    usage: new KeyUsage(core, keyUsageJob),
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
    metricsOf: async () => `${await readiness.renderSeries()}${await processWatch.render()}`,
  };
}

/** Makes this process known to the others, by the clock of the database. */
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

/** Why requests should go elsewhere, as `/readyz` answers and the series of `/metrics` show. */
function openReadiness(
  { databaseUrl, config }: ServiceOptions,
  db: Db,
  ringMember: RingMember,
  metrics: Metrics,
) {
  const leaving = { isDraining: false };
  const probe = new DatabaseProbe(databaseUrl, db, listMigrations(), { pooled: isPooled(config) });
  const notReadyBecause = async () =>
    leaving.isDraining ? "the process is being stopped" : (ringMember.problem ?? probe.problem());
  const showReady = metrics.gauge("assay_ready", "1 while /readyz answers 200, 0 while it answers 503.");
  const renderSeries = async () => {
    showReady((await notReadyBecause()) === null ? 1 : 0);
    return metrics.render();
  };
  return { leaving, probe, notReadyBecause, renderSeries };
}

const isPooled = (config: Config) => config.databaseDirectUrl !== "";

function openDatabase({ config, databaseUrl, log }: ServiceOptions, tracer: Tracer | null): Db {
  return openDb({
    url: databaseUrl,
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
    ...(isPooled(config) ? { directUrl: config.databaseDirectUrl } : {}),
  });
}

/** The one list of routes. */
function bindRoutes(parts: Parts, readiness: Readiness): Binding[] {
  const { core, rpTerms, consentTexts, usage, statusFeed, safeFetch, trust, trustReader } = parts;
  const logos = new LogoCache(core, safeFetch);
  const lookups = new NameLookups();
  const bindings = [
    ...accountRoutes(core, { isInvited }),
    ...organizationRoutes(core, (organizationId, url) => logos.find(organizationId, url)),
    ...domainRoutes(core, lookups),
    ...goLiveRoutes(core, {
      terms: rpTerms,
      hasActiveDomain,
      trustsAnybody,
      canReceiveResults,
      canReadDocuments: canReadDocuments(core.config),
    }),
    ...organizationDeletionRoutes(core),
    ...apiKeyRoutes(core, usage),
    ...auditRoutes(core),
    ...searchRoutes(core),
    ...sessionRoutes(core),
    ...verifyRoutes(core, consentTexts, statusFeed, logos),
    ...analyticsRoutes(core),
    ...webhookRoutes(core, safeFetch, parts.listeners, lookups),
    ...operatorRoutes(core, { readiness, self: parts.reporter, trust, trustReader, mailJob: sendMailsJob }),
  ];
  checkBindings(bindings);
  return bindings;
}

/** Every process that answers requests counts them, so every one writes its counts; every one seals with the ring. */
function jobsOfEveryProcess(parts: Parts): Job[] {
  const { core, usage, ringMember, trust, trustReader, isWatched } = parts;
  return [
    {
      name: keyUsageJob,
      everyMs: secondMs,
      run: async () => {
        await usage.retry();
        await usage.flush();
        return 0;
      },
    },
    {
      name: reportProcessJob,
      everyMs: reportEveryMs,
      run: async () => {
        await parts.followClock(core.db);
        await ringMember.refresh();
        return 0;
      },
    },
    ...(isWatched
      ? [{ name: "show-trust", everyMs: minuteMs, run: createShowTrust(core, trust, trustReader) }]
      : []),
  ];
}

/** A job that deals with rows, and sets those aside under its own name that it cannot deal with. */
type RowJob = Omit<Job, "run"> & { run: (job: string) => () => Promise<number> };

/** The one list of background work. Each run handles a bounded batch and can be repeated. */
function jobsOfWorkers({ core, deliveryWorker, showOldest, safeFetch, trust, trustReader }: Parts): Job[] {
  const { config, db, clock, setAside } = core;
  const mailTransport = createMailTransport(core);
  const purge = (expired: () => Expired) => (job: string) => () => setAside.purge(job, expired(), 1000);
  const rowJobs: RowJob[] = [
    { name: sendMailsJob, everyMs: 5 * secondMs, run: (job) => () => sendDueMails(core, mailTransport, job) },
    {
      name: answerMailsJob,
      everyMs: 10 * secondMs,
      run: (job) => () => answerMailRequests(core, job),
    },
    // What a process of the version before still writes, during an update.
    { name: foldEmailsJob, everyMs: minuteMs, run: (job) => () => foldEmails(core, job) },
    { name: foldInvitationsJob, everyMs: minuteMs, run: (job) => () => foldInvitations(core, job) },
    {
      name: "purge-account-leftovers",
      everyMs: 10 * minuteMs,
      isShared: true,
      run: (job) => () => purgeAccountLeftovers(core, job),
    },
    { name: expireSessionsJob, everyMs: secondMs, run: (job) => expireSessions(core, job) },
    {
      name: "count-outcomes",
      everyMs: 15 * secondMs,
      run: (job) => () => countSessionOutcomes(core, job),
    },
    {
      name: "purge-idempotent-answers",
      everyMs: 10 * minuteMs,
      isShared: true,
      run: purge(() => expiredAnswers(clock.now())),
    },
    { name: "delete-organizations", everyMs: minuteMs, run: (job) => deleteOrganizations(core, job) },
    { name: "recheck-domains", everyMs: minuteMs, run: (job) => () => recheckDomains(core, job) },
    {
      name: "purge-domain-challenges",
      everyMs: hourMs,
      isShared: true,
      run: purge(() => expiredChallenges(later(clock.now(), -30 * dayMs))),
    },
    {
      name: "purge-invitations",
      everyMs: hourMs,
      isShared: true,
      run: purge(() => expiredInvitations(clock.now())),
    },
    {
      name: "purge-user-sessions",
      everyMs: hourMs,
      isShared: true,
      run: purge(() => expiredUserSessions(clock.now())),
    },
    { name: "scrub-webhook-payloads", everyMs: 30 * secondMs, run: (job) => () => scrubPayloads(core, job) },
    {
      name: "purge-webhook-history",
      everyMs: 10 * minuteMs,
      isShared: true,
      run: (job) => createPurgeHistory(core, job),
    },
    {
      name: "remove-absent-listeners",
      everyMs: minuteMs,
      run: (job) => () => removeAbsentListeners(core, job),
    },
    {
      name: "refresh-trust",
      everyMs: minuteMs,
      run: (job) => () => refreshTrust({ ...core, safeFetch, trust, reader: trustReader }, job),
    },
  ];
  const jobs: Job[] = [
    ...rowJobs.map((job) => ({ ...job, run: job.run(job.name) })),
    ...retentionJobs(core, {
      ofDevices: [deleteAttemptSockets, deleteHandoffTokens],
      ofSessions: [deleteConsents],
    }),
    { name: "drop-division-checks", everyMs: hourMs, isShared: true, run: () => dropDivisionChecks(db) },
    // Each machine has files of its own.
    { name: "remove-mail-files", everyMs: 10 * minuteMs, run: () => removeMailFiles(core) },
  ];
  const measure = measureQueues(core, {
    jobs: [...jobs.map(({ name }) => name), setAsideAs.job, keyUsageJob].filter(
      (name) => name !== measureBacklogJob,
    ),
    mailJob: sendMailsJob,
    mailRequestJob: answerMailsJob,
    expiryJob: expireSessionsJob,
    show: showOldest,
    schemaVersion: codeVersion(),
  });
  jobs.push({ name: "measure-queues", everyMs: 15 * secondMs, run: measure });
  // A batch may take longer than anybody would wait for an answer.
  const statementMs = config.databaseJobStatementSeconds * secondMs;
  return [
    ...jobs.map((job) => ({ ...job, run: () => db.withStatementLimit(statementMs, job.run) })),
    // The worker wakes by itself; as a job it can be waited for. What it sends is short.
    { name: setAsideAs.job, everyMs: minuteMs, run: () => deliveryWorker.settle().then(() => 0) },
  ];
}

/** What somebody waits for is done at once, not only when its time comes round. */
function wakeByNotification({ core, listener }: Parts, scheduler: Scheduler, jobs: readonly Job[]): void {
  const wake = (name: string) =>
    void scheduler
      .run(name)
      .catch((error) =>
        core.log.warn("background job failed, will run again", { job: name, ...describeError(error) }),
      );
  listener.on(ringChannel, () => wake(reportProcessJob));
  if (jobs.every(({ name }) => name !== sendMailsJob)) return;
  listener.on(mailChannel, () => wake(sendMailsJob));
  listener.on(mailRequestChannel, () => wake(answerMailsJob));
  // The payload is empty after a reconnect; what was missed is then tried when its job comes round.
  listener.on(retryChannel, (name) => {
    core.setAside.lookAgain();
    if (jobs.some((job) => job.name === name)) wake(name);
  });
}

function maxConnectionsOf({ config, log }: Core): number {
  const { httpMaxConnections, databasePoolSize, webhookMaxInFlight } = config;
  const limit = connectionLimit(httpMaxConnections, openFilesLimit(), {
    // Those of the pool, for notifications and for readiness.
    database: 2 * databasePoolSize + 2,
    outbound: webhookMaxInFlight,
  });
  if (limit < httpMaxConnections)
    log.warn("fewer connections than HTTP_MAX_CONNECTIONS are accepted: the limit of open files is too low", {
      limit,
      advice: "Raise the limit of open files (`ulimit -n`, LimitNOFILE), or lower HTTP_MAX_CONNECTIONS.",
    });
  return limit;
}

/** Everything that answers HTTP. */
async function createApp(parts: Parts, role: ProcessRole): Promise<{ app: Server; readiness: Readiness }> {
  const { core, usage } = parts;
  const { config, db, publicUrl } = core;
  const common = {
    log: core.log,
    metrics: core.metrics,
    tracer: parts.tracer,
    publicUrl,
    trustProxy: config.trustProxy,
    isDraining: () => parts.leaving.isDraining,
  };
  const isSecure = () => publicUrl().startsWith("https:");
  const admission = new Admission({ ...common, isSecure, slots: config.requestMaxInFlight });
  const app = createServer({ ...common, admission, maxConnections: maxConnectionsOf(core) });
  const readiness: Readiness = {
    problem: parts.notReadyBecause,
    isOverloaded: () => admission.isOverloaded,
  };
  mountHealth(app, readiness);
  if (config.metricsToken !== "") mountMetrics(app, parts.metricsOf, config.metricsToken);
  mountPages(app, () => ({ signUp: config.signUp, publicUrl: publicUrl() }));
  const readerApps = { android: config.readerAppAndroid, ios: config.readerAppIos };
  mountWellKnown(app, wellKnownDocuments(readerApps));
  mountSecurityText(app, config.securityContact, core);
  mountRobots(app);
  mountAppFile(app, config.readerAppAndroidFile);
  mountWebApp(app, "verify", {
    head: appBannerOf(readerApps.ios),
    fill: ({ url, headers }) => giveToPage(core, parts.consentTexts, url, headers["accept-language"] ?? ""),
    frameAncestor: (sessionId) =>
      // What cannot be looked up may not be framed; the page itself tells what is wrong.
      findFrameAncestor(db, sessionId).catch(() => null),
    ownHeaders: { preview: pageHeaders.preview },
    isPage: isVerifyPage,
  });
  mountWebApp(app, "dashboard", {
    alsoAt: ["/invitations/:token"],
    fill: givingToDashboard(app, { publicUrl, byToken: (token) => authenticateUser(core, token) }),
    fillsListedPages: true,
  });
  const verifySocket = bindVerifySocket(parts.devices, publicUrl);
  await enableSockets(app, verifySocket);
  const bindings = bindRoutes(parts, readiness);
  const access = {
    authenticator: {
      byKey: (secret) => authenticateKey(core, secret),
      byToken: (token) => authenticateUser(core, token),
      membership: (organizationId, userId) => findMembership(db, organizationId, userId),
      isOperator: (userId) => isOperator(db, userId),
    },
    admission,
    publicUrl,
    onKeyUsed: (keyId) => usage.count(keyId),
  } satisfies IdentifyOptions;
  mount(app, role === "worker" ? [] : bindings, {
    ...access,
    sockets: { openVerifySocket: verifySocket },
    idempotency: parts.idempotency,
    writeCookie: (reply, cookie) => writeSessionCookie(reply, cookie, publicUrl().startsWith("https:")),
  });
  if (role !== "worker") mountMcp(app, { ...access, answer: mcpEndpoint(core, parts.sandboxDevices) });
  return { app, readiness };
}

/** Each route of the contract is carried out by exactly one piece of code. */
function checkBindings(bindings: readonly Binding[]): void {
  const bound = bindings.map((binding) => binding.definition.id).sort();
  const declared = routes.map((route) => route.id).sort();
  const wrong = [
    ...declared.filter((id) => !bound.includes(id)),
    ...bound.filter((id, i) => !declared.includes(id) || bound[i + 1] === id),
  ];
  if (wrong.length > 0) throw new Error(`these routes are not bound exactly once: ${wrong.join(", ")}`);
}
