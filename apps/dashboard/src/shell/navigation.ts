import { hasRole, type Role } from "@assay/contract/route";
import type { LinkProps } from "@tanstack/react-router";
import type { IconName } from "../ui/icon.tsx";
import type { Place } from "./organization-context.ts";

type Entry = {
  to: NonNullable<LinkProps["to"]>;
  label: string;
  icon: IconName;
  role?: Role;
  exact?: boolean;
  /** Of the whole installation, for those whom its operator has marked. */
  operator?: true;
};

/** The pages of the dashboard, as the side and the search show them. */
const navigation: readonly { title: string; entries: readonly Entry[] }[] = [
  {
    title: "Verification",
    entries: [
      { to: "/dashboard", label: "Overview", icon: "overview", exact: true },
      { to: "/dashboard/sessions", label: "Sessions", icon: "sessions" },
      { to: "/dashboard/templates", label: "Templates", icon: "document" },
    ],
  },
  {
    title: "Integration",
    entries: [
      { to: "/dashboard/api-keys", label: "API keys", icon: "key", role: "admin" },
      { to: "/dashboard/api-log", label: "API log", icon: "receipt" },
      { to: "/dashboard/webhooks", label: "Webhooks", icon: "webhook" },
      { to: "/dashboard/deliveries", label: "Deliveries", icon: "deliveries" },
      { to: "/dashboard/events", label: "Events", icon: "events" },
      { to: "/dashboard/domains", label: "Domains", icon: "globe" },
    ],
  },
  {
    title: "Organization",
    entries: [
      { to: "/dashboard/members", label: "Members", icon: "members" },
      { to: "/dashboard/audit-log", label: "Audit log", icon: "audit", role: "admin" },
      { to: "/dashboard/go-live", label: "Going live", icon: "rocket" },
      { to: "/dashboard/settings", label: "Settings", icon: "settings" },
    ],
  },
  {
    title: "Installation",
    entries: [{ to: "/dashboard/operator", label: "Operator", icon: "laptop", operator: true }],
  },
];

/** Those that this person may see, by their groups. */
export function navigationOf({ account, organization }: Pick<Place, "account" | "organization">) {
  return navigation
    .map(({ title, entries }) => ({
      title,
      entries: entries.filter(
        ({ role, operator }) =>
          (role === undefined || hasRole(organization.role, role)) &&
          (operator !== true || account.is_operator),
      ),
    }))
    .filter(({ entries }) => entries.length > 0);
}
