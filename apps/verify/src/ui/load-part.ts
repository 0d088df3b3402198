/** Resolves as soon as the device has a network. */
function whenOnline(): Promise<void> {
  if (navigator.onLine) return Promise.resolve();
  return new Promise((resolve) => window.addEventListener("online", () => resolve(), { once: true }));
}

/**
 * Loads a part of the page's program. Without a network it waits: nothing is wrong with the device, and the page says already that it is
 * offline. Browsers remember a module that they could not fetch, so one that failed when the network went may need a fresh page, which goes
 * on where this one was.
 */
export async function loadPart<T>(load: () => Promise<T>): Promise<T> {
  await whenOnline();
  try {
    return await load();
  } catch (error) {
    if (navigator.onLine) throw error;
  }
  await whenOnline();
  try {
    return await load();
  } catch {
    location.reload();
    return new Promise(() => {});
  }
}
