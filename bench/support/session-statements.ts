import { newUuid } from "../../apps/server/src/platform/kernel/ids.ts";
import { findKeyOwner } from "../../apps/server/src/tenants/api-keys/api-key.store.ts";
import { insertSession } from "../../apps/server/src/verification/sessions/session.store.ts";
import { findSessionWithConsent } from "../../apps/server/src/verification/sessions/session-consent.store.ts";
import { statementOf } from "./statement-of.ts";

// The service's statements to create and read a session, for a server that writes their values by hand.

const [bytes, organizationId] = [Buffer.alloc(1), "organization" as never];
export const findOwner = statementOf((db) => findKeyOwner(db, [bytes]));
const tenant = { organizationId, environment: "sandbox" } as const;
export const findSession = statementOf((db) => findSessionWithConsent(db, tenant, "vs" as never));
const now = new Date(0);
export const insert = statementOf((db) =>
  insertSession(
    db,
    {
      id: "vs" as never,
      organizationId,
      methods: ["document_chip"],
      contractVersion: 1,
      shareFields: {},
      requirements: {} as never,
      locale: null,
      redirectUrl: null,
      templateId: null,
      embedOrigin: null,
      webhookEndpointId: null,
      clientReferenceId: "reference",
      metadata: {},
      sandbox: true,
      cancelTokenHash: bytes,
      expiresAt: now,
      now,
    },
    { organizationId, event: "session.created", actor: { kind: "key", id: "key" } } as never,
    // Nothing is counted, as in nearly every creation on a busy service.
    { limit: 100_000, countUpTo: 0 },
  ),
);

type Asked = { share_fields?: unknown; client_reference_id?: unknown; metadata?: unknown };

export function insertValues(
  owner: Record<string, unknown>,
  id: string,
  tokenHash: Buffer,
  body: Asked,
): unknown[] {
  const at = new Date();
  const audit = [
    at,
    [newUuid(at)],
    [owner.organization_id],
    [true],
    ["session.created"],
    ["key"],
    [owner.id],
    [id],
    ["{}"],
  ];
  return [
    id,
    owner.organization_id,
    null,
    1,
    JSON.stringify(body.share_fields ?? {}),
    "{}",
    null,
    null,
    null,
    null,
    null,
    body.client_reference_id,
    JSON.stringify(body.metadata ?? {}),
    true,
    tokenHash,
    new Date(at.getTime() + 3_600_000),
    at,
    at,
    100_000,
    ...audit,
  ];
}
