import { type Account, getAccount } from "@assay/contract/accounts";
import type { Pagination } from "@assay/contract/client";
import { listOrganizations, type Organization } from "@assay/contract/organizations";
import { shownText } from "@assay/contract/shown-text";
import type { Static } from "typebox";
import { enterOrganization } from "../api/chosen-environment.ts";
import { queries } from "../api/queries.ts";
import { chosenOrganization, rememberOrganization } from "./chosen-organization.ts";
import { activeOrganizationKey } from "./organization-context.ts";

/** The data that the frame needs first, as the service returns it. */
type Given = {
  /** Null when signed out; then nothing else is present. */
  account: { data: Static<typeof Account> } | null;
  organizations: { data: Static<typeof Organization>[]; pagination: Pagination };
  /** The session's active organization. */
  active_organization_id: string | null;
};

/** Page size that covers every organization of an ordinary user. */
export const ownOrganizations = { query: { limit: 100 } } as const;

/** The organization that was chosen in this browser, else the first. */
export function organizationToEnter<T extends { id: string }>(own: readonly T[]): T | undefined {
  return own.find(({ id }) => id === chosenOrganization()) ?? own[0];
}

let isSignedOut = false;

/** Whether the service served a signed-out browser. True once: a later visit follows a sign-in. */
export function takeSignedOut(): boolean {
  const was = isSignedOut;
  isSignedOut = false;
  return was;
}

/**
 * The service embeds account and organization in pages behind the sign-in, which saves three requests in a
 * row. Without this data the page sends the requests.
 */
export function takeGiven(): void {
  const element = document.getElementById("given");
  const text = element?.textContent ?? "";
  element?.remove();
  if (text === "") return;
  const given = JSON.parse(text, (_, value: unknown) =>
    typeof value === "string" ? shownText(value) : value,
  ) as Given;
  if (given.account === null) {
    isSignedOut = true;
    return;
  }
  queries.setQueryData([getAccount.id, {}], given.account);
  queries.setQueryData([listOrganizations.id, ownOrganizations], {
    pages: [given.organizations],
    pageParams: [undefined],
  });
  const entered = organizationToEnter(given.organizations.data);
  if (entered === undefined || entered.id !== given.active_organization_id) return;
  rememberOrganization(entered.id);
  enterOrganization(entered);
  queries.setQueryData([activeOrganizationKey, entered.id], entered);
}
