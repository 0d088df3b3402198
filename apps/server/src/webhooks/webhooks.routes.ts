import * as contract from "@assay/contract/webhooks";
import { actorOf, recordAudit } from "../audit/audit.store.ts";
import type { Core } from "../core.ts";
import { violates } from "../db/db.ts";
import { ApiError, badField } from "../http/api-error.ts";
import { type Binding, bind } from "../http/mount.ts";
import { parseTime } from "../http/times.ts";
import { newId } from "../lib/ids.ts";
import type { SafeFetch } from "../lib/safe-fetch.ts";
import {
  announceDeliveries,
  attemptsOf,
  deliveriesOfEvent,
  endDeliveriesOf,
  findDelivery,
  listDeliveries,
} from "./delivery.store.ts";
import { viewAttempt, viewDelivery } from "./delivery.view.ts";
import {
  findKeysByName,
  insertEncryptionKey,
  listEncryptionKeys,
  setKeyActive,
} from "./encryption-key.store.ts";
import { keyProblem } from "./encryption-key.ts";
import { viewEncryptionKey } from "./encryption-key.view.ts";
import {
  deleteEndpoint,
  findEndpoint,
  insertEndpoint,
  listEndpoints,
  readSigningSecret,
  replaceSigningSecret,
  updateEndpoint,
} from "./endpoint.store.ts";
import { viewEndpoint } from "./endpoint.view.ts";
import { findEvent, listEvents } from "./event.store.ts";
import { viewEvent } from "./event.view.ts";
import { publishTestEvent } from "./publish-event.ts";
import { replayDeliveries, retryDelivery } from "./restart-delivery.ts";
import { newSigningSecret } from "./signing.ts";

