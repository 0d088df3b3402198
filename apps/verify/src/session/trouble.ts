import type { Messages } from "../i18n/messages.ts";
import { isNoAnswer } from "./api.ts";

/** What failed: the device has no network, no answer came, or the service answered with a fault. */
export type Trouble = "offline" | "no_answer" | "service";

export function troubleOf(error: unknown, online: boolean = navigator.onLine): Trouble {
  if (!isNoAnswer(error)) return "service";
  return online ? "no_answer" : "offline";
}

/** Never blames the service for a lost network, nor the network for a fault of the service. */
export function troubleWords(t: Messages, trouble: Trouble): { title: string; text: string } {
  switch (trouble) {
    case "offline":
      return { title: t.offlineTitle, text: t.offlineText };
    case "no_answer":
      return { title: t.noAnswerTitle, text: t.noAnswerText };
    case "service":
      return { title: t.troubleTitle, text: t.troubleText };
  }
}
