import { AsyncLocalStorage } from "node:async_hooks";

const holding = new AsyncLocalStorage<{ held: boolean }>();

/**
 * Marks everything that `work` does as done while a database connection is held. Work that `work` has started and left behind is
 * free again when `work` has ended.
 */
export async function whileConnectionIsHeld<T>(work: () => Promise<T>): Promise<T> {
  const state = { held: true };
  try {
    return await holding.run(state, work);
  } finally {
    state.held = false;
  }
}

/**
 * Called by whatever waits for the outside world, or for long work. A few requests that wait inside of a transaction would take all
 * connections, and with them the service from everybody else; so it is refused at once, before anybody depends on it.
 */
export function refuseWhileConnectionIsHeld(what: string): void {
  if (holding.getStore()?.held === true)
    throw new Error(
      `${what} inside of a database transaction; do it before, for a route in the \`prepare\` of its binding`,
    );
}
