import { apiKeyForm, type Environment } from "@assay/contract/facts";
import type { ApiKeyId, OrganizationId, UserId } from "@assay/contract/ids";
import type { Role, Scope } from "@assay/contract/route";
import type { Core } from "../../src/platform/core.ts";
import type { Tx } from "../../src/platform/db/db.ts";
import { requireEmail } from "../../src/platform/kernel/email.ts";
import { newUuid, randomText } from "../../src/platform/kernel/ids.ts";
import { insertUser } from "../../src/tenants/accounts/user.store.ts";
import { openUserSession } from "../../src/tenants/accounts/user-session.ts";
import { insertApiKey } from "../../src/tenants/api-keys/api-key.store.ts";
import { newDocumentIdKey } from "../../src/tenants/organizations/document-id-key.ts";
import { insertMembership } from "../../src/tenants/organizations/member.store.ts";
import { insertOrganization } from "../../src/tenants/organizations/organization.store.ts";
import type { Api } from "./api.ts";

export type Person = { api: Api; userId: UserId };

let counter = 0;

/** Written directly into the tables: there are hundreds of them, and other tests cover sign-up. */
export async function createPerson(tx: Tx, api: Api, now: Date): Promise<Person> {
  counter += 1;
  const userId = newUuid<UserId>(now);
  const email = `matrix-${counter}@example.com`;
  await insertUser(tx, {
    id: userId,
    name: "Somebody",
    email: requireEmail("email", email),
    passwordHash: null,
    language: null,
    emailVerifiedAt: now,
    now,
  });
  return {
    api: api.as(await openUserSession(tx, userId, { userAgent: "matrix", language: null }, now)),
    userId,
  };
}

export async function createOrganization(
  tx: Tx,
  core: Pick<Core, "ring">,
  now: Date,
  members: Partial<Record<Role, Person>>,
): Promise<OrganizationId> {
  counter += 1;
  const id = newUuid<OrganizationId>(now);
  const documentIdKey = newDocumentIdKey(core.ring, id);
  await insertOrganization(tx, {
    id,
    name: "Matrix",
    slug: `matrix-${counter}`,
    documentIdKey,
    createdBy: null,
    now,
  });
  for (const [role, person] of Object.entries(members))
    await insertMembership(tx, id, person.userId, role as Role, now);
  return id;
}

export async function createKeyRow(
  tx: Tx,
  { api, core }: { api: Api; core: Pick<Core, "ring"> },
  now: Date,
  organizationId: OrganizationId,
  held: readonly Scope[],
  environment: Environment = "sandbox",
): Promise<{ id: ApiKeyId; api: Api }> {
  const secret = apiKeyForm.prefix + randomText(apiKeyForm.length);
  const secretHash = core.ring.hash("api-key-hash", secret);
  const hashKeyId = core.ring.currentId;
  const id = newUuid<ApiKeyId>(now);
  await insertApiKey(tx, {
    id,
    organizationId,
    environment,
    name: "matrix",
    keyPrefix: secret.slice(0, 7),
    scopes: held,
    secretHash,
    hashKeyId,
    createdBy: null,
    now,
  });
  return { id, api: api.as(secret) };
}
