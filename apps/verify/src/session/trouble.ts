import type { Messages } from "../i18n/messages.ts";
import { isNoAnswer } from "./api.ts";

/** Who could not do their part: the device has no network, nothing came back, or the service answered that it cannot. */
export type Trouble = "offline" | "no_answer" | "service";

export function troubleOf(error: unknown, online: boolean = navigator.onLine): Trouble {
  if (!isNoAnswer(error)) return "service";
  return online ? "no_answer" : "offline";
}

/** Never blames the service for a network that is gone, nor the network for a service that answers with a fault. */
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
