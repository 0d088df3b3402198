import {
  type AnyRouter,
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
} from "@tanstack/react-router";
import type { ReactNode } from "react";
import { fetchPage } from "./api/fetch-page.ts";
import { loadLaterWords } from "./i18n/words.ts";
import { NotFound, StrayPage } from "./shell/not-found.tsx";
import { PageFailure } from "./shell/page-failure.tsx";
import { SignInPage } from "./sign-in/sign-in-page.tsx";
import { Loading } from "./ui/page.tsx";

const root = createRootRoute({
  component: Outlet,
  // Texts only (`parseSearch`), and any page may read any of them.
  validateSearch: (search) => search as Partial<Record<string, string>>,
  notFoundComponent: NotFound,
  beforeLoad: async ({ matches, location, preload }) => {
    const routeIds = matches.map(({ routeId }) => String(routeId));
    if (!preload) await fetchPage(anyRouter(), routeIds, location.href);
  },
});

const signInRoute = createRoute({
  getParentRoute: () => root,
  path: "/dashboard/sign-in",
  component: SignInPage,
});

// Code splitting keeps the sign-in small.
const shell = createRoute({
  getParentRoute: () => root,
  id: "shell",
  component: lazyRouteComponent(() => import("./shell/shell.tsx"), "Shell"),
});

/** A page behind the sign-in. The build reads these calls (`page-files.ts`). */
function page<const P extends string, N extends string>(path: P, load: Load<N>, name: N, isFirst = false) {
  const withWords: Load<N> = async () => (await Promise.all([load(), loadLaterWords()]))[0];
  return createRoute({
    getParentRoute: () => shell,
    path,
    component: lazyRouteComponent(isFirst ? load : withWords, name),
  });
}

function outside<const P extends string, N extends string>(path: P, load: Load<N>, name: N) {
  return createRoute({ getParentRoute: () => root, path, component: lazyRouteComponent(load, name) });
}

type Load<N extends string> = () => Promise<Record<N, () => ReactNode>>;

const mailedLinks = () => import("./sign-in/mailed-link-pages.tsx");

/** An unknown path of a signed-in user: the navigation stays. */
const strayRoute = createRoute({
  getParentRoute: () => shell,
  path: "/dashboard/$stray",
  component: StrayPage,
});
const deepStrayRoute = createRoute({
  getParentRoute: () => shell,
  path: "/dashboard/$stray/$",
  component: StrayPage,
});

export const router = createRouter({
  routeTree: root.addChildren([
    signInRoute,
    outside("/dashboard/sign-up", () => import("./sign-in/sign-up-page.tsx"), "SignUpPage"),
    outside(
      "/dashboard/forgot-password",
      () => import("./sign-in/forgot-password-page.tsx"),
      "ForgotPasswordPage",
    ),
    outside("/dashboard/magic-link", mailedLinks, "MagicLinkPage"),
    outside("/dashboard/reset-password", mailedLinks, "ResetPasswordPage"),
    outside("/dashboard/verify-email", mailedLinks, "VerifyEmailPage"),
    outside("/dashboard/change-email", mailedLinks, "ChangeEmailPage"),
    outside("/invitations/$token", () => import("./invitations/invitation-page.tsx"), "InvitationPage"),
    shell.addChildren([
      page("/dashboard", () => import("./overview/overview-page.tsx"), "OverviewPage", true),
      page(
        "/dashboard/organizations/new",
        () => import("./shell/new-organization.tsx"),
        "NewOrganizationPage",
      ),
      page("/dashboard/api-keys", () => import("./api-keys/api-keys-page.tsx"), "ApiKeysPage"),
      page("/dashboard/api-log", () => import("./api-keys/api-log-page.tsx"), "ApiLogPage"),
      page("/dashboard/members", () => import("./members/members-page.tsx"), "MembersPage"),
      page("/dashboard/audit-log", () => import("./audit/audit-log-page.tsx"), "AuditLogPage"),
      page("/dashboard/sessions", () => import("./sessions/sessions-page.tsx"), "SessionsPage", true),
      page("/dashboard/sessions/new", () => import("./sessions/new-session-page.tsx"), "NewSessionPage"),
      page("/dashboard/sessions/$sessionId", () => import("./sessions/session-page.tsx"), "SessionPage"),
      page("/dashboard/templates", () => import("./templates/templates-page.tsx"), "TemplatesPage"),
      page("/dashboard/templates/new", () => import("./templates/template-page.tsx"), "NewTemplatePage"),
      page("/dashboard/templates/$templateId", () => import("./templates/template-page.tsx"), "TemplatePage"),
      page("/dashboard/webhooks", () => import("./webhooks/endpoints-page.tsx"), "EndpointsPage"),
      page("/dashboard/webhooks/$endpointId", () => import("./webhooks/endpoint-page.tsx"), "EndpointPage"),
      page("/dashboard/deliveries", () => import("./webhooks/deliveries-page.tsx"), "DeliveriesPage"),
      page("/dashboard/deliveries/$deliveryId", () => import("./webhooks/delivery-page.tsx"), "DeliveryPage"),
      page("/dashboard/events", () => import("./webhooks/events-page.tsx"), "EventsPage"),
      page("/dashboard/events/$eventId", () => import("./webhooks/event-page.tsx"), "EventPage"),
      page("/dashboard/domains", () => import("./domains/domains-page.tsx"), "DomainsPage"),
      page("/dashboard/go-live", () => import("./organization/go-live-page.tsx"), "GoLivePage"),
      page("/dashboard/settings", () => import("./organization/settings-page.tsx"), "SettingsPage"),
      page("/dashboard/account", () => import("./account/account-page.tsx"), "AccountPage"),
      page("/dashboard/operator", () => import("./operator/operator-page.tsx"), "OperatorPage"),
      strayRoute,
      deepStrayRoute,
    ]),
  ]),
  defaultErrorComponent: PageFailure,
  defaultPendingComponent: Loading,
  defaultPreload: "intent",
  scrollRestoration: true,
  // Plain texts, as people type them: by default the router puts quotes around a reference of digits.
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const entries = Object.entries(search).filter(
      (entry): entry is [string, string] => typeof entry[1] === "string",
    );
    const text = new URLSearchParams(entries).toString();
    return text === "" ? "" : `?${text}`;
  },
});

/** The router's type follows from its routes, so they cannot name it. */
function anyRouter(): AnyRouter {
  return router;
}

declare module "@tanstack/react-router" {
  // biome-ignore lint/style/useConsistentTypeDefinitions: a type cannot merge with a declaration.
  interface Register {
    router: typeof router;
  }
}
