import { type Environment, environments } from "@assay/contract/facts";
import { t } from "../i18n/words.ts";

/**
 * Where this page acts. It never changes while a page is shown, so that a button never acts in the other environment;
 * switching loads a fresh page.
 */
let chosen: { organizationId: string; environment: Environment } | null = null;

/** What a link asks for (`?environment=live`), such as one in a mail. Read before the router, which keeps only what a page knows. */
const asked = known(new URLSearchParams(window.location.search).get("environment"));

type Organization = { id: string; environment: Environment };

/** The title of the browser's tab: it says where the page acts, once that is known. */
export function windowTitle(page: string): string {
  const parts = chosen === null ? [page] : [page, t.ui.environments[chosen.environment]];
  return [...parts, "Assay"].join(" · ");
}

/** The environment of this page, once the organization is known. */
export function chosenEnvironment(): Environment {
  return chosen?.environment ?? environments[0];
}

/**
 * What the address asks for counts first, then what was chosen last in this tab, then in any tab, for each organization
 * by itself. Who has never chosen is shown what is real, where there is such a thing.
 */
export function enterOrganization(organization: Organization): void {
  if (chosen?.organizationId === organization.id) return;
  const remembered = asked ?? read("sessionStorage", organization) ?? read("localStorage", organization);
  const environment = organization.environment === "live" ? (remembered ?? "live") : "sandbox";
  chosen = { organizationId: organization.id, environment };
  if (asked !== null) rememberEnvironment(organization, environment);
}

export function rememberEnvironment(organization: Organization, environment: Environment): void {
  for (const storage of ["sessionStorage", "localStorage"] as const) {
    try {
      window[storage].setItem(storageKey(organization), environment);
    } catch {
      // Storage can be turned off, and then asking for it fails; the page begins where one begins who has never chosen.
    }
  }
}

/** Loads a fresh page of the other environment: the list, where the page is about a single thing that is not there. */
export function switchEnvironment(organization: Organization, environment: Environment): void {
  rememberEnvironment(organization, environment);
  const [, root, section] = window.location.pathname.split("/");
  window.location.assign(section === undefined ? `/${root}` : `/${root}/${section}`);
}

function known(text: string | null): Environment | null {
  return environments.find((each) => each === text) ?? null;
}

const storageKey = ({ id }: Organization) => `assay.environment.${id}`;

function read(storage: "sessionStorage" | "localStorage", organization: Organization): Environment | null {
  try {
    return known(window[storage].getItem(storageKey(organization)));
  } catch {
    return null;
  }
}
