import type { Role } from "@assay/contract/route";
import type { LinkProps } from "@tanstack/react-router";
import type { IconName } from "../ui/icon.tsx";

export type Entry = {
  to: NonNullable<LinkProps["to"]>;
  label: string;
  icon: IconName;
  role?: Role;
  exact?: boolean;
};

/** The pages of the dashboard, as the side and the search show them. */
export const navigation: readonly { title: string; entries: readonly Entry[] }[] = [
  {
    title: "Verification",
    entries: [
      { to: "/dashboard", label: "Overview", icon: "overview", exact: true },
      { to: "/dashboard/sessions", label: "Sessions", icon: "sessions" },
    ],
  },
  {
    title: "Integration",
    entries: [
      { to: "/dashboard/api-keys", label: "API keys", icon: "key", role: "admin" },
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
];
