import * as listenerContract from "@assay/contract/webhook-listeners";
import * as contract from "@assay/contract/webhooks";
import type { Core } from "../../platform/core.ts";
import { type Binding, bind } from "../../platform/http/mount.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import { parsePage, viewPage } from "../../platform/kernel/page.ts";
import { parseCreated, parsePeriod } from "../../platform/kernel/times.ts";
import type { NameLookups } from "../../platform/lib/name-lookups.ts";
import type { SafeFetch } from "../../platform/lib/safe-fetch.ts";
import { answerDelivery } from "./answer-delivery.ts";
import {
  attemptsOf,
  countDeliveries,
  type DeliveryRow,
  findDelivery,
  listDeliveries,
} from "./delivery.store.ts";
import { viewDelivery, viewDeliveryAttempt, viewSealedBody } from "./delivery.view.ts";
import { listEncryptionKeys } from "./encryption-key.store.ts";
import { viewEncryptionKey } from "./encryption-key.view.ts";
import { findEndpoint, listEndpoints } from "./endpoint.store.ts";
import { viewEndpoint } from "./endpoint.view.ts";
import { type EventRow, findEvent, listEvents } from "./event.store.ts";
import { viewEvent } from "./event.view.ts";
import { exchangesOf, findSealedBody } from "./exchange.store.ts";
import type { ListenerHub } from "./listener-hub.ts";
import { CheckedUrl, changeEndpoint, createEndpoint, removeEndpoint } from "./manage-endpoint.ts";
import { activateKey, registerKey } from "./manage-key.ts";
import { revealSecret, rotateSecret } from "./manage-secret.ts";
import { registerListener } from "./register-listener.ts";
import { replayEvent, retryDelivery, retryFailed } from "./restart-delivery.ts";
import { sendTestEvent } from "./send-test-event.ts";

export function webhookRoutes(
  core: Core,
  safeFetch: SafeFetch,
  listeners: ListenerHub,
  lookups: NameLookups,
): Binding[] {
  return [
    ...endpointRoutes(core, safeFetch, lookups),
    ...secretRoutes(core),
    ...keyRoutes(core),
    ...deliveryRoutes(core),
    ...eventRoutes(core),
    ...listenerRoutes(core, listeners),
  ];
}

function endpointRoutes(core: Core, safeFetch: SafeFetch, lookups: NameLookups): Binding[] {
  const { db } = core;
  const checkUrl = (url: string) => lookups.run(() => CheckedUrl.check(safeFetch, url));
  return [
    bind(
      contract.createEndpoint,
      { prepare: ({ body }) => checkUrl(body.url) },
      async ({ caller, body }, url) => {
        const { row, secret } = await createEndpoint(core, caller, body, url);
        return {
          endpoint: viewEndpoint(row),
          signing_secret: secret,
          warnings: [
            {
              code: "NO_ACTIVE_KEY" as const,
              message:
                "The endpoint has no encryption key, so nothing is sent to it. Register a public key for it.",
            },
          ],
        };
      },
    ),

    bind(contract.listEndpoints, ({ caller, query }) =>
      viewPage(
        listEndpoints(db, caller, {
          enabled: query.enabled,
          ...parsePage(query),
        }),
        viewEndpoint,
      ),
    ),

    bind(contract.getEndpoint, async ({ caller, params }) => {
      const row = await findEndpoint(db, caller, params.endpoint_id);
      if (row === null) throw new ApiError("NOT_FOUND");
      return viewEndpoint(row);
    }),

    bind(
      contract.updateEndpoint,
      {
        prepare: async ({ body }) => (body.url === undefined ? null : checkUrl(body.url)),
      },
      async ({ caller, params, body }, url) =>
        viewEndpoint(await changeEndpoint(core, caller, params.endpoint_id, body, url)),
    ),

    bind(contract.deleteEndpoint, ({ caller, params }) => removeEndpoint(core, caller, params.endpoint_id)),

    bind(contract.testEndpoint, async ({ caller, params, body }) => {
      const type = body.event_type ?? "webhook.endpoint.test";
      const { sealed, ...sent } = await sendTestEvent(core, caller, params.endpoint_id, type);
      return { ...viewSent(sent), sealed_body: viewSealedBody(sealed) };
    }),
  ];
}

function secretRoutes(core: Pick<Core, "db" | "clock" | "ring">): Binding[] {
  return [
    bind(contract.revealSecret, async ({ caller, params }) => ({
      endpoint_id: params.endpoint_id,
      signing_secret: await revealSecret(core, caller, params.endpoint_id),
    })),

    bind(contract.rotateSecret, async ({ caller, params, body }) => {
      const { endpoint_id } = params;
      const { secret, previousUntil } = await rotateSecret(
        core,
        caller,
        endpoint_id,
        body.overlap_hours ?? 0,
      );
      return {
        endpoint_id,
        signing_secret: secret,
        previous_secret_until: previousUntil?.toISOString() ?? null,
      };
    }),
  ];
}

