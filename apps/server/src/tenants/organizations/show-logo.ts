import type { OrganizationId } from "@assay/contract/ids";
import type { Core } from "../../platform/core.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import type { MemberCaller } from "../../platform/kernel/caller.ts";
import { findLogo } from "./logo.store.ts";
import type { Logo } from "./logo-picture.ts";
import { readOwnOrganization } from "./organization.store.ts";

/** The picture at an address that an organization gave; null if there is none that may be shown. */
export type FetchLogo = (organizationId: OrganizationId, url: string) => Promise<Logo | null>;

/** The logo for the preview of staff: that of the verify page, even without a verified domain. */
export async function showLogo(
  { db }: Pick<Core, "db">,
  { organizationId, userId }: MemberCaller,
  fetchLogo: FetchLogo,
): Promise<Logo> {
  const uploaded = await findLogo(db, organizationId);
  if (uploaded !== null) return uploaded;
  const url = (await readOwnOrganization(db, organizationId, userId))?.logoUrl ?? null;
  const fetched = url === null ? null : await fetchLogo(organizationId, url);
  if (fetched === null) throw new ApiError("LOGO_NOT_FOUND");
  return fetched;
}
