import { createHash, type KeyObject, randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { ListenerDelivery, ListenerEndReason, ListenerMessage } from "@assay/contract/webhook-listeners";
import type { WebhookDelivery, WebhookEndpoint } from "@assay/contract/webhooks";
import type { Static } from "typebox";
import { CommandError } from "./command.ts";
import { type Answer, forward, isSuccess, type Receiver } from "./forward.ts";
import { keyBits, newPrivateKey, readPrivateKey, registrationOf } from "./key-pair.ts";
import { decryptBody, isSignedWith } from "./open-delivery.ts";
import { addressHint, exitRefused, exitUnreachable, explain } from "./reach-service.ts";
import { responseTo } from "./respond.ts";
import type { Screen } from "./screen.ts";
import { NotTheServiceError, pause, RefusedError, type ServiceClient, UnreachableError } from "./service.ts";
import type { ListenerState, Prepared, Slot } from "./state.ts";
import { onNpxEnded, onStopSignal } from "./stop-signals.ts";
import { printable } from "./style.ts";

type Endpoint = Pick<
  Static<typeof WebhookEndpoint>,
  "enabled" | "subscribed_event_types" | "has_active_key"
> & {
  id: string;
};
type Delivery = Static<typeof ListenerDelivery>;
type Message = Static<typeof ListenerMessage>;
type Recorded = Pick<Static<typeof WebhookDelivery>, "status" | "next_attempt_at">;

type ListeningOptions = {
  service: ServiceClient;
  slot: Slot;
  screen: Screen;
  forwardTo: Receiver | null;
  isDecrypted: boolean;
  isPrinted: boolean;
  /** Replies in place of a receiver, or null. */
  responses: readonly Answer[] | null;
  /** Null: all types, or those that the endpoint has already. */
  eventTypes: readonly string[] | null;
};

const exitEnded = 5;
const secretHint =
  "If it was rotated, end this command with Ctrl-C and start it again: it registers a new endpoint, whose secret it knows.";
const eventTypesField = /`subscribed_event_types[^`]*`/;
const firstWaitMs = 1_000;
const maxWaitMs = 30_000;
const answerTries = 3;
const removeWithinMs = 5_000;
/** Fewer: after a lost connection, part of a burst is forwarded twice. */
const maxKeptAnswers = 200;

/** One listener, from its first line to its last. */
export class Listening {
  readonly #options: ListeningOptions;
  readonly #ended = new AbortController();
  /**
   * Answers in progress, or not accepted by the service because the connection was lost. A repeated delivery
   * gets the same answer, so that the receiver gets each delivery once.
   */
  readonly #answers = new Map<string, Promise<Answer>>();
  #state: ListenerState = { keyId: "", endpointId: null, signingSecret: null, registration: null };
  #privateKey: KeyObject | null = null;
  #exitCode: number | null = null;
  #hasConnected = false;
  #wasHinted = false;
  #isSecretWithheld = false;

  constructor(options: ListeningOptions) {
    this.#options = options;
  }

  /** Resolves with the exit code. */
  async run(replay: string | null): Promise<number> {
    const end = () => this.#ended.abort();
    const unwatch = [onStopSignal(["SIGINT", "SIGTERM", "SIGHUP"], end), onNpxEnded(process.env, end)];
    // The reader of the output is gone (`| head`), which ends a command like Ctrl-C.
    process.stdout.on("error", end);
    try {
      await this.#prepareKey();
      await this.#connectUntilEnded(replay);
      // If the service ended the stream, the endpoint is not ours to remove.
      if (this.#exitCode !== null) return this.#exitCode;
      await this.#remove();
      return 0;
    } finally {
      for (const stop of unwatch) stop();
    }
  }

  /** The secret of the endpoint of the next start. Registers the endpoint if it does not exist yet. */
  async prepare(): Promise<Prepared> {
    try {
      await this.#prepareKey();
      await this.#ensureEndpoint();
    } catch (error) {
      throw this.#explain(error);
    }
    return { ...this.#state, keyFile: this.#options.slot.keyFile };
  }

  /** Asks for an event to be sent again to an endpoint that another process listens for. */
  async replayTo(endpointId: string, eventId: string): Promise<number> {
    try {
      return (await this.#replay(endpointId, eventId)) ? 0 : exitRefused;
    } catch (error) {
      throw this.#explain(error);
    }
  }

  // --- the endpoint ----------------------------------------------------------------------------------------

  async #prepareKey(): Promise<void> {
    const { slot } = this.#options;
    const [state, pem] = [slot.read(), slot.readKey()];
    if (state !== null && pem !== null) {
      this.#state = state;
      this.#privateKey = readPrivateKey(pem);
      return;
    }
    const made = await newPrivateKey(keyBits.temporary);
    slot.writeKey(made);
    this.#privateKey = readPrivateKey(made);
    const { jwk } = registrationOf(this.#privateKey, "");
    const name = createHash("sha256").update(jwk.n).digest("hex").slice(0, 8);
    this.#remember({ keyId: `listen-${name}`, endpointId: null, signingSecret: null, registration: null });
  }

  #remember(change: Partial<ListenerState>): void {
    this.#state = { ...this.#state, ...change };
    this.#options.slot.write(this.#state);
  }

  /** The previous endpoint if it still exists, or a new one. */
  async #ensureEndpoint(): Promise<string> {
    const { service, screen, eventTypes } = this.#options;
    const known = this.#state.endpointId;
    if (known !== null) {
      const endpoint = await orNull(
        service.call<Endpoint>({ method: "GET", path: `/v1/webhooks/endpoints/${known}` }),
      );
      if (endpoint !== null) {
        await this.#adjust(endpoint);
        return known;
      }
      if (this.#hasConnected)
        screen.warn(
          "The endpoint was removed while we were away. A new one is registered; its secret differs.",
        );
      this.#remember({ endpointId: null, signingSecret: null, registration: null });
    }
    return this.#register(eventTypes);
  }

  async #adjust(endpoint: Endpoint): Promise<void> {
    const { service, screen, eventTypes } = this.#options;
    const change = {
      ...(endpoint.enabled ? {} : { enabled: true }),
      ...(eventTypes === null || sameSet(eventTypes, endpoint.subscribed_event_types)
        ? {}
        : { subscribed_event_types: eventTypes }),
    };
    if (Object.keys(change).length > 0)
      await service.call({ method: "PATCH", path: `/v1/webhooks/endpoints/${endpoint.id}`, body: change });
    if (!endpoint.enabled) screen.warn("The endpoint was disabled; it is enabled again.");
    if (!endpoint.has_active_key)
      screen.warn("The endpoint has no active key, so nothing is sent. Reactivate its key in the dashboard.");
  }

  async #register(eventTypes: readonly string[] | null): Promise<string> {
    const { service } = this.#options;
    // Saved before the request: after a kill, the next start repeats it and gets the same endpoint.
    if (this.#state.registration === null) this.#remember({ registration: randomUUID() });
    const body = {
      name: `assay listen on ${hostname()}`.slice(0, 120),
      encryption_key: registrationOf(this.#key(), this.#state.keyId),
      ...(eventTypes === null ? {} : { subscribed_event_types: eventTypes }),
    };
    const idempotencyKey = createHash("sha256")
      .update(`${this.#state.registration}${JSON.stringify(body)}`)
      .digest("hex");
    const created = await service.call<{ endpoint: Endpoint; signing_secret: string }>({
      method: "POST",
      path: "/v1/webhooks/listeners",
      body,
      idempotencyKey,
    });
    this.#remember({
      endpointId: created.endpoint.id,
      signingSecret: created.signing_secret,
      registration: null,
    });
    return created.endpoint.id;
  }

  async #remove(): Promise<void> {
    const { service, screen } = this.#options;
    const id = this.#state.endpointId;
    if (id === null) return;
    const late = new Promise<never>((_, reject) => {
      setTimeout(() => reject(new UnreachableError("no answer came in time")), removeWithinMs).unref();
    });
    try {
      await Promise.race([
        orNull(service.call({ method: "DELETE", path: `/v1/webhooks/endpoints/${id}` })),
        late,
      ]);
      screen.line(`Endpoint ${id} removed.`);
      screen.record({ type: "removed", endpoint_id: id });
    } catch (error) {
      screen.warn(
        `Endpoint ${id} could not be removed (${(error as Error).message}). It is removed by itself after an hour; started again before that, this command goes on with it.`,
      );
      return;
    }
    this.#remember({ endpointId: null, signingSecret: null, registration: null });
  }

  #key(): KeyObject {
    if (this.#privateKey === null) throw new Error("there is no key yet");
    return this.#privateKey;
  }

  // --- the stream ------------------------------------------------------------------------------------------

  async #connectUntilEnded(replay: string | null): Promise<void> {
    const { screen } = this.#options;
    let waitMs = firstWaitMs;
    let isNew = true;
    while (!this.#ended.signal.aborted) {
      let problem = "the service closed it";
      try {
        for await (const message of this.#open()) {
          if (message.type === "ready") {
            this.#showReady(message);
            waitMs = firstWaitMs;
            if (isNew && replay !== null) await this.#replay(message.endpoint_id, replay);
            isNew = false;
          } else if (message.type === "delivery" && message.delivery !== null) {
            void this.#deal(message.delivery);
          } else if (message.type === "ended" && message.reason !== "closing") {
            this.#end(message.reason);
            return;
          }
        }
      } catch (error) {
        if (this.#ended.signal.aborted) return;
        const mayPass =
          error instanceof UnreachableError ||
          error instanceof NotTheServiceError ||
          (error instanceof RefusedError && (error.status >= 500 || error.status === 409));
        if (!this.#hasConnected || !mayPass) throw this.#explain(error);
        problem = (error as Error).message;
        if (error instanceof RefusedError) waitMs = Math.max(waitMs, error.retryAfterMs ?? 0);
      }
      if (this.#ended.signal.aborted) return;
      // Jitter, so that listeners do not all reconnect at once after a restart of the service.
      const pauseMs = Math.round(waitMs * (0.5 + Math.random() / 2));
      screen.warn(
        `Connection lost (${printable(problem)}). Trying again in ${(pauseMs / 1000).toFixed(1)} s; deliveries wait.`,
      );
      await pause(pauseMs, this.#ended.signal);
      waitMs = Math.min(2 * waitMs, maxWaitMs);
    }
  }

  async *#open(): AsyncGenerator<Message> {
    const { service } = this.#options;
    const id = await this.#ensureEndpoint();
    yield* service.stream<Message>(`/v1/webhooks/listeners/${id}/stream`, this.#ended.signal);
  }

  #end(reason: ListenerEndReason | null): void {
    const { screen } = this.#options;
    this.#exitCode = exitEnded;
    screen.record({ type: "ended", reason });
    if (reason === "taken_over")
      screen.warn("Another listener with the same key pair has taken over this endpoint. Ended.");
    else {
      screen.warn("The endpoint was removed elsewhere. Start again for a new one.");
      this.#remember({ endpointId: null, signingSecret: null, registration: null });
    }
  }

  #showReady({ endpoint_id: id, environment, waiting }: Message): void {
    const { screen, service, slot, forwardTo, responses, isDecrypted } = this.#options;
    const { signingSecret, keyId } = this.#state;
    screen.record({
      type: "ready",
      url: service.url,
      environment,
      endpoint_id: id,
      signing_secret: signingSecret,
      key_id: keyId,
      private_key_file: slot.keyFile,
      waiting,
    });
    const waits =
      waiting === null || waiting === 0
        ? ""
        : ` ${waiting} ${waiting === 1 ? "delivery has" : "deliveries have"} waited.`;
    if (this.#hasConnected) {
      screen.line(screen.paint("green", `Connected again.${waits}`));
      return;
    }
    this.#hasConnected = true;
    const row = (name: string, value: string) =>
      screen.line(`  ${screen.paint("dim", name.padEnd(16))}${value}`);
    screen.line(
      screen.paint(
        "bold",
        `Listening at ${service.url} (${environment}).${waits} Ctrl-C removes the endpoint.`,
      ),
    );
    row("Endpoint", id);
    row("Signing secret", signingSecret ?? "unknown");
    row("Encryption key", keyId);
    row("Private key", slot.keyFile);
    row(
      "Answers",
      forwardTo !== null
        ? `those of ${forwardTo.url.href}${forwardTo.isCertificateChecked ? "" : ", whose certificate is not checked"}${isDecrypted ? ", which gets plain events" : ""}`
        : responses !== null
          ? `${responses.map((answer) => describe(answer)).join(", ")}, try by try`
          : "200 for valid deliveries, 401 for others; --forward-to forwards them to your receiver",
    );
    if (forwardTo !== null && !isDecrypted) {
      screen.line("For the environment of your receiver:");
      screen.line(`  WEBHOOK_SECRET='${signingSecret}'`);
      screen.line(`  WEBHOOK_PRIVATE_KEY_FILE='${slot.keyFile}'`);
    }
    if (environment === "live")
      screen.warn("This organization is live: deliveries are about real people, and stay in your terminal.");
  }

  // --- deliveries ------------------------------------------------------------------------------------------

  /** One delivery, from its arrival to its line. Never rejects. */
  async #deal(delivery: Delivery): Promise<void> {
    const startedAt = performance.now();
    const { event, problem } = await this.#openEvent(delivery);
    const again = `${delivery.delivery_id} ${delivery.attempt}`;
    const known = this.#answers.get(again) ?? null;
    const answering = known ?? this.#answerFor(delivery, event, problem);
    if (this.#answers.size < maxKeptAnswers) this.#answers.set(again, answering);
    const answer = await answering;
    const durationMs = Math.round(performance.now() - startedAt);
    const recorded = await this.#answer(delivery, answer);
    if (this.#ended.signal.aborted) return;
    if (recorded !== null) this.#answers.delete(again);
    this.#show(delivery, { event, problem, answer, durationMs, recorded, isAgain: known !== null });
  }

  async #openEvent({ headers, body }: Delivery): Promise<{ event: unknown; problem: string | null }> {
    let event: unknown;
    try {
      event = JSON.parse(decryptBody(body, this.#key()));
    } catch {
      return { event: null, problem: "it does not open with the key of this listener." };
    }
    const signature = headers["x-service-signature"] ?? "";
    const isSigned = () => {
      const { signingSecret } = this.#state;
      return signingSecret !== null && isSignedWith(signature, body, signingSecret);
    };
    if (isSigned() || ((await this.#takeOverSecret()) && isSigned())) return { event, problem: null };
    return { event, problem: `the signature was made with another secret. ${secretHint}` };
  }

  /** After a rotation elsewhere: fetches the new secret if the credential may read it. API keys may not. */
  async #takeOverSecret(): Promise<boolean> {
    if (this.#isSecretWithheld) return false;
    const { service, screen } = this.#options;
    const path = `/v1/webhooks/endpoints/${this.#state.endpointId}/signing-secret/reveal`;
    try {
      const { signing_secret: secret } = await service.call<{ signing_secret: string }>({
        method: "POST",
        path,
      });
      if (secret === this.#state.signingSecret) return true;
      this.#remember({ signingSecret: secret });
      screen.record({ type: "secret", endpoint_id: this.#state.endpointId, signing_secret: secret });
      screen.warn(
        "The signing secret was rotated. The new one is used from now on; your receiver needs it too:",
      );
      screen.line(`  WEBHOOK_SECRET='${secret}'`);
      return true;
    } catch (error) {
      // Asked once: every attempt is written to the audit log of the organization.
      if (error instanceof RefusedError && error.status === 403) this.#isSecretWithheld = true;
      return false;
    }
  }

  async #answerFor(delivery: Delivery, event: unknown, problem: string | null): Promise<Answer> {
    const { forwardTo, responses, isDecrypted } = this.#options;
    const response = responses === null ? null : responseTo(responses, delivery.attempt);
    if (response !== null) return response;
    // A receiver of plain events has no signature to check, so this check replaces it.
    if (problem !== null && (forwardTo === null || isDecrypted)) return { status_code: 401 };
    if (forwardTo === null) return { status_code: 200 };
    if (!isDecrypted) return forward(forwardTo, delivery.headers, delivery.body);
    const { headers } = delivery;
    const plain = {
      "content-type": "application/json",
      ...pick(headers, ["user-agent", "x-service-delivery-id", "x-service-event", "webhook-id"]),
    };
    return forward(forwardTo, plain, JSON.stringify(event));
  }

  /** Null if the service no longer waits for the answer, or could not be reached. */
  async #answer({ delivery_id: id, lease }: Delivery, answer: Answer): Promise<Recorded | null> {
    const { service } = this.#options;
    const path = `/v1/webhooks/listeners/${this.#state.endpointId}/deliveries/${id}/answer`;
    for (let tries = 1; tries <= answerTries && !this.#ended.signal.aborted; tries++) {
      try {
        return await service.call<Recorded>({ method: "POST", path, body: { lease, ...answer } });
      } catch (error) {
        if (error instanceof RefusedError && error.status < 500) return null;
        await pause(500 * tries, this.#ended.signal);
      }
    }
    return null;
  }

  #show(
    delivery: Delivery,
    shown: {
      event: unknown;
      problem: string | null;
      answer: Answer;
      durationMs: number;
      recorded: Recorded | null;
      isAgain: boolean;
    },
  ): void {
    const { screen, forwardTo, isPrinted } = this.#options;
    const { event, problem, answer, durationMs, recorded, isAgain } = shown;
    const at = new Date();
    screen.record({
      type: "delivery",
      at: at.toISOString(),
      delivery_id: delivery.delivery_id,
      event_id: delivery.event_id,
      event_type: delivery.event_type,
      attempt: delivery.attempt,
      verified: problem === null,
      problem,
      forwarded_to: forwardTo?.url.href ?? null,
      ...("status_code" in answer
        ? { status_code: answer.status_code, error: null }
        : { status_code: null, error: answer.error }),
      duration_ms: durationMs,
      status: recorded?.status ?? null,
      next_attempt_at: recorded?.next_attempt_at ?? null,
      event,
      request: { headers: delivery.headers, body: delivery.body },
    });
    const colour = isSuccess(answer) ? "green" : "red";
    const next = recorded?.next_attempt_at ?? null;
    const after =
      recorded === null
        ? "not taken: it is sent again"
        : next !== null
          ? `next try ${clockTime(new Date(next))}`
          : recorded.status === "failed"
            ? "that was the last try"
            : "";
    screen.line(
      [
        screen.paint("dim", clockTime(at)),
        screen.paint("cyan", printable(delivery.event_type)),
        delivery.event_id,
        `try ${delivery.attempt}`,
        screen.paint(colour, `→ ${describe(answer)}${isAgain ? " (as before)" : ""}`),
        `${durationMs} ms`,
        ...(after === "" ? [] : [screen.paint("yellow", after)]),
      ].join("  "),
    );
    if (problem !== null) screen.warn(`  Not verified: ${problem}`);
    this.#hint(answer);
    if (isPrinted && event !== null)
      // JSON escapes C0 controls but not C1, which a terminal would obey.
      screen.line(
        JSON.stringify(event, null, 2)
          .replace(/[\u007f-\u009f]/g, "\ufffd")
          .replace(/^/gm, "  "),
      );
  }

  /** Advice, once, about an unreachable receiver or an answer with consequences. */
  #hint(answer: Answer): void {
    const { screen, forwardTo } = this.#options;
    if ("status_code" in answer && answer.status_code === 410)
      screen.warn("  410 disables the endpoint, as it would any other. Start again and it is enabled.");
    if (this.#wasHinted || forwardTo === null || !("error" in answer)) return;
    this.#wasHinted = true;
    const { host, href } = forwardTo.url;
    const why =
      answer.error === "timeout"
        ? `${host} did not answer within 14 s.`
        : answer.error === "tls_failed"
          ? `The certificate of ${host} is not trusted here; --skip-verify takes it all the same.`
          : `Nobody took it at ${href}: is your receiver running there?`;
    screen.warn(`  ${why} It counts as failed and is tried again on the ordinary schedule.`);
  }

  // --- replay ----------------------------------------------------------------------------------------------

  /** Retries the delivery to this endpoint only: replaying the event would send it to the others too. */
  async #replay(endpointId: string, eventId: string): Promise<boolean> {
    const { service, screen } = this.#options;
    const query = new URLSearchParams({ endpoint_id: endpointId, event_id: eventId });
    const deliveries = await service.call<{ id: string; status: string }[]>({
      method: "GET",
      path: `/v1/webhooks/deliveries?${query}`,
    });
    const [delivery] = deliveries;
    if (delivery === undefined) {
      screen.warn(
        `${printable(eventId)} was not sent to this endpoint, so it cannot be sent again: the service seals an event when it happens, for the endpoints that there are, and keeps nothing that it could seal later.`,
      );
      return false;
    }
    try {
      await service.call({ method: "POST", path: `/v1/webhooks/deliveries/${delivery.id}/retry` });
      screen.line(`${eventId} is sent again.`);
      return true;
    } catch (error) {
      if (!(error instanceof RefusedError) || error.status !== 409) throw error;
      screen.warn(
        error.code === "WEBHOOK_PAYLOAD_EXPIRED"
          ? `${eventId} cannot be sent again: the service deletes a payload when it has been taken. Send a test event, or run another sandbox session.`
          : `${eventId} is being sent right now.`,
      );
      return false;
    }
  }

  /** The failure as a message that says what to do, with its exit code. */
  #explain(error: unknown): unknown {
    const { url } = this.#options.service;
    if (!(error instanceof RefusedError)) return explain(error, url);
    if (error.status === 404 || error.status === 405)
      return new CommandError(
        `${url} has no listeners. ${addressHint} Or the service there is older than this command.`,
        exitUnreachable,
      );
    if (this.#options.eventTypes !== null && eventTypesField.test(error.message))
      return new CommandError(error.message.replace(eventTypesField, "--events"), exitRefused);
    return explain(error, url);
  }
}

async function orNull<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof RefusedError && error.status === 404) return null;
    throw error;
  }
}

function describe(answer: Answer): string {
  return "status_code" in answer ? String(answer.status_code) : answer.error.replaceAll("_", " ");
}

function clockTime(at: Date): string {
  return at.toTimeString().slice(0, 8);
}

function sameSet(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((item) => other.includes(item));
}

function pick(from: Readonly<Record<string, string>>, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (from[name] === undefined ? [] : [[name, from[name]]])));
}
