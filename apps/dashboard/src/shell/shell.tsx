import { getAccount, requestEmailVerification, signOut } from "@assay/contract/accounts";
import { listOrganizations, setActiveOrganization } from "@assay/contract/organizations";
import { listDeliveries, listEndpoints } from "@assay/contract/webhooks";
import { useQuery } from "@tanstack/react-query";
import { Link, Navigate, Outlet, useLocation, useRouter } from "@tanstack/react-router";
import { type ReactNode, useEffect, useState } from "react";
import { call, onSignedOut } from "../api/call.ts";
import { chosenEnvironment, enterOrganization } from "../api/chosen-environment.ts";
import { isSignedOut, queries, refresh, useData, useList } from "../api/queries.ts";
import { Filled } from "../i18n/filled.tsx";
import { t } from "../i18n/words.ts";
import { SignInForm } from "../sign-in/sign-in-form.tsx";
import { ActionButton, Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Notice } from "../ui/notice.tsx";
import { OfflineBanner } from "../ui/offline.tsx";
import { Heading, Loading, ProblemNotice } from "../ui/page.tsx";
import { Brand } from "../ui/public-frame.tsx";
import { Soon } from "../ui/soon.tsx";
import { Time } from "../ui/time.tsx";
import { Toasts } from "../ui/toasts.tsx";
import { chosenOrganization, rememberOrganization, useOtherTabsChoice } from "./chosen-organization.ts";
import { Frame } from "./frame.tsx";
import { organizationToEnter, ownOrganizations, takeGiven, takeSignedOut } from "./given.ts";
import { NewOrganizationForm } from "./new-organization.tsx";
import {
  AccountContext,
  activeOrganizationKey,
  useWorkspace,
  type Workspace,
  WorkspaceContext,
} from "./organization-context.ts";
import { guardPage, leaveSignedOut } from "./sign-out.ts";

takeGiven();

/** Everything behind the sign-in: loads account, organization and environment, then shows the page. */
export function Shell() {
  const [isKnownSignedOut] = useState(takeSignedOut);
  const account = useData(getAccount, {}, { enabled: !isKnownSignedOut });
  // Any call may find that the session has ended; loading the account then shows the sign-in.
  useEffect(() => onSignedOut((route) => route.id !== getAccount.id && void refresh(getAccount)), []);
  const accountId = account.data?.data.id;
  useEffect(() => (accountId === undefined ? undefined : guardPage(accountId)), [accountId]);
  if (account.data === undefined) {
    if (isKnownSignedOut || isSignedOut(account.error)) return <GoToSignIn />;
    return (
      <Bare>
        {account.error ? <ProblemNotice error={account.error} retry={account.refetch} /> : <Loading />}
      </Bare>
    );
  }
  return (
    <AccountContext value={account.data.data}>
      <ChooseOrganization account={account.data.data} />
      {isSignedOut(account.error) ? <SignInAgain account={account.data.data} /> : null}
    </AccountContext>
  );
}

function GoToSignIn() {
  const router = useRouter();
  // The location before the redirect, which changes it.
  const [next] = useState(() => router.state.location.href);
  return <Navigate to="/dashboard/sign-in" search={{ next }} replace />;
}

function Bare({ wide = false, children }: { wide?: boolean; children: ReactNode }) {
  return (
    <>
      <OfflineBanner />
      <header className="border-b border-line bg-card px-5 py-3.5">
        <Brand />
      </header>
      <main className={`mx-auto ${wide ? "max-w-6xl" : "max-w-xl"} px-4 py-10`}>{children}</main>
      <Toasts />
    </>
  );
}

/** Shown over the page, not instead of it, so that inputs are kept. */
function SignInAgain({ account }: { account: Workspace["account"] }) {
  return (
    <Dialog title={t.shell.again.title} onClose={leaveSignedOut}>
      <Notice kind="info">{t.shell.again.ended}</Notice>
      <SignInForm
        email={account.email}
        onSignedIn={async () => {
          const { data } = await call(getAccount, {});
          if (data.id !== account.id) return window.location.assign("/dashboard");
          const organizationId = chosenOrganization();
          if (organizationId !== null) await call(setActiveOrganization, { body: { organizationId } });
          await queries.invalidateQueries();
        }}
      />
    </Dialog>
  );
}

