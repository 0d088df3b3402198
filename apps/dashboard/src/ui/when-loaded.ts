import { t } from "../i18n/words.ts";
import { toast } from "./toasts.tsx";

/**
 * Shows a part of a page once its script is loaded. Rendered earlier, a script that fails to load would break
 * the whole page.
 */
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
