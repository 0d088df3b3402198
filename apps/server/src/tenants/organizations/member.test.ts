import assert from "node:assert/strict";
import { test } from "node:test";
import { type Role, roles } from "@assay/contract/route";
import fc from "fast-check";
import { memberRefusal } from "./member.ts";

const role = fc.constantFrom(...roles);

test("whatever is permitted, an organization keeps an owner and only owners touch owners", () => {
  type Person = { id: number; role: Role };
  const step = fc.record({ actor: fc.nat(5), target: fc.nat(5), newRole: fc.option(role) });
  fc.assert(
    fc.property(fc.array(role, { maxLength: 5 }), fc.array(step, { maxLength: 30 }), (others, steps) => {
      let people: Person[] = [{ id: 0, role: "owner" }, ...others.map((r, i) => ({ id: i + 1, role: r }))];
      for (const { actor, target, newRole } of steps) {
        const from = people.find((person) => person.id === actor);
        const to = people.find((person) => person.id === target);
        if (from === undefined || to === undefined) continue;
        const refusal = memberRefusal({
          actorRole: from.role,
          isSelf: actor === target,
          targetRole: to.role,
          newRole,
          ownerCount: people.filter((person) => person.role === "owner").length,
        });
        if (refusal !== null) continue;
        if (to.role === "owner" || newRole === "owner") assert.equal(from.role, "owner");
        if (from.role === "member") assert.ok(actor === target && newRole === null, "members only leave");
        people =
          newRole === null
            ? people.filter((person) => person !== to)
            : people.map((person) => (person === to ? { ...person, role: newRole } : person));
        assert.ok(people.some((person) => person.role === "owner"));
      }
    }),
  );
});

test("an owner may hand over and leave", () => {
  const handOver = {
    actorRole: "owner",
    isSelf: false,
    targetRole: "admin",
    newRole: "owner",
    ownerCount: 1,
  } as const;
  assert.equal(memberRefusal(handOver), null);
  const leave = {
    actorRole: "owner",
    isSelf: true,
    targetRole: "owner",
    newRole: null,
    ownerCount: 2,
  } as const;
  assert.equal(memberRefusal(leave), null);
  assert.equal(memberRefusal({ ...leave, ownerCount: 1 }), "last_owner");
});
