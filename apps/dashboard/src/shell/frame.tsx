import { Link, useLocation } from "@tanstack/react-router";
import { type ReactNode, useLayoutEffect, useState, useSyncExternalStore } from "react";
import { t } from "../i18n/words.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Icon, type IconName } from "../ui/icon.tsx";
import { inSentence } from "../ui/in-sentence.ts";
import { LanguagePicker } from "../ui/language-picker.tsx";
import { OfflineBanner } from "../ui/offline.tsx";
import { Brand } from "../ui/public-frame.tsx";
import { Toasts } from "../ui/toasts.tsx";
import { EnvironmentSwitch, stripOf } from "./environment-switch.tsx";
import { navigationOf } from "./navigation.ts";
import { useWorkspace, type Workspace } from "./organization-context.ts";
import { SearchButton } from "./search-button.tsx";

/** The breakpoint of the classes below: from here on the menu stands beside the page. */
const wideScreen = window.matchMedia("(min-width: 64rem)");

function useWideScreen(): boolean {
  return useSyncExternalStore(
    (listener) => {
      wideScreen.addEventListener("change", listener);
      return () => wideScreen.removeEventListener("change", listener);
    },
    () => wideScreen.matches,
  );
}

/** The frame of every page: navigation, organization and environment. */
export function Frame(props: {
  organizations: readonly Workspace["organization"][];
  onSwitch: (organizationId: string) => void;
  signOut: ReactNode;
  children: ReactNode;
}) {
  const { environment } = useWorkspace();
  const [menuOpen, setMenuOpen] = useState(false);
  const isWide = useWideScreen();
  const path = useLocation({ select: (location) => location.pathname });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the menu closes whenever the page changes.
  useLayoutEffect(() => setMenuOpen(false), [path]);
  return (
    <div className="min-h-dvh lg:grid lg:grid-cols-[15.5rem_minmax(0,1fr)]">
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:absolute focus:start-4 focus:top-2 focus:z-30 focus:bg-card focus:px-4 focus:py-2"
      >
        {t.shell.skip}
      </a>
      {/* The menu's twenty links are a third of the frame's rendering work, so a hidden menu is not
          rendered. */}
      {isWide || menuOpen ? <Side open={menuOpen} signOut={props.signOut} /> : null}
      <div className="flex min-w-0 flex-col">
        <OfflineBanner />
        <header
          className={`flex flex-wrap items-center gap-2 border-b border-b-line bg-card px-3 py-2.5 sm:gap-3 sm:px-6 ${stripOf(environment)}`}
        >
          <button
            type="button"
            className="inline-flex size-10 items-center justify-center rounded-control hover:bg-soft lg:hidden"
            aria-expanded={menuOpen}
            aria-controls={menuOpen ? "menu" : undefined}
            onClick={() => setMenuOpen(!menuOpen)}
          >
            <Icon name={menuOpen ? "x" : "menu"} />
            <span className="sr-only">{t.shell.menu}</span>
          </button>
          <Organizations organizations={props.organizations} onSwitch={props.onSwitch} />
          {/* On the narrowest screens the switch takes a separate line: beside it, only two letters of the
              organization's name would fit. */}
          <div className="ms-auto flex items-center gap-2 max-[22rem]:contents">
            <SearchButton />
            <EnvironmentSwitch />
          </div>
        </header>
        <main
          id="content"
          className="mx-auto w-full max-w-6xl min-w-0 flex-1 px-4 py-6 sm:px-6 lg:px-8 lg:py-8"
        >
          {props.children}
        </main>
      </div>
      <Toasts />
    </div>
  );
}

const entryClass =
  "flex min-h-10 items-center gap-3 rounded-control px-3 lg:min-h-9 py-1.5 font-medium text-muted no-underline hover:bg-soft hover:text-ink aria-[current=page]:bg-soft aria-[current=page]:font-semibold aria-[current=page]:text-accent";

