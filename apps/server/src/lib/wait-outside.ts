import { AsyncLocalStorage } from "node:async_hooks";
import { refuseWhileConnectionIsHeld } from "./held-connection.ts";

/** A place among the requests that are worked for, which can be lent to others for a while. */
export type Place = { leave: () => void; comeBack: () => void };

const places = new AsyncLocalStorage<Place>();

/** Marks everything that `work` does as done on this place. */
export function onPlace<T>(place: Place, work: () => Promise<T>): Promise<T> {
  return places.run(place, work);
}

/**
 * Everything that waits for the outside world, or for long work in another thread, goes through here. The event loop and the database have
 * nothing to do for the request meanwhile, so its place goes to somebody else. Inside of a transaction it is refused at once: `what` tells.
 */
export async function waitOutside<T>(what: string, work: () => Promise<T>): Promise<T> {
  refuseWhileConnectionIsHeld(what);
  const place = places.getStore();
  if (place === undefined) return work();
  place.leave();
  try {
    return await work();
  } finally {
    place.comeBack();
  }
}
