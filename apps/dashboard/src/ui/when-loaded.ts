import { t } from "../i18n/words.ts";
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
    return toast(t.ui.notLoaded(what), "warn");
  }
  show();
}
