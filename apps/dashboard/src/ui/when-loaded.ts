import { toast } from "./toasts.tsx";

/** Shows a part of a page once its program is there. Drawn earlier, one that failed to come would take the page with it. */
export async function whenLoaded(
  load: () => Promise<unknown>,
  what: string,
  show: () => void,
): Promise<void> {
  try {
    await load();
  } catch {
    return toast(`${what} could not be loaded. Check your connection and try again.`, "warn");
  }
  show();
}
