import {
  type AnyRouter,
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
} from "@tanstack/react-router";
import { fetchPage } from "./api/fetch-page.ts";
import { NotFound, StrayPage } from "./shell/not-found.tsx";
import { PageFailure } from "./shell/page-failure.tsx";
import { SignInPage } from "./sign-in/sign-in-page.tsx";
import { Loading } from "./ui/page.tsx";

const root = createRootRoute({
  component: Outlet,
  notFoundComponent: NotFound,
  beforeLoad: async ({ matches, location, preload }) => {
    const routeIds = matches.map(({ routeId }) => String(routeId));
    if (!preload) await fetchPage(anyRouter(), routeIds, location.href);
  },
});

const nextSearch = (search: Record<string, unknown>): { next?: string } =>
  typeof search.next === "string" ? { next: search.next } : {};

const signInRoute = createRoute({
  getParentRoute: () => root,
  path: "/dashboard/sign-in",
  validateSearch: nextSearch,
  component: () => <SignInPage next={signInRoute.useSearch().next} />,
});
const signUpRoute = createRoute({
  getParentRoute: () => root,
  path: "/dashboard/sign-up",
  validateSearch: nextSearch,
  component: lazyRouteComponent(() => import("./sign-in/sign-up-page.tsx"), "SignUpPage"),
});
const forgotPasswordRoute = createRoute({
  getParentRoute: () => root,
  path: "/dashboard/forgot-password",
  component: lazyRouteComponent(() => import("./sign-in/forgot-password-page.tsx"), "ForgotPasswordPage"),
});
const mailedLinks = () => import("./sign-in/mailed-link-pages.tsx");
const magicLinkRoute = createRoute({
  getParentRoute: () => root,
  path: "/dashboard/magic-link",
  component: lazyRouteComponent(mailedLinks, "MagicLinkPage"),
});
const resetPasswordRoute = createRoute({
  getParentRoute: () => root,
  path: "/dashboard/reset-password",
  component: lazyRouteComponent(mailedLinks, "ResetPasswordPage"),
});
const verifyEmailRoute = createRoute({
  getParentRoute: () => root,
  path: "/dashboard/verify-email",
  component: lazyRouteComponent(mailedLinks, "VerifyEmailPage"),
});
const changeEmailRoute = createRoute({
  getParentRoute: () => root,
  path: "/dashboard/change-email",
  component: lazyRouteComponent(mailedLinks, "ChangeEmailPage"),
});
const invitationRoute = createRoute({
  getParentRoute: () => root,
  path: "/invitations/$token",
  component: lazyRouteComponent(() => import("./invitations/invitation-page.tsx"), "InvitationPage"),
});

// Pages behind the sign-in are loaded one by one (code splitting), so that signing in is quick.
const shell = createRoute({
  getParentRoute: () => root,
  id: "shell",
  component: lazyRouteComponent(() => import("./shell/shell.tsx"), "Shell"),
});
const overviewRoute = createRoute({
  getParentRoute: () => shell,
  path: "/dashboard",
  component: lazyRouteComponent(() => import("./overview/overview-page.tsx"), "OverviewPage"),
});
const newOrganizationRoute = createRoute({
  getParentRoute: () => shell,
  path: "/dashboard/organizations/new",
  component: lazyRouteComponent(() => import("./shell/new-organization.tsx"), "NewOrganizationPage"),
});
const apiKeysRoute = createRoute({
  getParentRoute: () => shell,
  path: "/dashboard/api-keys",
  component: lazyRouteComponent(() => import("./api-keys/api-keys-page.tsx"), "ApiKeysPage"),
});
const membersRoute = createRoute({
  getParentRoute: () => shell,
  path: "/dashboard/members",
  component: lazyRouteComponent(() => import("./members/members-page.tsx"), "MembersPage"),
});
const auditLogRoute = createRoute({
  getParentRoute: () => shell,
  path: "/dashboard/audit-log",
  component: lazyRouteComponent(() => import("./audit/audit-log-page.tsx"), "AuditLogPage"),
});

