import assert from "node:assert/strict";
import test from "node:test";
import type { EndpointId } from "@assay/contract/ids";
import type { Queryable } from "../../platform/db/db.ts";
import { knownId } from "../../platform/kernel/ids.ts";
import { announceDeliveries, justWritten, type NewDelivery } from "./delivery.store.ts";

test("workers are woken by the names of the endpoints, each once, and to look everywhere where these are too many", () => {
  const announced = (ids: readonly string[]) => {
    const payloads: string[] = [];
    const db = {
      notify: (_channel: string, payload: string) => payloads.push(payload),
    } as unknown as Queryable;
    announceDeliveries(
      db,
      ids.map((id) => knownId<EndpointId>(id)),
    );
    return payloads;
  };
  assert.deepEqual(announced([]), []);
  assert.deepEqual(announced(["a", "b", "a"]), ["a,b"]);
  const many = Array.from({ length: 201 }, (_, i) => String(i));
  assert.deepEqual(announced(many.slice(1)), [many.slice(1).join(",")]);
  assert.deepEqual(announced(many), [""]);
});

test("a delivery that was just written waits for its first try, and has failed where there is no key", () => {
  const now = new Date("2026-03-01T09:30:00.000Z");
  const delivery: NewDelivery = {
    id: knownId("whd_1"),
    organizationId: knownId("acme"),
    sandbox: true,
    eventId: knownId("evt_1"),
    eventType: "webhook.endpoint.test",
    endpointId: knownId("whe_1"),
    sealed: { encryptionKeyId: knownId("whk_1"), payload: "jwe" },
  };
  const sealed = justWritten(delivery, now);
  assert.deepEqual(
    [sealed.status, sealed.nextAttemptAt, sealed.lastError, sealed.encryptionKeyId],
    ["pending", now, null, "whk_1"],
  );
  const unsealed = justWritten({ ...delivery, sealed: null }, now);
  assert.deepEqual(
    [unsealed.status, unsealed.nextAttemptAt, unsealed.lastError, unsealed.encryptionKeyId],
    ["failed", null, "no_active_key", null],
  );
});
