import { ApiError } from "../kernel/api-error.ts";

/**
 * Looking up a name that a partner chose takes up to 12 seconds if its servers are silent, and its request
 * holds a slot meanwhile. With half of this limit, one organization could take it all; with twice, lookups
 * could take half of the slots.
 */
const maxAtOnce = 8;

/**
 * Limits lookups of names that partners choose, so that slow name servers cannot block the slots of all
 * requests.
 */
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
