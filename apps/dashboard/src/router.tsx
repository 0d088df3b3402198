import { createRootRoute, createRoute, createRouter, Outlet } from "@tanstack/react-router";
import { AccountPage } from "./account/account-page.tsx";
import { ApiKeysPage } from "./api-keys/api-keys-page.tsx";
import { AuditLogPage } from "./audit/audit-log-page.tsx";
import { DomainsPage } from "./domains/domains-page.tsx";
import { InvitationPage } from "./invitations/invitation-page.tsx";
import { MembersPage } from "./members/members-page.tsx";
import { GoLivePage } from "./organization/go-live-page.tsx";
import { SettingsPage } from "./organization/settings-page.tsx";
import { OverviewPage } from "./overview/overview-page.tsx";
import { NewSessionPage } from "./sessions/new-session-page.tsx";
import { SessionPage } from "./sessions/session-page.tsx";
import { SessionsPage } from "./sessions/sessions-page.tsx";
import { NewOrganizationPage } from "./shell/new-organization.tsx";
import { NotFound } from "./shell/not-found.tsx";
import { PageFailure } from "./shell/page-failure.tsx";
import { Shell } from "./shell/shell.tsx";
import { ForgotPasswordPage } from "./sign-in/forgot-password-page.tsx";
import {
  ChangeEmailPage,
  MagicLinkPage,
  ResetPasswordPage,
  VerifyEmailPage,
} from "./sign-in/mailed-link-pages.tsx";
import { SignInPage } from "./sign-in/sign-in-page.tsx";
import { SignUpPage } from "./sign-in/sign-up-page.tsx";
import { DeliveriesPage, DeliveryPage } from "./webhooks/deliveries-page.tsx";
import { EndpointPage } from "./webhooks/endpoint-page.tsx";
import { EndpointsPage } from "./webhooks/endpoints-page.tsx";
import { EventPage, EventsPage } from "./webhooks/events-page.tsx";

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound });

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
  component: () => <SignUpPage next={signUpRoute.useSearch().next} />,
});
const forgotPasswordRoute = createRoute({
  getParentRoute: () => root,
  path: "/dashboard/forgot-password",
  component: ForgotPasswordPage,
});
const magicLinkRoute = createRoute({
  getParentRoute: () => root,
  path: "/dashboard/magic-link",
  component: MagicLinkPage,
});
const resetPasswordRoute = createRoute({
  getParentRoute: () => root,
  path: "/dashboard/reset-password",
  component: ResetPasswordPage,
});
const verifyEmailRoute = createRoute({
  getParentRoute: () => root,
  path: "/dashboard/verify-email",
  component: VerifyEmailPage,
});
const changeEmailRoute = createRoute({
  getParentRoute: () => root,
  path: "/dashboard/change-email",
  component: ChangeEmailPage,
});
const invitationRoute = createRoute({
  getParentRoute: () => root,
  path: "/invitations/$token",
  component: () => <InvitationPage token={invitationRoute.useParams().token} />,
});

const shell = createRoute({ getParentRoute: () => root, id: "shell", component: Shell });
const overviewRoute = createRoute({
  getParentRoute: () => shell,
  path: "/dashboard",
  component: OverviewPage,
});
const newOrganizationRoute = createRoute({
  getParentRoute: () => shell,
  path: "/dashboard/organizations/new",
  component: NewOrganizationPage,
});
const apiKeysRoute = createRoute({
  getParentRoute: () => shell,
  path: "/dashboard/api-keys",
  component: ApiKeysPage,
});
const membersRoute = createRoute({
  getParentRoute: () => shell,
  path: "/dashboard/members",
  component: MembersPage,
});
const auditLogRoute = createRoute({
  getParentRoute: () => shell,
  path: "/dashboard/audit-log",
  component: AuditLogPage,
});

const sessionsRoute = createRoute({
  getParentRoute: () => shell,
  path: "/dashboard/sessions",
  component: SessionsPage,
});
const newSessionRoute = createRoute({
  getParentRoute: () => shell,
  path: "/dashboard/sessions/new",
  component: NewSessionPage,
});
const sessionRoute = createRoute({
  getParentRoute: () => shell,
  path: "/dashboard/sessions/$sessionId",
  component: () => <SessionPage sessionId={sessionRoute.useParams().sessionId} />,
});
const endpointsRoute = createRoute({
  getParentRoute: () => shell,
  path: "/dashboard/webhooks",
  component: EndpointsPage,
});
const endpointRoute = createRoute({
  getParentRoute: () => shell,
  path: "/dashboard/webhooks/$endpointId",
  component: () => <EndpointPage endpointId={endpointRoute.useParams().endpointId} />,
});
const deliveriesRoute = createRoute({
  getParentRoute: () => shell,
  path: "/dashboard/deliveries",
  component: DeliveriesPage,
});
const deliveryRoute = createRoute({
  getParentRoute: () => shell,
  path: "/dashboard/deliveries/$deliveryId",
  component: () => <DeliveryPage deliveryId={deliveryRoute.useParams().deliveryId} />,
});
const eventsRoute = createRoute({
  getParentRoute: () => shell,
  path: "/dashboard/events",
  component: EventsPage,
});
const eventRoute = createRoute({
  getParentRoute: () => shell,
  path: "/dashboard/events/$eventId",
  component: () => <EventPage eventId={eventRoute.useParams().eventId} />,
});
const domainsRoute = createRoute({
  getParentRoute: () => shell,
  path: "/dashboard/domains",
  component: DomainsPage,
});
const goLiveRoute = createRoute({
  getParentRoute: () => shell,
  path: "/dashboard/go-live",
  component: GoLivePage,
});
const settingsRoute = createRoute({
  getParentRoute: () => shell,
  path: "/dashboard/settings",
  component: SettingsPage,
});
const accountRoute = createRoute({
  getParentRoute: () => shell,
  path: "/dashboard/account",
  component: AccountPage,
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
    ]),
  ]),
  defaultErrorComponent: PageFailure,
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