const sessionsRoute = createRoute({
  getParentRoute: () => shell,
  path: "/dashboard/sessions",
  component: lazyRouteComponent(() => import("./sessions/sessions-page.tsx"), "SessionsPage"),
});
const newSessionRoute = createRoute({
  getParentRoute: () => shell,
  path: "/dashboard/sessions/new",
  component: lazyRouteComponent(() => import("./sessions/new-session-page.tsx"), "NewSessionPage"),
});
const sessionRoute = createRoute({
  getParentRoute: () => shell,
  path: "/dashboard/sessions/$sessionId",
  component: lazyRouteComponent(() => import("./sessions/session-page.tsx"), "SessionPage"),
});
const endpointsRoute = createRoute({
  getParentRoute: () => shell,
  path: "/dashboard/webhooks",
  component: lazyRouteComponent(() => import("./webhooks/endpoints-page.tsx"), "EndpointsPage"),
});
const endpointRoute = createRoute({
  getParentRoute: () => shell,
  path: "/dashboard/webhooks/$endpointId",
  component: lazyRouteComponent(() => import("./webhooks/endpoint-page.tsx"), "EndpointPage"),
});
const deliveriesRoute = createRoute({
  getParentRoute: () => shell,
  path: "/dashboard/deliveries",
  component: lazyRouteComponent(() => import("./webhooks/deliveries-page.tsx"), "DeliveriesPage"),
});
const deliveryRoute = createRoute({
  getParentRoute: () => shell,
  path: "/dashboard/deliveries/$deliveryId",
  component: lazyRouteComponent(() => import("./webhooks/delivery-page.tsx"), "DeliveryPage"),
});
const eventsRoute = createRoute({
  getParentRoute: () => shell,
  path: "/dashboard/events",
  component: lazyRouteComponent(() => import("./webhooks/events-page.tsx"), "EventsPage"),
});
const eventRoute = createRoute({
  getParentRoute: () => shell,
  path: "/dashboard/events/$eventId",
  component: lazyRouteComponent(() => import("./webhooks/events-page.tsx"), "EventPage"),
});
const domainsRoute = createRoute({
  getParentRoute: () => shell,
  path: "/dashboard/domains",
  component: lazyRouteComponent(() => import("./domains/domains-page.tsx"), "DomainsPage"),
});
const goLiveRoute = createRoute({
  getParentRoute: () => shell,
  path: "/dashboard/go-live",
  component: lazyRouteComponent(() => import("./organization/go-live-page.tsx"), "GoLivePage"),
});
const settingsRoute = createRoute({
  getParentRoute: () => shell,
  path: "/dashboard/settings",
  component: lazyRouteComponent(() => import("./organization/settings-page.tsx"), "SettingsPage"),
});
const accountRoute = createRoute({
  getParentRoute: () => shell,
  path: "/dashboard/account",
  component: lazyRouteComponent(() => import("./account/account-page.tsx"), "AccountPage"),
});

const operatorRoute = createRoute({
  getParentRoute: () => shell,
  path: "/dashboard/operator",
  component: lazyRouteComponent(() => import("./operator/operator-page.tsx"), "OperatorPage"),
});

/** A mistyped address of somebody who is signed in: the way to all other pages stays beside it. */
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
    signUpRoute,
    forgotPasswordRoute,
    magicLinkRoute,
    resetPasswordRoute,
    verifyEmailRoute,
    changeEmailRoute,
    invitationRoute,
    shell.addChildren([
      overviewRoute,
      newOrganizationRoute,
      apiKeysRoute,
      membersRoute,
      auditLogRoute,
      sessionsRoute,
      newSessionRoute,
      sessionRoute,
      endpointsRoute,
      endpointRoute,
      deliveriesRoute,
      deliveryRoute,
      eventsRoute,
      eventRoute,
      domainsRoute,
      goLiveRoute,
      settingsRoute,
      accountRoute,
      operatorRoute,
      strayRoute,
      deepStrayRoute,
    ]),
  ]),
  defaultErrorComponent: PageFailure,
  defaultPendingComponent: Loading,
  defaultPreload: "intent",
  scrollRestoration: true,
  // Plain texts, as people read and type them: the router's own way puts quotes around a reference of digits.
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const entries = Object.entries(search).filter(
      (entry): entry is [string, string] => typeof entry[1] === "string",
    );
    const text = new URLSearchParams(entries).toString();
    return text === "" ? "" : `?${text}`;
  },
});

/** The type of the router follows from its routes, so they cannot name it. */
function anyRouter(): AnyRouter {
  return router;
}

declare module "@tanstack/react-router" {
  // biome-ignore lint/style/useConsistentTypeDefinitions: merged into the declaration of the router; a type cannot be.
  interface Register {
    router: typeof router;
  }
}