function keyRoutes(core: Core): Binding[] {
  const { db } = core;
  return [
    bind(contract.registerKey, async ({ caller, params, body }) =>
      viewEncryptionKey(await registerKey(core, caller, params.endpoint_id, body)),
    ),

    bind(contract.listKeys, async ({ caller, params, query }) => {
      const { organizationId } = caller;
      if ((await findEndpoint(db, caller, params.endpoint_id)) === null) throw new ApiError("NOT_FOUND");
      return viewPage(
        listEncryptionKeys(db, organizationId, params.endpoint_id, parsePage(query)),
        viewEncryptionKey,
      );
    }),

    bind(contract.deactivateKey, async ({ caller, params }) =>
      viewEncryptionKey(await activateKey(core, caller, params.key_id, false)),
    ),

    bind(contract.reactivateKey, async ({ caller, params }) =>
      viewEncryptionKey(await activateKey(core, caller, params.key_id, true)),
    ),
  ];
}

function deliveryRoutes(core: Pick<Core, "db" | "clock">): Binding[] {
  const { db, clock } = core;
  return [
    bind(contract.listDeliveries, ({ caller, query }) => {
      const filter = {
        status: query.status,
        endpointId: query.endpoint_id,
        eventId: query.event_id,
        ...parseCreated(query),
        ...parsePage(query),
      };
      return viewPage(listDeliveries(db, caller, filter, clock.now()), viewDelivery);
    }),

    bind(contract.countDeliveries, ({ caller, query }) =>
      countDeliveries(db, caller, { endpointId: query.endpoint_id, ...parseCreated(query) }, clock.now()),
    ),

    bind(contract.getDelivery, async ({ caller, params }) => {
      const { organizationId } = caller;
      const now = clock.now();
      const row = await findDelivery(db, caller, params.delivery_id, now);
      if (row === null) throw new ApiError("NOT_FOUND");
      const sealed = await findSealedBody(db, organizationId, row.id, now);
      const attempts = await attemptsOf(db, organizationId, row);
      // A receiver's answer is kept and shown as long as the payload.
      const exchanges = sealed === null ? [] : await exchangesOf(db, organizationId, row.id);
      const ofAttempt = new Map(exchanges.map((exchange) => [exchange.attemptId, exchange]));
      return {
        ...viewDelivery(row),
        attempts: attempts.map((attempt) =>
          viewDeliveryAttempt(row, attempt, ofAttempt.get(attempt.id) ?? null),
        ),
        sealed_body: viewSealedBody(sealed),
      };
    }),

    bind(contract.retryDelivery, async ({ caller, params }) =>
      viewDelivery(await retryDelivery(core, caller, params.delivery_id)),
    ),

    bind(contract.retryFailed, async ({ caller, params, body }) => {
      const { retried, hasMore } = await retryFailed(core, caller, params.endpoint_id, parsePeriod(body));
      return { retried, has_more: hasMore };
    }),
  ];
}

function eventRoutes(core: Pick<Core, "db" | "clock">): Binding[] {
  const { db } = core;
  return [
    bind(contract.listEvents, ({ caller, query }) =>
      viewPage(
        listEvents(db, caller, {
          type: query.type,
          sessionId: query.session_id,
          ...parseCreated(query),
          ...parsePage(query),
        }),
        viewEvent,
      ),
    ),

    bind(contract.getEvent, async ({ caller, params }) => {
      const row = await findEvent(db, caller, params.event_id);
      if (row === null) throw new ApiError("NOT_FOUND");
      return viewEvent(row);
    }),

    bind(contract.replayEvent, async ({ caller, params }) =>
      viewSent(await replayEvent(core, caller, params.event_id)),
    ),
  ];
}

function listenerRoutes(core: Core, listeners: ListenerHub): Binding[] {
  return [
    bind(listenerContract.registerListener, async ({ caller, body }) => {
      const { row, secret, key } = await registerListener(core, caller, body);
      return {
        endpoint: viewEndpoint(row),
        signing_secret: secret,
        encryption_key: viewEncryptionKey(key),
      };
    }),

    bind(listenerContract.streamListenerDeliveries, ({ caller, params }) =>
      listeners.open(caller, params.endpoint_id),
    ),

    bind(listenerContract.answerListenerDelivery, async ({ caller, params, body }) =>
      viewDelivery(
        await answerDelivery(
          core,
          caller,
          { endpointId: params.endpoint_id, deliveryId: params.delivery_id },
          body,
        ),
      ),
    ),
  ];
}

function viewSent({ event, deliveries }: { event: EventRow; deliveries: readonly DeliveryRow[] }) {
  return { event: viewEvent(event), deliveries: deliveries.map(viewDelivery) };
}