export function webhookRoutes(core: Core, safeFetch: SafeFetch): Binding[] {
  const { db, clock, ring } = core;

  const checkUrl = async (url: string): Promise<void> => {
    const problem = await safeFetch.problemOf(url);
    if (problem !== null) throw new ApiError("WEBHOOK_URL_REJECTED", { message: `\`url\` ${problem}.` });
  };

  const setActive = (active: boolean) => {
    const event = active ? "webhook_key.reactivated" : "webhook_key.deactivated";
    return async (caller: Parameters<typeof actorOf>[0] & { organizationId: string }, name: string) => {
      const now = clock.now();
      const { organizationId } = caller;
      const row = await db.transaction(async (tx) => {
        const [found, ...others] = await findKeysByName(tx, organizationId, name);
        if (found === undefined) throw new ApiError("NOT_FOUND");
        if (others.length > 0) {
          throw new ApiError("CONFLICT", {
            message: "Several keys of the organization have this `key_id`.",
            hint: "Use the `whk_` id of the key that you mean.",
          });
        }
        const changed = await setKeyActive(tx, organizationId, found.id, active, now);
        if (changed === null) return found;
        await recordAudit(tx, now, {
          organizationId,
          event,
          actor: actorOf(caller),
          targetId: changed.id,
          details: { key_id: changed.key_id, webhook_endpoint_id: changed.endpoint_id },
        });
        return changed;
      });
      return viewEncryptionKey(row);
    };
  };
  const activate = setActive(true);
  const deactivate = setActive(false);

  return [
    bind(contract.createEndpoint, async ({ caller, body }) => {
      const { organizationId } = caller;
      await checkUrl(body.url);
      const now = clock.now();
      const id = newId("whe", now);
      const secret = newSigningSecret();
      const row = await db.transaction(async (tx) => {
        const created = await insertEndpoint(tx, {
          id,
          organizationId,
          name: body.name?.trim() ?? null,
          url: body.url,
          subscribedEventTypes: body.subscribed_event_types ?? null,
          retentionHours: body.undelivered_payload_retention_hours ?? contract.defaultPayloadRetentionHours,
          signingSecret: ring.seal("webhook-secret", secret, id),
          now,
        });
        await recordAudit(tx, now, {
          organizationId,
          event: "webhook_endpoint.created",
          actor: actorOf(caller),
          targetId: id,
          details: { name: created.name, host: hostOf(body.url) },
        });
        return created;
      });
      return {
        endpoint: viewEndpoint(row),
        signing_secret: secret,
        warnings: [
          {
            code: "NO_ACTIVE_KEY" as const,
            message: `The endpoint has no encryption key, so nothing is sent to it. Register one with POST /v1/webhooks/endpoints/${id}/keys.`,
          },
        ],
      };
    }),

    bind(contract.listEndpoints, ({ caller, query }) =>
      listEndpoints(
        db,
        caller.organizationId,
        {
          enabled: query.enabled,
          limit: query.limit,
          startingAfter: query.starting_after,
        },
        viewEndpoint,
      ),
    ),

    bind(contract.getEndpoint, async ({ caller, params }) => {
      const row = await findEndpoint(db, caller.organizationId, params.endpoint_id);
      if (row === null) throw new ApiError("NOT_FOUND");
      return viewEndpoint(row);
    }),

    bind(contract.updateEndpoint, async ({ caller, params, body }) => {
      const { organizationId } = caller;
      if (body.url !== undefined) await checkUrl(body.url);
      const now = clock.now();
      const row = await db.transaction(async (tx) => {
        const updated = await updateEndpoint(tx, organizationId, params.endpoint_id, {
          name: body.name === null ? null : body.name?.trim(),
          url: body.url,
          enabled: body.enabled,
          subscribedEventTypes: body.subscribed_event_types,
          retentionHours: body.undelivered_payload_retention_hours,
          now,
        });
        if (updated === null) throw new ApiError("NOT_FOUND");
        const { url, ...settings } = body;
        await recordAudit(tx, now, {
          organizationId,
          event: "webhook_endpoint.updated",
          actor: actorOf(caller),
          targetId: updated.id,
          details: { ...settings, ...(url === undefined ? {} : { host: hostOf(url) }) },
        });
        // What was held goes on at once.
        if (body.enabled === true) await announceDeliveries(tx, [updated.id]);
        return updated;
      });
      return viewEndpoint(row);
    }),

    bind(contract.deleteEndpoint, async ({ caller, params }) => {
      const { organizationId } = caller;
      const now = clock.now();
      await db.transaction(async (tx) => {
        const deleted = await deleteEndpoint(tx, organizationId, params.endpoint_id);
        if (deleted === null) throw new ApiError("NOT_FOUND");
        await endDeliveriesOf(tx, [params.endpoint_id], now);
        await recordAudit(tx, now, {
          organizationId,
          event: "webhook_endpoint.deleted",
          actor: actorOf(caller),
          targetId: params.endpoint_id,
          details: { name: deleted.name },
        });
      });
    }),

    bind(contract.revealSecret, async ({ caller, params }) => {
      const { organizationId } = caller;
      const now = clock.now();
      const sealed = await db.transaction(async (tx) => {
        const found = await readSigningSecret(tx, organizationId, params.endpoint_id);
        if (found === null) throw new ApiError("NOT_FOUND");
        await recordAudit(tx, now, {
          organizationId,
          event: "webhook_secret.revealed",
          actor: actorOf(caller),
          targetId: params.endpoint_id,
        });
        return found;
      });
      return {
        endpoint_id: params.endpoint_id,
        signing_secret: ring.openText("webhook-secret", sealed, params.endpoint_id),
      };
    }),

    bind(contract.rotateSecret, async ({ caller, params }) => {
      const { organizationId } = caller;
      const now = clock.now();
      const secret = newSigningSecret();
      await db.transaction(async (tx) => {
        const sealed = ring.seal("webhook-secret", secret, params.endpoint_id);
        if (!(await replaceSigningSecret(tx, organizationId, params.endpoint_id, sealed, now)))
          throw new ApiError("NOT_FOUND");
        await recordAudit(tx, now, {
          organizationId,
          event: "webhook_secret.rotated",
          actor: actorOf(caller),
          targetId: params.endpoint_id,
        });
      });
      return { endpoint_id: params.endpoint_id, signing_secret: secret };
    }),

    bind(contract.testEndpoint, async ({ caller, params }) => {
      const { organizationId } = caller;
      const now = clock.now();
      return db.transaction(async (tx) => {
        const endpoint = await findEndpoint(tx, organizationId, params.endpoint_id);
        if (endpoint === null) throw new ApiError("NOT_FOUND");
        if (!endpoint.enabled) {
          throw new ApiError("CONFLICT", {
            message: "The endpoint is disabled.",
            hint: "Enable it with PATCH, then send the test event.",
          });
        }
        const eventId = await publishTestEvent(core, tx, now, {
          organizationId,
          endpointId: endpoint.id,
          sandbox: caller.environment === "sandbox",
        });
        await recordAudit(tx, now, {
          organizationId,
          event: "webhook_endpoint.tested",
          actor: actorOf(caller),
          targetId: endpoint.id,
          details: { event_id: eventId },
        });
        const event = await findEvent(tx, organizationId, eventId);
        if (event === null) throw new Error("an event that was just written is not there");
        const deliveries = await deliveriesOfEvent(tx, organizationId, eventId);
        return { event: viewEvent(event), deliveries: deliveries.map(viewDelivery) };
      });
    }),

    bind(contract.registerKey, async ({ caller, params, body }) => {
      const { organizationId } = caller;
      const problem = keyProblem(body.jwk, body.key_id);
      if (problem !== null) throw badField(problem.field, problem.problem);
      const now = clock.now();
      try {
        const row = await db.transaction(async (tx) => {
          if ((await findEndpoint(tx, organizationId, params.endpoint_id)) === null)
            throw new ApiError("NOT_FOUND");
          const created = await insertEncryptionKey(tx, {
            id: newId("whk", now),
            endpointId: params.endpoint_id,
            organizationId,
            keyId: body.key_id,
            n: body.jwk.n,
            e: body.jwk.e,
            now,
          });
          await recordAudit(tx, now, {
            organizationId,
            event: "webhook_key.registered",
            actor: actorOf(caller),
            targetId: created.id,
            details: { key_id: created.key_id, webhook_endpoint_id: params.endpoint_id },
          });
          return created;
        });
        return viewEncryptionKey(row);
      } catch (error) {
        if (violates(error, "webhook_keys_key_id"))
          throw new ApiError("CONFLICT", {
            message: "The endpoint already has a key with this `key_id`.",
            hint: "Choose another `key_id`, or reactivate the key that has it.",
          });
        throw error;
      }
    }),

    bind(contract.listKeys, async ({ caller, params, query }) => {
      const { organizationId } = caller;
      if ((await findEndpoint(db, organizationId, params.endpoint_id)) === null)
        throw new ApiError("NOT_FOUND");
      return listEncryptionKeys(
        db,
        organizationId,
        params.endpoint_id,
        query.limit,
        query.starting_after,
        viewEncryptionKey,
      );
    }),

    bind(contract.deactivateKey, ({ caller, params }) => deactivate(caller, params.key_id)),
    bind(contract.reactivateKey, ({ caller, params }) => activate(caller, params.key_id)),

    bind(contract.listDeliveries, ({ caller, query }) =>
      listDeliveries(
        db,
        caller.organizationId,
        {
          status: query.status,
          endpointId: query.endpoint_id,
          eventId: query.event_id,
          createdFrom: parseTime("created_from", query.created_from),
          createdTo: parseTime("created_to", query.created_to),
          limit: query.limit,
          startingAfter: query.starting_after,
        },
        viewDelivery,
      ),
    ),

    bind(contract.getDelivery, async ({ caller, params }) => {
      const row = await findDelivery(db, caller.organizationId, params.delivery_id);
      if (row === null) throw new ApiError("NOT_FOUND");
      const attempts = await attemptsOf(db, row.id);
      return { ...viewDelivery(row), attempts: attempts.map(viewAttempt) };
    }),

    bind(contract.retryDelivery, async ({ caller, params }) => {
      const { organizationId } = caller;
      const now = clock.now();
      const row = await db.transaction(async (tx) => {
        const restarted = await retryDelivery(tx, organizationId, params.delivery_id, now);
        await recordAudit(tx, now, {
          organizationId,
          event: "webhook_delivery.retried",
          actor: actorOf(caller),
          targetId: params.delivery_id,
        });
        return restarted;
      });
      return viewDelivery(row);
    }),

    bind(contract.listEvents, ({ caller, query }) =>
      listEvents(
        db,
        caller.organizationId,
        {
          type: query.type,
          sessionId: query.session_id,
          createdFrom: parseTime("created_from", query.created_from),
          createdTo: parseTime("created_to", query.created_to),
          limit: query.limit,
          startingAfter: query.starting_after,
        },
        viewEvent,
      ),
    ),

    bind(contract.getEvent, async ({ caller, params }) => {
      const row = await findEvent(db, caller.organizationId, params.event_id);
      if (row === null) throw new ApiError("NOT_FOUND");
      return viewEvent(row);
    }),

    bind(contract.replayEvent, async ({ caller, params }) => {
      const { organizationId } = caller;
      const now = clock.now();
      return db.transaction(async (tx) => {
        const event = await findEvent(tx, organizationId, params.event_id);
        if (event === null) throw new ApiError("NOT_FOUND");
        const restarted = await replayDeliveries(tx, organizationId, event.id, now);
        await recordAudit(tx, now, {
          organizationId,
          event: "webhook_event.replayed",
          actor: actorOf(caller),
          targetId: event.id,
          details: { deliveries: restarted.length },
        });
        return { event: viewEvent(event), deliveries: restarted.map(viewDelivery) };
      });
    }),
  ];
}

/** A path or a query may hold a secret of the partner's, so only the host is written down. */
function hostOf(url: string): string {
  return URL.parse(url)?.host ?? "";
}
