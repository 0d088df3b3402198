import type { OrganizationId } from "@assay/contract/ids";
import { ApiError } from "../kernel/api-error.ts";
import { Places } from "./places.ts";

/**
 * A look-up of a name that a partner chose takes up to 12 seconds when its servers are silent, and its request keeps a slot meanwhile. Halved, somebody who sets up
 * several endpoints at once is refused; doubled, look-ups could take half of the slots.
 */
const maxOfOrganization = 4;
const maxOfProcess = 16;

/** Bounds look-ups of names that partners choose, so that slow name servers cannot take the slots of all requests. */
export class NameLookups {
  readonly #organizations = new Places<OrganizationId>(maxOfOrganization);
  readonly #all = new Places<"all">(maxOfProcess);

  async run<T>(organizationId: OrganizationId, lookUp: () => Promise<T>): Promise<T> {
    const leave = this.#all.isFull("all") ? null : this.#organizations.take(organizationId);
    if (leave === null)
      throw new ApiError("SERVICE_UNAVAILABLE", {
        message: "Too many names are being looked up at the moment.",
        headers: { "retry-after": "2" },
      });
    const leaveAll = this.#all.take("all");
    try {
      return await lookUp();
    } finally {
      leave();
      leaveAll?.();
    }
  }
}
