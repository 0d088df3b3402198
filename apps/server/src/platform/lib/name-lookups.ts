import { ApiError } from "../kernel/api-error.ts";

/**
 * A look-up of a name that a partner chose takes up to 12 seconds when its servers are silent, and its request keeps a slot meanwhile. Halved, one
 * organization could take all of them; doubled, look-ups could take half of the slots.
 */
const maxAtOnce = 8;

/** Bounds look-ups of names that partners choose, so that slow name servers cannot take the slots of all requests. */
export class NameLookups {
  #underWay = 0;

  async run<T>(lookUp: () => Promise<T>): Promise<T> {
    if (this.#underWay >= maxAtOnce)
      throw new ApiError("SERVICE_UNAVAILABLE", {
        message: "Too many names are being looked up at the moment.",
        headers: { "retry-after": "2" },
      });
    this.#underWay += 1;
    try {
      return await lookUp();
    } finally {
      this.#underWay -= 1;
    }
  }
}