function Side({ open, signOut }: { open: boolean; signOut: ReactNode }) {
  const { account, organization } = useWorkspace();
  return (
    <aside
      id="menu"
      aria-label={t.shell.menu}
      className={`${open ? "" : "max-lg:hidden"} z-20 flex flex-col border-line bg-card max-lg:absolute max-lg:inset-x-0 max-lg:top-[3.9rem] max-[22rem]:top-[6.6rem] max-lg:border-b max-lg:shadow-raised lg:sticky lg:top-0 lg:h-dvh lg:overflow-y-auto lg:border-e`}
    >
      <div className="px-5 pt-5 pb-3 max-lg:hidden">
        <Brand />
      </div>
      <nav aria-label={t.shell.main} className="flex-1 space-y-5 px-3 py-3">
        {navigationOf({ account, organization }).map(({ title, entries }) => (
          <div key={title}>
            <h2 className="mb-1 px-3 text-xs font-semibold tracking-wide text-muted uppercase">{title}</h2>
            <ul>
              {entries.map(({ to, label, icon, exact }) => (
                <li key={label}>
                  <Link
                    to={to}
                    activeOptions={{ exact: exact === true, includeSearch: false }}
                    className={entryClass}
                  >
                    <Icon name={icon} className="size-[1.125rem]" />
                    {label}
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        ))}
        <ul className="border-t border-line pt-3">
          <OutsideEntry href="/docs" label={t.ui.guides} icon="book" />
          <OutsideEntry href="/reference" label={t.ui.reference} icon="braces" />
        </ul>
      </nav>
      <div className="space-y-1 border-t border-line p-3">
        <Link to="/dashboard/account" className={entryClass}>
          <Initials name={account.name} />
          <span className="min-w-0 leading-tight">
            <span className="block truncate text-small text-ink">
              <bdi aria-hidden="true">{account.name}</bdi>
              <span className="sr-only">{t.shell.accountOf(account.name)}</span>
            </span>
            <bdi className="block truncate text-xs font-normal text-muted">{account.email}</bdi>
          </span>
        </Link>
        <div className="-me-2 flex flex-wrap items-center justify-between text-small text-muted">
          {signOut}
          <LanguagePicker compact />
        </div>
      </div>
    </aside>
  );
}

function OutsideEntry({ href, label, icon }: { href: string; label: string; icon: IconName }) {
  return (
    <li>
      <a href={href} target="_blank" rel="noreferrer" className={entryClass}>
        <Icon name={icon} className="size-[1.125rem]" />
        {label}
        <Icon name="outside" className="ms-auto size-3.5" />
        <span className="sr-only">{t.shell.newTab}</span>
      </a>
    </li>
  );
}

function Initials({ name }: { name: string }) {
  const letters = name
    .split(/\s+/)
    .map((word) => [...word][0] ?? "")
    .filter((letter) => letter !== "");
  const shown = [letters[0], letters.length > 1 ? letters.at(-1) : ""].join("").toUpperCase();
  return (
    <span
      aria-hidden="true"
      className="inline-flex size-8 flex-none items-center justify-center rounded-full bg-fill text-xs font-semibold text-on-fill"
    >
      {shown}
    </span>
  );
}

function Organizations(props: {
  organizations: readonly Workspace["organization"][];
  onSwitch: (organizationId: string) => void;
}) {
  const { organization } = useWorkspace();
  const [choosing, setChoosing] = useState(false);
  return (
    <>
      <button
        type="button"
        className="inline-flex min-h-10 min-w-0 flex-1 items-center gap-2 rounded-control px-2 font-semibold hover:bg-soft sm:max-w-72 sm:flex-initial sm:px-3"
        onClick={() => setChoosing(true)}
        aria-haspopup="dialog"
      >
        <Icon name="building" className="size-[1.125rem] text-muted max-sm:hidden" />
        <bdi className="truncate">{organization.name}</bdi>
        <Icon name="updown" className="size-4 text-muted" />
        <span className="sr-only">{t.shell.switchOrganization}</span>
      </button>
      {choosing ? (
        <Dialog title={t.ui.organizations} onClose={() => setChoosing(false)}>
          <ul className="mb-4 space-y-2">
            {props.organizations.map(({ id, name, environment: open, role }) => (
              <li key={id}>
                <button
                  type="button"
                  className="flex w-full flex-wrap items-center justify-between gap-2 rounded-control border border-line px-4 py-3 text-start hover:border-accent aria-[current=true]:border-accent aria-[current=true]:bg-soft"
                  aria-current={id === organization.id}
                  onClick={() => {
                    if (id === organization.id) setChoosing(false);
                    else props.onSwitch(id);
                  }}
                >
                  <bdi className="min-w-0 font-medium">{name}</bdi>
                  <span className="text-small text-muted">
                    {(open === "live" ? t.shell.inLive : t.shell.inSandbox)(inSentence(t.ui.roles[role]))}
                  </span>
                </button>
              </li>
            ))}
          </ul>
          <Link to="/dashboard/organizations/new" onClick={() => setChoosing(false)}>
            {t.shell.createOrganization}
          </Link>
        </Dialog>
      ) : null}
    </>
  );
}
