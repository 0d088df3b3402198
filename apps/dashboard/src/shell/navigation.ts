import { hasRole, type Role } from "@assay/contract/route";
import type { LinkProps } from "@tanstack/react-router";
import { type Messages, t } from "../i18n/words.ts";
import type { IconName } from "../ui/icon.tsx";
import type { Workspace } from "./organization-context.ts";

type Entry = {
  to: NonNullable<LinkProps["to"]>;
  page: keyof Messages["shell"]["pages"];
  icon: IconName;
  role?: Role;
  exact?: boolean;
  /** For the whole installation; only users whom the operator has marked see it. */
  operator?: true;
};

/** The pages of the dashboard, for the sidebar and the search. */
const navigation: readonly { group: keyof Messages["shell"]["groups"]; entries: readonly Entry[] }[] = [
  {
    group: "verification",
    entries: [
      { to: "/dashboard", page: "overview", icon: "overview", exact: true },
      { to: "/dashboard/sessions", page: "sessions", icon: "sessions" },
      { to: "/dashboard/templates", page: "templates", icon: "document" },
    ],
  },
  {
    group: "integration",
    entries: [
      { to: "/dashboard/api-keys", page: "apiKeys", icon: "key", role: "admin" },
      { to: "/dashboard/api-log", page: "apiLog", icon: "receipt" },
      { to: "/dashboard/webhooks", page: "webhooks", icon: "webhook" },
      { to: "/dashboard/deliveries", page: "deliveries", icon: "deliveries" },
      { to: "/dashboard/events", page: "events", icon: "events" },
      { to: "/dashboard/domains", page: "domains", icon: "globe" },
    ],
  },
  {
    group: "organization",
    entries: [
      { to: "/dashboard/members", page: "members", icon: "members" },
      { to: "/dashboard/audit-log", page: "auditLog", icon: "audit", role: "admin" },
      { to: "/dashboard/go-live", page: "goLive", icon: "rocket" },
      { to: "/dashboard/settings", page: "settings", icon: "settings" },
    ],
  },
  {
    group: "installation",
    entries: [{ to: "/dashboard/operator", page: "operator", icon: "laptop", operator: true }],
  },
];

/** The pages that this user may see, by group. */
export function navigationOf({ account, organization }: Pick<Workspace, "account" | "organization">) {
  return navigation
    .map(({ group, entries }) => ({
      title: t.shell.groups[group],
      entries: entries
        .filter(
          ({ role, operator }) =>
            (role === undefined || hasRole(organization.role, role)) &&
            (operator !== true || account.is_operator),
        )
        .map((entry) => ({ ...entry, label: t.shell.pages[entry.page] })),
    }))
    .filter(({ entries }) => entries.length > 0);
}
