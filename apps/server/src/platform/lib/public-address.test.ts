import assert from "node:assert/strict";
import { isIP } from "node:net";
import test from "node:test";
import fc from "fast-check";
import { anyUrl } from "../../../test/support/any-text.ts";
import { exemptHostSet, isPublicAddress, urlProblem } from "./public-address.ts";

test("ordinary addresses of the internet are public", () => {
  for (const address of [
    "1.1.1.1",
    "8.8.8.8",
    "93.184.216.34",
    "100.63.255.255",
    "100.128.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.0.1.0",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "2001:4860:4860::8888",
    "2606:4700::1111",
    "2a00:1450:4001::1",
    "2003::1",
  ])
    assert.ok(isPublicAddress(address), address);
});

test("every form that carries an IPv4 address inside an IPv6 one is refused, whatever it carries", () => {
  const byte = fc.integer({ min: 0, max: 255 });
  fc.assert(
    fc.property(byte, byte, byte, byte, (a, b, c, d) => {
      const dotted = `${a}.${b}.${c}.${d}`;
      const hex = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
      for (const address of [
        `::ffff:${dotted}`,
        `::ffff:${hex}`,
        `::${dotted}`,
        `::ffff:0:${dotted}`,
        `64:ff9b::${dotted}`,
        `64:ff9b:1::${dotted}`,
        `2002:${hex}::1`,
        `2001:0:${hex}::1`,
      ]) {
        assert.equal(isIP(address), 6, address);
        assert.equal(isPublicAddress(address), false, address);
      }
    }),
  );
});

test("an address with a zone is one of a local link, whatever its number", () => {
  for (const address of ["2606:4700::1%eth0", "2001:4860:4860::8888%1", "fe80::1%eth0"]) {
    assert.equal(isIP(address), 6, address);
    assert.equal(isPublicAddress(address), false, address);
  }
});

test("every range that is set aside is refused from its first address to its last, and its neighbours are not", () => {
  const edges: readonly (readonly [first: string, last: string])[] = [
    ["0.0.0.0", "0.255.255.255"],
    ["10.0.0.0", "10.255.255.255"],
    ["100.64.0.0", "100.127.255.255"],
    ["127.0.0.0", "127.255.255.255"],
    ["169.254.0.0", "169.254.255.255"],
    ["172.16.0.0", "172.31.255.255"],
    ["192.0.0.0", "192.0.0.255"],
    ["192.0.2.0", "192.0.2.255"],
    ["192.31.196.0", "192.31.196.255"],
    ["192.52.193.0", "192.52.193.255"],
    ["192.88.99.0", "192.88.99.255"],
    ["192.168.0.0", "192.168.255.255"],
    ["192.175.48.0", "192.175.48.255"],
    ["198.18.0.0", "198.19.255.255"],
    ["198.51.100.0", "198.51.100.255"],
    ["203.0.113.0", "203.0.113.255"],
    ["224.0.0.0", "239.255.255.255"],
    ["240.0.0.0", "255.255.255.255"],
    ["2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"],
    ["2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"],
    ["2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
    ["2620:4f:8000::", "2620:4f:8000:ffff:ffff:ffff:ffff:ffff"],
    ["3ffe::", "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
    ["3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"],
    ["fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
    ["fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
    ["ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ];
  for (const address of edges.flat()) assert.equal(isPublicAddress(address), false, address);
  for (const address of [
    "2001:200::",
    "2001:db7:ffff::1",
    "2001:db9::",
    "2003::",
    "2620:4f:7fff::1",
    "2620:4f:8001::",
    "3ffd::1",
    "3fff:1000::",
  ])
    assert.equal(isPublicAddress(address), true, address);
});

test("only 2000::/3 can be public, and what is not an address never is", () => {
  const group = fc.integer({ min: 0, max: 0xffff });
  fc.assert(
    fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (groups) => {
      const address = groups.map((value) => value.toString(16)).join(":");
      if (((groups[0] ?? 0) & 0xe000) !== 0x2000) assert.equal(isPublicAddress(address), false, address);
    }),
  );
  fc.assert(
    fc.property(fc.string(), (text) => {
      if (isIP(text) === 0) assert.equal(isPublicAddress(text), false);
    }),
  );
});

test("no text is accepted as a URL that another reading would send elsewhere", () => {
  const none = exemptHostSet([]);
  fc.assert(
    fc.property(fc.oneof(anyUrl, fc.string()), (text) => {
      if (urlProblem(text, none) !== null) return;
      const url = new URL(text);
      assert.equal(url.protocol, "https:");
      assert.equal(url.username + url.password, "");
      assert.ok(url.hostname.includes(".") || url.hostname.startsWith("["));
    }),
  );
});

test("an exempt host is exempt by its exact name, and https stays", () => {
  const exempt = exemptHostSet(["Receiver", "127.0.0.1", "[::1]", "partner.test"]);
  for (const url of [
    "https://receiver/x",
    "https://127.0.0.1:8443/",
    "https://[::1]/",
    "https://2130706433/",
    "https://PARTNER.test./",
  ])
    assert.equal(urlProblem(url, exempt), null, url);
  for (const url of [
    "http://receiver/",
    "https://user@receiver/",
    "https://127.0.0.2/",
    "https://partner.test.local/",
    "https://[::2]/",
  ])
    assert.notEqual(urlProblem(url, exempt), null, url);
});
