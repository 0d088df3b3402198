import type { ListenerMessage } from "@assay/contract/webhook-listeners";
import type { Static } from "typebox";
import { type Api, expectData } from "./api.ts";
import { registration } from "./receiver.ts";

type Message = Static<typeof ListenerMessage>;

/** A message that has not arrived by then counts as missing. */
const patienceMs = 30_000;

export async function registerListener(api: Api, settings: Record<string, unknown> = {}) {
  const created = expectData(
    await api.post("/v1/webhooks/listeners", { encryption_key: registration("key-1"), ...settings }),
    201,
  );
  return { id: created.endpoint.id as string, secret: created.signing_secret as string, created };
}

/** The stream of a listener, as a program of the partner's reads it. */
export async function openListenerStream(url: string, credential: string, endpointId: string) {
  const abort = new AbortController();
  const response = await fetch(`${url}/v1/webhooks/listeners/${endpointId}/stream`, {
    headers: { authorization: `Bearer ${credential}` },
    signal: abort.signal,
  });
  if (response.status !== 200 || response.body === null)
    throw new Error(`no stream: ${response.status} ${await response.text()}`);
  const messages: Message[] = [];
  const waiting: (() => void)[] = [];
  let ended = false;
  let heartbeats = 0;
  const read = async () => {
    let text = "";
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk;
      for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
        const data = /^data: (.*)$/m.exec(text.slice(0, end))?.[1];
        if (text.slice(0, end).startsWith(":")) heartbeats += 1;
        text = text.slice(end + 2);
        if (data !== undefined) messages.push(JSON.parse(data) as Message);
      }
      for (const resolve of waiting.splice(0)) resolve();
    }
  };
  const closed = read()
    .catch(() => {})
    .finally(() => {
      ended = true;
      for (const resolve of waiting.splice(0)) resolve();
    });
  return {
    closed,
    close: () => abort.abort(),
    /** The next message, which must be of this type. */
    async next<T extends Message["type"]>(type: T): Promise<Message> {
      const patience = setTimeout(() => abort.abort(), patienceMs);
      while (messages.length === 0 && !ended) await new Promise<void>((resolve) => waiting.push(resolve));
      clearTimeout(patience);
      const message = messages.shift();
      if (message?.type !== type) throw new Error(`expected ${type}, got ${JSON.stringify(message)}`);
      return message;
    },
    async nextDelivery() {
      const { delivery } = await this.next("delivery");
      if (delivery === null) throw new Error("a delivery message without a delivery");
      return delivery;
    },
    /** Signs of life that came. */
    get heartbeats() {
      return heartbeats;
    },
    get unread() {
      return messages.length;
    },
  };
}
