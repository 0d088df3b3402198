import { hasRole } from "@assay/contract/route";
import { type FoundKind, type FoundThing, search, searchLimits } from "@assay/contract/search";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useId, useRef, useState } from "react";
import type { Static } from "typebox";
import { switchEnvironment } from "../api/chosen-environment.ts";
import { useData } from "../api/queries.ts";
import { t } from "../i18n/words.ts";
import { useModal } from "../ui/dialog.tsx";
import { Icon, type IconName } from "../ui/icon.tsx";
import { shortId } from "../ui/short-id.ts";
import { navigationOf } from "./navigation.ts";
import { useWorkspace } from "./organization-context.ts";
import { forgetSearches, recentSearches, rememberSearch } from "./recent-searches.ts";

type Found = Static<typeof FoundThing>;
type Command = { id: string; label: string; detail?: string | undefined; icon: IconName; run: () => unknown };

// A shorter delay would send a request for nearly every key.
const typingPauseMs = 200;

function useSettled(text: string): string {
  const [settled, setSettled] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text.trim()), typingPauseMs);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

const foundIcons: Record<FoundKind, IconName> = {
  session: "sessions",
  event: "events",
  delivery: "deliveries",
  webhook_endpoint: "webhook",
  member: "user",
  api_request: "receipt",
};

/** The page of a search result. */
function pathOf({ kind, id }: Found): string {
  switch (kind) {
    case "session":
      return `/dashboard/sessions/${id}`;
    case "event":
      return `/dashboard/events/${id}`;
    case "delivery":
      return `/dashboard/deliveries/${id}`;
    case "webhook_endpoint":
      return `/dashboard/webhooks/${id}`;
    case "member":
      return "/dashboard/members";
    case "api_request":
      return "/dashboard/api-log";
  }
}

function useCommands(close: () => void): readonly Command[] {
  const { account, organization, environment } = useWorkspace();
  const navigate = useNavigate();
  const go = (to: string) => () => {
    close();
    void navigate({ to });
  };
  const pages = navigationOf({ account, organization })
    .flatMap(({ entries }) => entries)
    .map(({ to, label, icon }): Command => ({ id: `page ${to}`, label, icon, run: go(to) }));
  const other = environment === "live" ? "sandbox" : "live";
  return [
    ...pages,
    { id: "account", label: t.shell.yourAccount, icon: "user", run: go("/dashboard/account") },
    ...(hasRole(organization.role, "admin")
      ? [
          {
            id: "new",
            label: t.ui.createSession,
            icon: "plus",
            run: go("/dashboard/sessions/new"),
          } as const,
        ]
      : []),
    ...(organization.environment === "live"
      ? [
          {
            id: "switch",
            label: other === "live" ? t.shell.search.toLive : t.shell.search.toSandbox,
            icon: "refresh",
            run: () => switchEnvironment(organization, other),
          } as const,
        ]
      : []),
    { id: "guides", label: t.ui.guides, icon: "book", run: () => window.open("/docs", "_blank", "noopener") },
    {
      id: "reference",
      label: t.ui.reference,
      icon: "braces",
      run: () => window.open("/reference", "_blank", "noopener"),
    },
  ];
}

/**
 * Search and commands. The focus stays in the field while the arrow keys move through the list
 * (`aria-activedescendant`). React Aria's lists do not work here, because they need React itself.
 */
