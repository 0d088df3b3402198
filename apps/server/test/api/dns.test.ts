import assert from "node:assert/strict";
import { test } from "node:test";
import { encode } from "dns-packet";
import { createDns, DnsError, parseResolver } from "../../src/lib/dns.ts";
import { type DnsServer, startDnsServer } from "../support/dns-server.ts";

const server = await startDnsServer();
const second = await startDnsServer();
const client = (...servers: DnsServer[]) =>
  createDns({ resolvers: servers.map((one) => one.address), timeoutMs: 400 });
const dns = client(server);

function reset(): void {
  for (const one of [server, second]) {
    one.zone.clear();
    one.behaviour = "answer";
    one.answersOnlyAliases = false;
    one.forgeries = () => [];
    one.queries.length = 0;
  }
}

async function failsAs(kind: DnsError["kind"], work: Promise<unknown>): Promise<void> {
  await assert.rejects(work, (error) => error instanceof DnsError && error.kind === kind);
}

test("records of several strings are put together, several records stay apart", async () => {
  reset();
  server.set("example.com", "TXT", ["service-veri", "fication=abc"], ["v=spf1 -all"]);
  assert.deepEqual(await dns.resolveTxt("Example.COM."), ["service-verification=abc", "v=spf1 -all"]);
});

test("a name that does not exist and one without such a record have no values", async () => {
  reset();
  server.set("has-address.example", "A", "192.0.2.1");
  assert.deepEqual(await dns.resolveTxt("missing.example"), []);
  assert.deepEqual(await dns.resolveTxt("has-address.example"), []);
});

test("an answer too long for a datagram comes over TCP", async () => {
  reset();
  const values = Array.from({ length: 20 }, (_, i) => [`value ${i} ${"x".repeat(100)}`]);
  server.set("long.example", "TXT", ...values);
  assert.equal((await dns.resolveTxt("long.example")).length, 20);
  assert.deepEqual(
    server.queries.map((query) => query.over),
    ["udp", "tcp"],
  );
});

test("aliases are followed, within one answer and over several", async () => {
  reset();
  server.set("_v.example.com", "CNAME", "a.provider.example");
  server.set("a.provider.example", "CNAME", "b.provider.example");
  server.set("b.provider.example", "TXT", "found");
  assert.deepEqual(await dns.resolveTxt("_v.example.com"), ["found"]);
  server.answersOnlyAliases = true;
  assert.deepEqual(await dns.resolveTxt("_v.example.com"), ["found"]);
  server.clear("b.provider.example");
  assert.deepEqual(await dns.resolveTxt("_v.example.com"), []);
});

test("aliases that go round or on and on are a failure", async () => {
  reset();
  server.set("a.example", "CNAME", "b.example");
  server.set("b.example", "CNAME", "a.example");
  await failsAs("failed", dns.resolveTxt("a.example"));
  server.answersOnlyAliases = true;
  await failsAs("failed", dns.resolveTxt("a.example"));
  for (let i = 0; i < 20; i++) server.set(`c${i}.example`, "CNAME", `c${i + 1}.example`);
  await failsAs("failed", dns.resolveTxt("c0.example"));
});

test("an error of one resolver or its silence is made up for by the next", async () => {
  for (const behaviour of ["servfail", "refused", "silent", "garbage"] as const) {
    reset();
    server.behaviour = behaviour;
    second.set("example.com", "TXT", "from the second");
    assert.deepEqual(await client(server, second).resolveTxt("example.com"), ["from the second"], behaviour);
  }
});

test("errors from all is a failure, silence from all is unavailability", async () => {
  reset();
  server.behaviour = "servfail";
  await failsAs("failed", dns.resolveTxt("example.com"));
  server.behaviour = "garbage";
  await failsAs("failed", dns.resolveTxt("example.com"));
  server.behaviour = "silent";
  await failsAs("unavailable", dns.resolveTxt("example.com"));
  second.behaviour = "refused";
  await failsAs("failed", client(server, second).resolveTxt("example.com"));
  await failsAs(
    "unavailable",
    createDns({ resolvers: ["127.0.0.1:1"], timeoutMs: 400 }).resolveTxt("example.com"),
  );
});

test("forged answers with another id or question are passed over", async () => {
  reset();
  server.set("example.com", "TXT", "genuine");
  server.forgeries = (query) => {
    const [question] = query.questions;
    const forged = (id: number, name: string, type: string) =>
      encode({
        id,
        type: "response",
        flags: 0x0180,
        questions: [{ name, type }],
        answers: [{ name: "example.com", type: "TXT", ttl: 60, data: "forged" }],
      });
    const id = query.id ?? 0;
    return [
      forged((id + 1) & 0xffff, question?.name ?? "", "TXT"),
      forged(id, "other.example", "TXT"),
      forged(id, "example.com", "A"),
      encode({ id, type: "query", questions: [{ name: "example.com", type: "TXT" }] }),
      encode({ id, type: "response", flags: 0x0180, questions: [], answers: [] }),
      Buffer.from([1]),
      Buffer.concat([encode({ id }).subarray(0, 2), Buffer.alloc(40, 0xee)]),
    ];
  };
  assert.deepEqual(await dns.resolveTxt("example.com"), ["genuine"]);
});

test("addresses of both kinds; literals and localhost are not asked for", async () => {
  reset();
  server.set("both.example", "A", "192.0.2.7", "192.0.2.8");
  server.set("both.example", "AAAA", "2001:db8::7");
  server.set("alias.example", "CNAME", "both.example");
  for (const name of ["both.example", "alias.example"])
    assert.deepEqual((await dns.resolveAddresses(name)).sort(), [
      "192.0.2.7",
      "192.0.2.8",
      "2001:db8:0:0:0:0:0:7",
    ]);
  assert.deepEqual(await dns.resolveAddresses("missing.example"), []);
  server.queries.length = 0;
  assert.deepEqual(await dns.resolveAddresses("192.0.2.1"), ["192.0.2.1"]);
  assert.deepEqual(await dns.resolveAddresses("localhost"), ["127.0.0.1", "::1"]);
  assert.deepEqual(server.queries, []);
  server.behaviour = "servfail";
  await failsAs("failed", dns.resolveAddresses("both.example"));
});

test("resolvers are given with and without port, in both families", () => {
  assert.deepEqual(parseResolver("9.9.9.9"), { address: "9.9.9.9", port: 53 });
  assert.deepEqual(parseResolver("9.9.9.9:5353"), { address: "9.9.9.9", port: 5353 });
  assert.deepEqual(parseResolver("[2620:fe::fe]:5353"), { address: "2620:fe::fe", port: 5353 });
  assert.deepEqual(parseResolver("2620:fe::fe"), { address: "2620:fe::fe", port: 53 });
});
