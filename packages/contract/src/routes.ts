import { accountRoutes } from "./accounts.ts";
import { analyticsRoutes } from "./analytics.ts";
import { apiKeyRoutes } from "./api-keys.ts";
import { apiLogRoutes } from "./api-log.ts";
import { auditRoutes } from "./audit.ts";
import { domainRoutes } from "./domains.ts";
import { goLiveRoutes } from "./go-live.ts";
import { operatorRoutes } from "./operator.ts";
import { organizationDeletionRoutes } from "./organization-deletion.ts";
import { organizationLogoRoutes } from "./organization-logo.ts";
import { organizationRoutes } from "./organizations.ts";
import type { RouteDefinition } from "./route.ts";
import { searchRoutes } from "./search.ts";
import { sessionRoutes } from "./sessions.ts";
import { templateRoutes } from "./templates.ts";
import { verifyRoutes } from "./verify.ts";
import { walletRoutes } from "./wallet.ts";
import { webhookListenerRoutes } from "./webhook-listeners.ts";
import { webhookRoutes } from "./webhooks.ts";

/** Every route of the service under /v1. */
export const routes: readonly RouteDefinition[] = [
  ...accountRoutes,
  ...organizationRoutes,
  ...organizationLogoRoutes,
  ...domainRoutes,
  ...goLiveRoutes,
  ...organizationDeletionRoutes,
  ...apiKeyRoutes,
  ...apiLogRoutes,
  ...auditRoutes,
  ...searchRoutes,
  ...sessionRoutes,
  ...templateRoutes,
  ...verifyRoutes,
  ...walletRoutes,
  ...analyticsRoutes,
  ...webhookRoutes,
  ...webhookListenerRoutes,
  ...operatorRoutes,
];
