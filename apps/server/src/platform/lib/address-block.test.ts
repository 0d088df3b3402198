import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { addressBlock } from "./address-block.ts";

test("an address stands for the network one customer has", () => {
  assert.equal(addressBlock("203.0.113.9"), "203.0.113.9");
  assert.equal(addressBlock("::ffff:203.0.113.9"), "203.0.113.9");
  assert.equal(addressBlock("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2");
  assert.equal(addressBlock("2001:DB8:0001:2::6"), "2001:db8:1:2");
  assert.equal(addressBlock("2001:db8::6"), "2001:db8:0:0");
  assert.equal(addressBlock("::1"), "0:0:0:0");
  assert.equal(addressBlock("fe80::1%eth0"), "fe80:0:0:0");
  assert.equal(addressBlock("64:ff9b::192.0.2.1"), "64:ff9b:0:0");
});

test("addresses of one /64 share a block, others do not", () => {
  const group = fc.integer({ min: 0, max: 0xffff }).map((n) => n.toString(16));
  const half = fc.array(group, { minLength: 4, maxLength: 4 });
  fc.assert(
    fc.property(half, half, half, (network, host, otherHost) => {
      // A fixed first group keeps the generated address from being an IPv4-mapped one.
      const front = ["2001", ...network.slice(1)];
      const one = addressBlock([...front, ...host].join(":"));
      assert.equal(one, addressBlock([...front, ...otherHost].join(":")));
      assert.notEqual(one, addressBlock(["2002", ...front.slice(1), ...host].join(":")));
    }),
  );
});
