/** Resolves as soon as the device has a network. */
function whenOnline(): Promise<void> {
  if (navigator.onLine) return Promise.resolve();
  return new Promise((resolve) => window.addEventListener("online", () => resolve(), { once: true }));
}

/**
 * Loads a part of the page's code. Without a network it waits; the page already says that it is offline.
 * Browsers cache the failure of a module, so after a lost network the page may need a reload, which continues
 * where this one was.
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
