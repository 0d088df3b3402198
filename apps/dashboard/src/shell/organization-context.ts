import type { Account } from "@assay/contract/accounts";
import type { Environment } from "@assay/contract/facts";
import type { Organization } from "@assay/contract/organizations";
import { hasRole, type Role } from "@assay/contract/route";
import { createContext, useContext } from "react";
import type { Static } from "typebox";
import { queries } from "../api/queries.ts";

export type Workspace = {
  account: Static<typeof Account>;
  organization: Static<typeof Organization>;
  /** The page's environment. `organization.environment` says only whether live is open. */
  environment: Environment;
};

export const AccountContext = createContext<Workspace["account"] | null>(null);

/** The signed-in account, with or without an organization. */
export function useAccount(): Workspace["account"] {
  const account = useContext(AccountContext);
  if (account === null) throw new Error("This page is shown to somebody who is not signed in.");
  return account;
}

export const WorkspaceContext = createContext<Workspace | null>(null);

/** The signed-in account, and the organization and environment that it acts in. */
export function useWorkspace(): Workspace {
  const workspace = useContext(WorkspaceContext);
  if (workspace === null) throw new Error("This page is shown outside of an organization.");
  return workspace;
}

/** Whether the user has this role or a higher one, and the organization is not about to be deleted. */
export function useMay(role: Role): boolean {
  const { organization } = useWorkspace();
  return hasRole(organization.role, role) && organization.pending_deletion_at === null;
}

export const activeOrganizationKey = "activeOrganization";

export async function refreshOrganization(): Promise<void> {
  await queries.invalidateQueries({ queryKey: [activeOrganizationKey] });
}
