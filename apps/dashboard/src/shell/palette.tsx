import { hasRole } from "@assay/contract/route";
import { type FoundKind, type FoundThing, search, searchLimits } from "@assay/contract/search";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import {
  Autocomplete,
  Dialog,
  Header,
  Input,
  Menu,
  MenuItem,
  MenuSection,
  Modal,
  ModalOverlay,
  SearchField,
} from "react-aria-components";
import type { Static } from "typebox";
import { switchEnvironment } from "../api/chosen-environment.ts";
import { useData } from "../api/queries.ts";
import { inWords } from "../ui/filters.tsx";
import { Icon, type IconName } from "../ui/icon.tsx";
import { shortId } from "../ui/short-id.ts";
import { navigationOf } from "./navigation.ts";
import { usePlace } from "./organization-context.ts";

type Found = Static<typeof FoundThing>;
type Command = { id: string; label: string; detail?: string | undefined; icon: IconName; run: () => unknown };

// Half: a request for nearly every key. Twice: one waits for what is there.
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
};

const foundNames: Record<FoundKind, string> = {
  session: "Session",
  event: "Event",
  delivery: "Delivery",
  webhook_endpoint: "Endpoint",
  member: "Member",
};

/** The page of something that was found. */
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
  }
}

function useCommands(close: () => void): readonly Command[] {
  const { account, organization, environment } = usePlace();
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
    { id: "account", label: "Your account", icon: "user", run: go("/dashboard/account") },
    ...(hasRole(organization.role, "admin")
      ? [{ id: "new", label: "Create a session", icon: "plus", run: go("/dashboard/sessions/new") } as const]
      : []),
    ...(organization.environment === "live"
      ? [
          {
            id: "switch",
            label: `Switch to ${other === "live" ? "live" : "the sandbox"}`,
            icon: "refresh",
            run: () => switchEnvironment(organization, other),
          } as const,
        ]
      : []),
    { id: "guides", label: "Guides", icon: "book", run: () => window.open("/docs", "_blank", "noopener") },
    {
      id: "reference",
      label: "API reference",
      icon: "braces",
      run: () => window.open("/reference", "_blank", "noopener"),
    },
  ];
}

/** Search and commands in one place: React Aria keeps the focus in the field while the arrows go through the list. */
export function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState("");
  const settled = useSettled(text);
  const navigate = useNavigate();
  const result = useData(search, { query: { text: settled } }, { enabled: settled.length > 1 });
  const found = settled.length > 1 ? (result.data?.data.found ?? []) : [];
  const words = text.trim().toLowerCase();
  const commands = useCommands(onClose).filter(({ label }) => label.toLowerCase().includes(words));
  const things = found.map(
    (thing): Command => ({
      id: thing.id,
      label: thing.title ?? `${foundNames[thing.kind]} ${shortId(thing.id)}`,
      detail: [
        foundNames[thing.kind],
        thing.title === null ? null : shortIdOf(thing),
        thing.kind === "session" ? inWords(thing.detail ?? "") : thing.detail,
      ]
        .filter((part) => part !== null)
        .join(" · "),
      icon: foundIcons[thing.kind],
      run: () => {
        onClose();
        void navigate({ to: pathOf(thing) });
      },
    }),
  );
  const all = new Map([...things, ...commands].map((command) => [command.id, command]));
  return (
    <ModalOverlay
      isOpen
      isDismissable
      onOpenChange={(open) => {
        if (!open) onClose();
      }}
      className="fixed inset-0 z-40 flex items-start justify-center bg-black/50 p-4 pt-[12vh]"
    >
      <Modal className="w-full max-w-xl overflow-hidden rounded-card border border-line bg-card shadow-raised">
        <Dialog aria-label="Search" className="flex max-h-[70vh] flex-col outline-none">
          <Autocomplete inputValue={text} onInputChange={setText}>
            <SearchField
              autoFocus
              aria-label="Search, or go to a page"
              className="flex items-center gap-3 border-b border-line px-4"
            >
              <Icon name="search" className="size-5 text-muted" />
              <Input
                maxLength={searchLimits.textLength}
                placeholder="Identifier, reference, e-mail or page"
                className="min-h-14 min-w-0 flex-1 bg-transparent outline-none [&::-webkit-search-cancel-button]:hidden"
              />
            </SearchField>
            <Menu
              aria-label="Results"
              className="overflow-y-auto p-2 outline-none"
              onAction={(key) => void all.get(String(key))?.run()}
              renderEmptyState={() => (
                <p className="px-3 py-6 text-center text-muted">
                  {result.isFetching ? "Searching…" : "Nothing was found in this environment."}
                </p>
              )}
            >
              <Section title="Found" commands={things} />
              <Section title="Go to" commands={commands} />
            </Menu>
          </Autocomplete>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

function shortIdOf({ kind, id }: Found): string | null {
  return kind === "member" ? null : shortId(id);
}

function Section({ title, commands }: { title: string; commands: readonly Command[] }) {
  if (commands.length === 0) return null;
  return (
    <MenuSection id={title}>
      <Header className="px-3 pt-2 pb-1 text-xs font-semibold tracking-wide text-muted uppercase">
        {title}
      </Header>
      {commands.map(({ id, label, detail, icon }) => (
        <MenuItem
          key={id}
          id={id}
          textValue={label}
          className="flex cursor-pointer items-center gap-3 rounded-control px-3 py-2.5 outline-none data-[focused]:bg-soft data-[focused]:text-accent"
        >
          <Icon name={icon} className="size-[1.125rem] text-muted" />
          <bdi className="min-w-0 truncate">{label}</bdi>
          {detail === undefined ? null : (
            <span className="ms-auto min-w-0 truncate text-small text-muted">{detail}</span>
          )}
        </MenuItem>
      ))}
    </MenuSection>
  );
}
