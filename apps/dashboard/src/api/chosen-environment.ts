import { type Environment, environments } from "@assay/contract/facts";

/**
 * Where this page acts. It never changes while a page is shown, so that nobody presses a button in the one and has it carried out in the other;
 * whoever switches gets a fresh page.
 */
let chosen: { organizationId: string; environment: Environment } | null = null;

type Organization = { id: string; environment: Environment };

/** The environment of this page, once the organization is known. */
export function chosenEnvironment(): Environment {
  return chosen?.environment ?? environments[0];
}

/**
 * What was chosen last in this tab counts, then what was chosen last in any tab, for each organization by itself. Who has never chosen is shown what
 * is real, where there is such a thing.
 */
export function enterOrganization(organization: Organization): void {
  if (chosen?.organizationId === organization.id) return;
  const remembered = read(window.sessionStorage, organization) ?? read(window.localStorage, organization);
  chosen = {
    organizationId: organization.id,
    environment: organization.environment === "live" ? (remembered ?? "live") : "sandbox",
  };
}

export function rememberEnvironment(organization: Organization, environment: Environment): void {
  for (const storage of [window.sessionStorage, window.localStorage]) {
    try {
      storage.setItem(storageKey(organization), environment);
    } catch {
      // Storage can be turned off; the page then begins where one begins who has never chosen.
    }
  }
}

/** Loads a fresh page of the other environment: the list, where the page is about a single thing that is not there. */
export function switchEnvironment(organization: Organization, environment: Environment): void {
  rememberEnvironment(organization, environment);
  const [, root, section] = window.location.pathname.split("/");
  window.location.assign(section === undefined ? `/${root}` : `/${root}/${section}`);
}

const storageKey = ({ id }: Organization) => `assay.environment.${id}`;

function read(storage: Storage, organization: Organization): Environment | null {
  try {
    const stored = storage.getItem(storageKey(organization));
    return environments.find((each) => each === stored) ?? null;
  } catch {
    return null;
  }
}
