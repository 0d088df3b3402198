import { type Environment, environments } from "@assay/contract/facts";
import { t } from "../i18n/words.ts";
import { readStored, store } from "../state/stored.ts";

/**
 * The environment of this page. It never changes while the page is shown, so that a button never acts in the
 * other environment; switching loads a fresh page.
 */
let chosen: { organizationId: string; environment: Environment } | null = null;

/**
 * The environment in the address (`?environment=live`), such as in a mailed link. Read before the router
 * drops unknown parameters.
 */
const asked = known(new URLSearchParams(window.location.search).get("environment"));

type Organization = { id: string; environment: Environment };

/** The title of the browser's tab, with the environment once it is known. */
export function windowTitle(page: string): string {
  const parts = chosen === null ? [page] : [page, t.ui.environments[chosen.environment]];
  return [...parts, "Assay"].join(" · ");
}

/** The environment of this page, once the organization is known. */
export function chosenEnvironment(): Environment {
  return chosen?.environment ?? environments[0];
}

/**
 * The address decides first, then the last choice in this tab, then in any tab, for each organization.
 * Without a choice the page shows live if it is open.
 */
export function enterOrganization(organization: Organization): void {
  if (chosen?.organizationId === organization.id) return;
  const key = storageKey(organization);
  const remembered = asked ?? known(readStored(key, "sessionStorage")) ?? known(readStored(key));
  const environment = organization.environment === "live" ? (remembered ?? "live") : "sandbox";
  chosen = { organizationId: organization.id, environment };
  if (asked !== null) rememberEnvironment(organization, environment);
}

export function rememberEnvironment(organization: Organization, environment: Environment): void {
  for (const area of ["sessionStorage", "localStorage"] as const)
    store(storageKey(organization), environment, area);
}

/**
 * Loads a fresh page of the other environment. The page of one object leads to its list, because the other
 * environment does not have the object.
 */
export function switchEnvironment(organization: Organization, environment: Environment): void {
  rememberEnvironment(organization, environment);
  const [, root, section] = window.location.pathname.split("/");
  window.location.assign(section === undefined ? `/${root}` : `/${root}/${section}`);
}

function known(text: string | null): Environment | null {
  return environments.find((each) => each === text) ?? null;
}

const storageKey = ({ id }: Organization) => `assay.environment.${id}`;