export function Palette({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const listId = useId();
  const [active, setActive] = useState<number | null>(null);
  const [text, setText] = useState("");
  const settled = useSettled(text);
  const navigate = useNavigate();
  const result = useData(search, { query: { text: settled } }, { enabled: settled.length > 1 });
  const found = settled.length > 1 ? (result.data?.data.found ?? []) : [];
  const { organization } = useWorkspace();
  const [recent, setRecent] = useState(() => recentSearches(organization.id));
  const words = text.trim().toLowerCase();
  const commands = useCommands(onClose).filter(({ label }) => label.toLowerCase().includes(words));
  const things = found.map(
    (thing): Command => ({
      id: thing.id,
      label: thing.title ?? `${t.shell.search.kinds[thing.kind]} ${shortId(thing.id)}`,
      detail: [
        t.shell.search.kinds[thing.kind],
        thing.title === null ? null : shortIdOf(thing),
        thing.kind === "session" ? sessionStatusText(thing.detail ?? "") : thing.detail,
      ]
        .filter((part) => part !== null)
        .join(" · "),
      icon: foundIcons[thing.kind],
      run: () => {
        rememberSearch(organization.id, settled);
        onClose();
        const search = thing.kind === "api_request" ? { request: thing.id } : {};
        void navigate({ to: pathOf(thing), search });
      },
    }),
  );
  const searches: Command[] =
    words !== "" || recent.length === 0
      ? []
      : [
          ...recent.map(
            (each): Command => ({
              id: `recent ${each}`,
              label: each,
              icon: "clock",
              run: () => setText(each),
            }),
          ),
          {
            id: "forget",
            label: t.shell.search.clearRecent,
            icon: "x",
            run: () => {
              forgetSearches();
              setRecent([]);
            },
          },
        ];
  const all = [...things, ...searches, ...commands];
  const idOf = (command: Command) => `${listId}-${command.id.replaceAll(/\W/g, "-")}`;
  const at = active === null ? undefined : all[active % all.length];
  const atId = at && idOf(at);
  useModal(dialog);
  useEffect(() => {
    if (atId !== undefined) document.getElementById(atId)?.scrollIntoView({ block: "nearest" });
  }, [atId]);
  const onKey = (key: string): boolean => {
    if (all.length === 0) return false;
    if (key === "ArrowDown") setActive(active === null ? 0 : (active + 1) % all.length);
    else if (key === "ArrowUp") setActive(((active ?? 0) + all.length - 1) % all.length);
    else if (key === "Enter") (at ?? all[0])?.run();
    else return false;
    return true;
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a press outside closes; the keyboard has Escape.
    <dialog
      ref={dialog}
      aria-label={t.shell.search.open}
      className="mx-auto mt-[12vh] mb-auto w-[calc(100%-2rem)] max-w-xl overflow-hidden rounded-card border border-line bg-card p-0 text-ink shadow-raised"
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === event.currentTarget) onClose();
      }}
    >
      <div className="flex max-h-[70vh] flex-col">
        <div className="flex items-center gap-3 border-b border-line px-4">
          <Icon name="search" className="size-5 text-muted" />
          <input
            type="search"
            aria-label={t.shell.search.field}
            aria-autocomplete="list"
            aria-controls={listId}
            aria-activedescendant={atId}
            autoComplete="off"
            spellCheck={false}
            maxLength={searchLimits.textLength}
            placeholder={t.shell.search.placeholder}
            className="min-h-14 min-w-0 flex-1 bg-transparent outline-none [&::-webkit-search-cancel-button]:hidden"
            value={text}
            onChange={(event) => {
              setText(event.currentTarget.value);
              setActive(null);
            }}
            onKeyDown={(event) => {
              if (onKey(event.key)) event.preventDefault();
            }}
          />
        </div>
        <div
          id={listId}
          role="menu"
          tabIndex={-1}
          aria-label={t.shell.search.results}
          className="overflow-y-auto p-2 outline-none"
        >
          <Section title={t.shell.search.found} commands={things} idOf={idOf} activeId={atId} />
          <Section title={t.shell.search.recent} commands={searches} idOf={idOf} activeId={atId} />
          <Section title={t.shell.search.goTo} commands={commands} idOf={idOf} activeId={atId} />
        </div>
        {all.length > 0 ? null : (
          <output className="block px-3 pt-2 pb-6 text-center text-muted">
            {result.isFetching ? t.shell.search.searching : t.shell.search.nothing}
          </output>
        )}
      </div>
    </dialog>
  );
}

/** The search returns a session's status as its detail. */
function sessionStatusText(status: string): string {
  const words: Readonly<Record<string, string>> = t.ui.sessionStatus;
  return words[status] ?? status;
}

function shortIdOf({ kind, id }: Found): string | null {
  return kind === "member" ? null : shortId(id);
}

function Section(props: {
  title: string;
  commands: readonly Command[];
  idOf: (command: Command) => string;
  activeId: string | undefined;
}) {
  if (props.commands.length === 0) return null;
  return (
    <fieldset className="m-0 min-w-0 border-0 p-0">
      <legend className="px-3 pt-2 pb-1 text-xs font-semibold tracking-wide text-muted uppercase">
        {props.title}
      </legend>
      {props.commands.map((command) => (
        <button
          key={command.id}
          id={props.idOf(command)}
          type="button"
          role="menuitem"
          data-active={props.idOf(command) === props.activeId ? "" : undefined}
          className={`flex w-full cursor-pointer items-center gap-3 rounded-control px-3 py-2.5 text-start hover:bg-soft ${props.idOf(command) === props.activeId ? "bg-soft text-accent" : ""}`}
          onClick={() => command.run()}
        >
          <Icon name={command.icon} className="size-[1.125rem] text-muted" />
          <bdi className="min-w-0 truncate">{command.label}</bdi>
          {command.detail === undefined ? null : (
            <span className="ms-auto min-w-0 shrink-[99] truncate text-small text-muted">
              {command.detail}
            </span>
          )}
        </button>
      ))}
    </fieldset>
  );
}
