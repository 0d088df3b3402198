import assert from "node:assert/strict";
import test from "node:test";
import type { EndpointId } from "@assay/contract/ids";
import type { Queryable } from "../../platform/db/db.ts";
import { knownId } from "../../platform/kernel/ids.ts";
import { announceDeliveries } from "./delivery.store.ts";

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
