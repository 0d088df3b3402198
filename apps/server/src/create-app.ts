import { dashboardLanguages } from "@assay/contract/facts";
import { routes } from "@assay/contract/routes";
import { canReceiveResults } from "./delivery/webhooks/endpoint.store.ts";
import { webhookRoutes } from "./delivery/webhooks/webhooks.routes.ts";
import { sendMailsJob } from "./job-names.ts";
import type { Services } from "./open-services.ts";
import { analyticsRoutes } from "./operations/analytics/analytics.routes.ts";
import { mcpEndpoint } from "./operations/mcp/mcp.routes.ts";
import { operatorRoutes } from "./operations/operator/operator.routes.ts";
import { isOperator } from "./operations/operator/operator.store.ts";
import type { ProcessRole } from "./operations/operator/process-report.ts";
import { searchRoutes } from "./operations/search/search.routes.ts";
import { auditRoutes } from "./platform/audit/audit.routes.ts";
import type { Core } from "./platform/core.ts";
import { Admission } from "./platform/http/admission.ts";
import { mountAppFile, mountInstallPage } from "./platform/http/app-file.ts";
import { connectionLimit, openFilesLimit } from "./platform/http/connection-limit.ts";
import { givingToDashboard } from "./platform/http/give-to-dashboard.ts";
import { mountHealth, mountMetrics, type Readiness } from "./platform/http/health.ts";
import type { IdentifyOptions } from "./platform/http/identify.ts";
import { type Binding, mount } from "./platform/http/mount.ts";
import { mountMcp } from "./platform/http/mount-mcp.ts";
import { enableSockets } from "./platform/http/mount-socket.ts";
import { mountWallet } from "./platform/http/mount-wallet.ts";
import { pageHeaders } from "./platform/http/page-headers.ts";
import { mountPages } from "./platform/http/pages.ts";
import { createServer, type Server } from "./platform/http/server.ts";
import { mountWebApp } from "./platform/http/web-apps.ts";
import { mountRobots, mountSecurityText, mountWellKnown } from "./platform/http/well-known.ts";
import { NameLookups } from "./platform/lib/name-lookups.ts";
import { accountRoutes } from "./tenants/accounts/accounts.routes.ts";
import { findMembership } from "./tenants/accounts/user.store.ts";
import { authenticateUser } from "./tenants/accounts/user-session.ts";
import { apiKeyRoutes } from "./tenants/api-keys/api-keys.routes.ts";
import { apiLogRoutes } from "./tenants/api-keys/api-log.routes.ts";
import { authenticateKey } from "./tenants/api-keys/authenticate-key.ts";
import { hasActiveDomain } from "./tenants/domains/domain.store.ts";
import { domainRoutes } from "./tenants/domains/domains.routes.ts";
import { organizationDeletionRoutes } from "./tenants/organizations/deletion.routes.ts";
import { goLiveRoutes } from "./tenants/organizations/go-live.routes.ts";
import { isInvited } from "./tenants/organizations/invitation.store.ts";
import { organizationRoutes } from "./tenants/organizations/organizations.routes.ts";
import { bindVerifySocket } from "./verification/device-socket/device-socket.routes.ts";
import { canReadDocuments } from "./verification/sessions/reading-ways.ts";
import { sessionRoutes } from "./verification/sessions/sessions.routes.ts";
import { templateRoutes } from "./verification/sessions/templates.routes.ts";
import { hasTrustedAuthority } from "./verification/trust/trust.store.ts";
import { findFrameAncestor } from "./verification/verify/frame-ancestor.ts";
import { giveToPage, isVerifyPage } from "./verification/verify/given-to-page.ts";
import { LogoCache } from "./verification/verify/logo-cache.ts";
import { appBannerOf, installPlacesOf, wellKnownDocuments } from "./verification/verify/reader-apps.ts";
import { verifyRoutes } from "./verification/verify/verify.routes.ts";
import { walletEndpoints, walletRoutes } from "./verification/wallet/wallet.routes.ts";

