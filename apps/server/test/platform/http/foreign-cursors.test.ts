import assert from "node:assert/strict";
import { test } from "node:test";
import { isList, takesApiKey } from "@assay/contract/route";
import { routes } from "@assay/contract/routes";
import { expectData, expectError } from "../../support/api.ts";
import { startDnsServer } from "../../support/dns-server.ts";
import { type FurnishedOrganization, furnishOrganization } from "../../support/furnished-organization.ts";
import { pathOf } from "../../support/route-samples.ts";
import { startTestService } from "../../support/service.ts";

/**
 * A cursor is an id, and others must not find out whether an id exists. Every declared list is included. A
 * list without items in these organizations fails until they have some.
 */
const dns = await startDnsServer();
const service = await startTestService({
  role: "api",
  env: { DNS_RESOLVERS: dns.address, WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1" },
});
const theirs = await furnishOrganization(service, dns);
const mine = await furnishOrganization(service, dns);

// An operator may see the whole installation; `operator.test.ts` has the cursor of that list.
const lists = routes.filter((route) => isList(route) && !("operator" in route.access));

for (const route of lists)
  test(`${route.path}: another's item as the cursor reads like one that never was`, async () => {
    const path = (of: FurnishedOrganization) =>
      pathOf(route, (name) => (name === "endpoint_id" ? of.things.endpointId : null));
    const [their] = expectData<{ id: string }[]>(await theirs.owner.api.get(path(theirs)));
    const [own] = expectData<{ id: string }[]>(await mine.owner.api.get(path(mine)));
    assert.ok(their !== undefined && own !== undefined, "both have something in this list");
    assert.notEqual(their.id, own.id);

    const cursors = ["starting_after", ...(takesApiKey(route) ? ["ending_before"] : [])];
    for (const cursor of cursors) {
      const from = (id: string) => mine.owner.api.get(path(mine), { [cursor]: id });
      const listed = expectData<{ id: string }[]>(await from(own.id));
      assert.ok(listed.every(({ id }) => (cursor === "ending_before" ? id > own.id : id < own.id)));
      const foreign = await from(their.id);
      expectError(foreign, 400, "INVALID_REQUEST", new RegExp(`\`${cursor}\``));
      const never = await from(`${their.id.slice(0, -4)}0000`);
      assert.equal(foreign.text, never.text);
    }
  });

test("the lists are those of the contract", () => {
  assert.ok(lists.length >= 13, String(lists.length));
});