function ChooseOrganization({ account }: { account: Workspace["account"] }) {
  const path = useLocation({ select: (location) => location.pathname });
  const list = useList(listOrganizations, ownOrganizations);
  const chosen = organizationToEnter(list.items);
  const active = useQuery({
    queryKey: [activeOrganizationKey, chosen?.id],
    enabled: chosen !== undefined,
    // Refetched now and then: another user may have changed the role or scheduled the deletion.
    staleTime: 60_000,
    queryFn: async () => {
      const { data } = await call(setActiveOrganization, { body: { organizationId: chosen?.id ?? "" } });
      rememberOrganization(data.id);
      enterOrganization(data);
      return data;
    },
  });
  const error = list.error ?? active.error;
  if (!list.isPending && list.items.length === 0 && list.error === null)
    return path === "/dashboard/account" || (path === "/dashboard/operator" && account.is_operator) ? (
      <Bare wide={path === "/dashboard/operator"}>
        <p className="mb-4">
          <Link to="/dashboard">{t.shell.first.back}</Link>
        </p>
        <Outlet />
      </Bare>
    ) : (
      <Bare>
        <Heading title={t.shell.first.title} />
        <p className="mb-4 text-muted">
          <Filled text={t.shell.first.welcome} name={<bdi>{account.name}</bdi>} />
        </p>
        <EmailNotice account={account} />
        <NewOrganizationForm />
        <p className="mt-6 text-muted">
          <Filled
            text={t.shell.first.invited}
            email={<bdi>{account.email}</bdi>}
            account={<Link to="/dashboard/account">{t.shell.first.account}</Link>}
          />
        </p>
        <div className="mt-4">
          <SignOutButton />
        </div>
      </Bare>
    );
  if (active.data === undefined)
    return (
      <Bare>
        {error === null ? (
          <Loading />
        ) : (
          <>
            <ProblemNotice error={error} retry={() => queries.resetQueries()} />
            <SignOutButton />
          </>
        )}
      </Bare>
    );
  return (
    <WorkspaceContext value={{ account, organization: active.data, environment: chosenEnvironment() }}>
      <Frame organizations={list.items} onSwitch={switchTo} signOut={<SignOutButton small />}>
        <Soon instead={<Loading />}>
          <Banners />
          <Outlet />
        </Soon>
      </Frame>
      <OtherTab organizations={list.items} />
    </WorkspaceContext>
  );
}

function SignOutButton({ small }: { small?: boolean }) {
  return (
    <ActionButton
      small={small}
      icon="leave"
      look={small ? "quiet" : "plain"}
      run={async () => {
        await call(signOut, {});
        leaveSignedOut();
      }}
    >
      {t.ui.signOut}
    </ActionButton>
  );
}

function EmailNotice({ account }: { account: Workspace["account"] }) {
  const [mailed, setMailed] = useState(false);
  if (account.email_verified || !account.email_verification_required) return null;
  return (
    <Notice kind="warn">
      <p className="font-semibold">{t.shell.verify.title}</p>
      <p>
        <Filled text={t.shell.verify.text} email={<bdi>{account.email}</bdi>} />
      </p>
      {mailed ? (
        <p>{t.shell.verify.sent}</p>
      ) : (
        <ActionButton
          small
          run={async () => {
            await call(requestEmailVerification, {});
            setMailed(true);
          }}
        >
          {t.shell.verify.send}
        </ActionButton>
      )}
    </Notice>
  );
}

/** Loads a fresh page, so that nothing of the previous organization is shown or acted on. */
function switchTo(organizationId: string): void {
  rememberOrganization(organizationId);
  window.location.assign("/dashboard");
}

function OtherTab({ organizations }: { organizations: readonly Workspace["organization"][] }) {
  const { organization } = useWorkspace();
  const other = useOtherTabsChoice();
  if (other === null) return null;
  const name = organizations.find(({ id }) => id === other)?.name ?? t.shell.otherTab.another;
  return (
    <Dialog title={t.shell.otherTab.title} onClose={() => switchTo(other)}>
      <p className="mb-4">
        <Filled
          text={t.shell.otherTab.text}
          other={<bdi>{name}</bdi>}
          here={<bdi>{organization.name}</bdi>}
        />
      </p>
      <div className="flex flex-wrap gap-3">
        <Button look="primary" onClick={() => switchTo(other)}>
          <Filled text={t.shell.otherTab.go} name={<bdi>{name}</bdi>} />
        </Button>
        <Button onClick={() => switchTo(organization.id)}>
          <Filled text={t.shell.otherTab.stay} name={<bdi>{organization.name}</bdi>} />
        </Button>
      </div>
    </Dialog>
  );
}

/**
 * The number of results that reached no server because an endpoint had no key, as text; null for none. The
 * service does not store them.
 */
function useLostResults(enabled: boolean): string | null {
  const failed = useList(listDeliveries, { query: { limit: 100, status: "failed" } }, { enabled });
  const { length } = failed.items.filter(
    ({ event_type, last_error }) => last_error === "no_active_key" && event_type !== "webhook.endpoint.test",
  );
  if (length === 0) return null;
  return failed.hasNextPage ? t.shell.keyless.lostAtLeast(length) : t.shell.keyless.lost(length);
}

function Banners() {
  const { account, organization } = useWorkspace();
  const endpoints = useList(listEndpoints, { query: { limit: 100, enabled: true } });
  const keyless = endpoints.items.filter((endpoint) => !endpoint.has_active_key);
  const [first] = keyless;
  const lost = useLostResults(first !== undefined);
  return (
    <div className="-mt-3 mb-6 empty:hidden">
      {organization.pending_deletion_at === null ? null : (
        <Notice kind="warn">
          <p className="font-semibold">
            <Filled
              text={t.shell.deleted.title}
              time={<Time ahead at={organization.pending_deletion_at} />}
            />
          </p>
          <p>
            {t.shell.deleted.text}{" "}
            <Link to="/dashboard/settings" hash="deletion">
              {t.ui.cancelDeletion}
            </Link>
          </p>
        </Notice>
      )}
      <EmailNotice account={account} />
      {first === undefined ? null : (
        <Notice kind="warn">
          <p className="font-semibold">{t.shell.keyless.title(keyless.length)}</p>
          <p>
            {lost === null ? "" : `${lost} `}
            {t.shell.keyless.text}{" "}
            <Link to="/dashboard/webhooks/$endpointId" params={{ endpointId: first.id }}>
              {t.ui.registerKey}
            </Link>
          </p>
        </Notice>
      )}
    </div>
  );
}