/** Everything that answers HTTP. */
export async function createApp(
  services: Services,
  role: ProcessRole,
): Promise<{ app: Server; readiness: Readiness }> {
  const { core, usage, apiLog } = services;
  const { config, db, publicUrl } = core;
  const common = {
    log: core.log,
    metrics: core.metrics,
    tracer: services.tracer,
    publicUrl,
    trustProxy: config.trustProxy,
    isDraining: () => services.leaving.isDraining,
  };
  const isSecure = () => publicUrl().startsWith("https:");
  const admission = new Admission({
    ...common,
    clock: core.clock,
    isSecure,
    slots: config.requestMaxInFlight,
    maxRequestsPerSecond: config.organizationRequestsPerSecond,
  });
  const app = createServer({
    ...common,
    admission,
    maxConnections: maxConnectionsOf(core),
    onAnswered: (answered) => apiLog.add(answered),
  });
  const readiness: Readiness = {
    problem: services.notReadyBecause,
    isOverloaded: () => admission.isOverloaded,
  };
  mountHealth(app, readiness);
  if (config.metricsToken !== "") mountMetrics(app, services.metricsOf, () => config.metricsToken);
  mountPages(app, () => ({ signUp: config.signUp, publicUrl: publicUrl() }));
  const readerApps = { android: config.readerAppAndroid, ios: config.readerAppIos };
  mountWellKnown(app, wellKnownDocuments(readerApps));
  mountSecurityText(app, config.securityContact, core);
  mountRobots(app);
  mountAppFile(app, config.readerAppAndroidFile);
  mountInstallPage(app, installPlacesOf(readerApps, config.readerAppAndroidFile));
  mountWebApp(app, "verify", {
    head: appBannerOf(readerApps.ios),
    fill: ({ url, headers }) =>
      giveToPage(core, services.consentTexts, url, headers["accept-language"] ?? ""),
    frameAncestor: (sessionId) =>
      // If the lookup fails, framing is forbidden. The page itself reports the error.
      findFrameAncestor(db, sessionId).catch(() => null),
    ownHeaders: { preview: pageHeaders.preview },
    isPage: isVerifyPage,
  });
  mountWebApp(app, "dashboard", {
    alsoAt: ["/invitations/:token"],
    fill: givingToDashboard(app, { publicUrl, byToken: (token) => authenticateUser(core, token) }),
    fillsListedPages: true,
    languages: dashboardLanguages,
  });
  const verifySocket = bindVerifySocket(services.devices, publicUrl);
  await enableSockets(app, verifySocket);
  const bindings = bindRoutes(services, readiness);
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
    idempotency: services.idempotency,
  });
  if (role !== "worker") mountWallet(app, walletEndpoints(core), core.log);
  if (role !== "worker") mountMcp(app, { ...access, answer: mcpEndpoint(core, services.sandboxDevices) });
  return { app, readiness };
}

/** The one list of routes. */
function bindRoutes(services: Services, readiness: Readiness): Binding[] {
  const { core, rpTerms, consentTexts, usage, apiLog, statusFeed, safeFetch, trust, trustReader } = services;
  const logos = new LogoCache(core, safeFetch);
  const lookups = new NameLookups();
  const bindings = [
    ...accountRoutes(core, { isInvited }),
    ...organizationRoutes(core, (organizationId, url) => logos.find(organizationId, url)),
    ...domainRoutes(core, lookups),
    ...goLiveRoutes(core, {
      terms: rpTerms,
      hasActiveDomain,
      hasTrustedAuthority,
      canReceiveResults,
      canReadDocuments: canReadDocuments(core.config) || core.config.wallet.methods.length > 0,
    }),
    ...organizationDeletionRoutes(core),
    ...apiKeyRoutes(core, usage),
    ...apiLogRoutes(core, apiLog),
    ...auditRoutes(core),
    ...searchRoutes(core),
    ...sessionRoutes(core),
    ...templateRoutes(core),
    ...verifyRoutes(core, consentTexts, statusFeed, logos),
    ...walletRoutes(core),
    ...analyticsRoutes(core),
    ...webhookRoutes(core, safeFetch, services.listeners, lookups),
    ...operatorRoutes(core, {
      readiness,
      self: services.reporter,
      trust,
      trustReader,
      mailJob: sendMailsJob,
    }),
  ];
  checkBindings(bindings);
  return bindings;
}

/** Each route of the contract must be bound exactly once. */
function checkBindings(bindings: readonly Binding[]): void {
  const bound = bindings.map((binding) => binding.definition.id).sort();
  const declared = routes.map((route) => route.id).sort();
  const wrong = [
    ...declared.filter((id) => !bound.includes(id)),
    ...bound.filter((id, i) => !declared.includes(id) || bound[i + 1] === id),
  ];
  if (wrong.length > 0) throw new Error(`these routes are not bound exactly once: ${wrong.join(", ")}`);
}

function maxConnectionsOf({ config, log }: Core): number {
  const { httpMaxConnections, databasePoolSize, webhookMaxInFlight } = config;
  const limit = connectionLimit(httpMaxConnections, openFilesLimit(), {
    // Connections of the pool, for notifications and for readiness.
    database: 2 * databasePoolSize + 2,
    outbound: webhookMaxInFlight,
  });
  if (limit < httpMaxConnections)
    log.warn("the limit of open files is too low for HTTP_MAX_CONNECTIONS: fewer connections are accepted", {
      limit,
      advice: "Raise the limit of open files (`ulimit -n`, LimitNOFILE), or lower HTTP_MAX_CONNECTIONS.",
    });
  return limit;
}
