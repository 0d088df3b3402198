import { t } from "../i18n/words.ts";
import { toast } from "./toasts.tsx";

/** Shows a part of a page once its script is loaded: before that, a failed load would break the page. */
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
