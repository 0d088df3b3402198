import { displayContext } from "../device/display-context.ts";
import type { Status } from "../session/api.ts";

/** The protocol of `/embed/v1.js`: docs/embedding.md has it. It carries only ids and states. */
const protocol = 1;

type FrameMessage =
  | { type: "ready" }
  | { type: "height"; height: number }
  | { type: "state"; status: Status["status"]; step: string | null }
  | { type: "finished" };

/** The page of the partner around this one. */
let listener: { origin: string; sessionId: string } | null = null;
/** Whether our script is in it: then it takes the frame away when the person is done. */
let isScripted = false;
const watchers = new Set<() => void>();

/** From now on events are posted to `origin`; the browser drops them if the parent has another origin. */
export function startReporting(origin: string, sessionId: string): () => void {
  listener = { origin, sessionId };
  const onMessage = ({ source, origin: from, data }: MessageEvent<unknown>) => {
    if (source !== window.parent || from !== origin) return;
    if (data === null || typeof data !== "object") return;
    const said = data as { assay?: unknown; type?: unknown; session?: unknown };
    if (said.assay !== protocol || said.type !== "hello" || said.session !== sessionId) return;
    isScripted = true;
    for (const watcher of watchers) watcher();
  };
  window.addEventListener("message", onMessage);
  report({ type: "ready" });
  return () => {
    window.removeEventListener("message", onMessage);
    listener = null;
  };
}

export function report(message: FrameMessage): void {
  if (listener === null) return;
  const { origin, sessionId } = listener;
  window.parent.postMessage({ assay: protocol, session: sessionId, ...message }, origin);
}

export function watchScript(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

export function hasScript(): boolean {
  return isScripted;
}

/**
 * The person is done here. A page alone goes to the partner's address. In a frame it notifies the parent
 * page. A tab that a frame opened stays, because the person continues where they began.
 */
export function goBack(url: string | null): void {
  if (displayContext() === "frame") {
    if (isScripted) report({ type: "finished" });
  } else if (displayContext() === "alone" && url !== null) location.assign(url);
}
