import type { EventType } from "@assay/contract/events";
import type { EndpointId } from "@assay/contract/ids";
import type { BodyOf } from "@assay/contract/route";
import * as contract from "@assay/contract/webhooks";
import { recordAct } from "../../platform/audit/audit.store.ts";
import type { Core } from "../../platform/core.ts";
import type { Tx } from "../../platform/db/db.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import type { OrganizationCaller } from "../../platform/kernel/caller.ts";
import { newId } from "../../platform/kernel/ids.ts";
import type { SafeFetch } from "../../platform/lib/safe-fetch.ts";
import { lockOrganization } from "../../tenants/organizations/organization.store.ts";
import { announceDeliveries, endDeliveriesOf } from "./delivery.store.ts";
import {
  countEndpoints,
  deleteEndpoint,
  type EndpointRow,
  findEndpoint,
  insertEndpoint,
  updateEndpoint,
} from "./endpoint.store.ts";
import { notifyListenerChanged } from "./listener.store.ts";
import { mailNewDestination } from "./notify-owners.ts";
import { newSigningSecret } from "./signing.ts";

type Needs = Pick<Core, "db" | "clock">;
type MailingNeeds = Needs & Pick<Core, "ring" | "publicUrl">;
type CreationNeeds = MailingNeeds & Pick<Core, "config">;

/** A URL that may be sent to. Only `check` makes one. */
export class CheckedUrl {
  // The private member makes the type nominal.
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  get text(): string {
    return this.#text;
  }

  /** Resolves the host name, which can take seconds, so call it outside of transactions. */
  static async check(safeFetch: SafeFetch, url: string): Promise<CheckedUrl> {
    const problem = await safeFetch.problemOf(url);
    if (problem !== null) throw new ApiError("WEBHOOK_URL_REJECTED", { message: `\`url\` ${problem}.` });
    return new CheckedUrl(url);
  }
}

/** The new endpoint with its signing secret, which is shown only once. */
export async function createEndpoint(
  core: CreationNeeds,
  caller: OrganizationCaller,
  body: BodyOf<typeof contract.createEndpoint>,
  url: CheckedUrl,
): Promise<NewEndpoint> {
  const now = core.clock.now();
  return core.db.transaction(async (tx) => {
    const { row: created, secret } = await addEndpoint(core, tx, caller, {
      kind: "url",
      name: body.name?.trim() ?? null,
      urlOf: () => url.text,
      subscribedEventTypes: body.subscribed_event_types ?? null,
      retentionHours: body.undelivered_payload_retention_hours ?? contract.defaultPayloadRetentionHours,
      now,
    });
    await recordAct(tx, now, caller, {
      event: "webhook_endpoint.created",
      targetId: created.id,
      details: { name: created.name, host: hostOf(url.text) },
    });
    await mailNewDestination(core, tx, caller, { kind: "endpoint_added", endpoint: created });
    return { row: created, secret };
  });
}

export type NewEndpoint = { row: EndpointRow; secret: string };

/**
 * Creates an endpoint of any kind with a new signing secret, within the limit of the organization. No other
 * function inserts endpoints.
 */
export async function addEndpoint(
  { ring, config }: Pick<Core, "ring" | "config">,
  tx: Tx,
  caller: OrganizationCaller,
  endpoint: {
    kind: contract.EndpointKind;
    name: string | null;
    urlOf: (id: EndpointId) => string;
    subscribedEventTypes: readonly EventType[] | null;
    retentionHours: contract.PayloadRetentionHours;
    now: Date;
  },
): Promise<NewEndpoint> {
  const { urlOf, ...settings } = endpoint;
  const id = newId("whe", endpoint.now);
  const secret = newSigningSecret();
  await lockOrganization(tx, caller.organizationId);
  if ((await countEndpoints(tx, caller)) >= config.organizationMaxEndpoints)
    throw new ApiError("CONFLICT", {
      message: "The organization has reached its limit of webhook endpoints in this environment.",
      hint: `An organization may have ${config.organizationMaxEndpoints} webhook endpoints in each environment. Delete one that is not used, or ask the operator for more.`,
    });
  const row = await insertEndpoint(tx, {
    ...settings,
    id,
    organizationId: caller.organizationId,
    environment: caller.environment,
    url: urlOf(id),
    signingSecret: ring.seal("webhook-secret", secret, id),
  });
  return { row, secret };
}

export async function changeEndpoint(
  core: MailingNeeds,
  caller: OrganizationCaller,
  endpointId: EndpointId,
  body: BodyOf<typeof contract.updateEndpoint>,
  url: CheckedUrl | null,
): Promise<EndpointRow> {
  const now = core.clock.now();
  return core.db.transaction(async (tx) => {
    const before = url === null ? null : await findEndpoint(tx, caller, endpointId);
    if (before?.kind === "listener")
      throw new ApiError("WEBHOOK_URL_REJECTED", {
        message: "`url` cannot be set: the endpoint is a listener.",
        hint: "Create an endpoint with the URL instead.",
      });
    const updated = await updateEndpoint(tx, caller, endpointId, {
      name: body.name === null ? null : body.name?.trim(),
      url: url?.text,
      enabled: body.enabled,
      subscribedEventTypes: body.subscribed_event_types,
      retentionHours: body.undelivered_payload_retention_hours,
      now,
    });
    if (updated === null) throw new ApiError("NOT_FOUND");
    const { url: _url, ...settings } = body;
    await recordAct(tx, now, caller, {
      event: "webhook_endpoint.updated",
      targetId: updated.id,
      details: { ...settings, ...(url === null ? {} : { host: hostOf(url.text) }) },
    });
    if (before !== null && before.url !== updated.url)
      await mailNewDestination(core, tx, caller, { kind: "endpoint_moved", endpoint: updated });
    // Deliveries that waited while the endpoint was disabled are due at once.
    if (body.enabled === true) announceDeliveries(tx, [updated.id]);
    return updated;
  });
}

export async function removeEndpoint(
  { db, clock }: Needs,
  caller: OrganizationCaller,
  endpointId: EndpointId,
): Promise<void> {
  const now = clock.now();
  await db.transaction(async (tx) => {
    const deleted = await deleteEndpoint(tx, caller, endpointId);
    if (deleted === null) throw new ApiError("NOT_FOUND");
    await endDeliveriesOf(tx, [endpointId], now);
    notifyListenerChanged(tx, endpointId);
    await recordAct(tx, now, caller, {
      event: "webhook_endpoint.deleted",
      targetId: endpointId,
      details: { name: deleted.name },
    });
  });
}

/** Only the host is written to the audit log: path and query may hold a secret of the partner's. */
function hostOf(url: string): string {
  return URL.parse(url)?.host ?? "";
}
