import assert from "node:assert/strict";
import { getServers, setServers } from "node:dns";
import { test } from "node:test";
import { encode } from "dns-packet";
import { createDns, DnsError, parseResolver } from "../../../src/platform/lib/dns.ts";
import { type DnsServer, startDnsServer } from "../../support/dns-server.ts";

const server = await startDnsServer();
const second = await startDnsServer();
const client = (...servers: DnsServer[]) =>
  createDns({ resolvers: servers.map((one) => one.address), timeoutMs: 1000 });
const dns = client(server);

function reset(): void {
  for (const one of [server, second]) {
    one.zone.clear();
    one.behaviour = "answer";
    one.answersOnlyAliases = false;
    one.answersOverTcp = false;
    one.cutsInsideRecords = false;
    one.delayMs = 0;
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

test("an answer too long for a datagram comes over TCP, wherever the datagram was cut", async () => {
  const values = Array.from({ length: 20 }, (_, i) => [`value ${i} ${"x".repeat(100)}`]);
  for (const cutsInsideRecords of [false, true]) {
    reset();
    server.cutsInsideRecords = cutsInsideRecords;
    server.set("long.example", "TXT", ...values);
    assert.equal((await dns.resolveTxt("long.example")).length, 20);
    assert.deepEqual(
      server.queries.map((query) => query.over),
      ["udp", "tcp"],
    );
  }
});

test("no fault of a resolver counts as a missing record, over UDP and over TCP", async () => {
  const faults = {
    servfail: ["failed", "failed"],
    refused: ["failed", "failed"],
    notauth: ["failed", "failed"],
    garbage: ["failed", "failed"],
    cut: ["failed", "failed"],
    truncated: ["failed", "failed"],
    // Over UDP anyone could have sent the query back, so it is ignored; over TCP it was the resolver.
    echo: ["unavailable", "failed"],
    silent: ["unavailable", "unavailable"],
  } as const;
  for (const [behaviour, kinds] of Object.entries(faults)) {
    for (const [i, kind] of kinds.entries()) {
      reset();
      server.set("example.com", "TXT", "genuine");
      server.behaviour = behaviour as keyof typeof faults;
      server.answersOverTcp = i === 1;
      await failsAs(kind, dns.resolveTxt("example.com"));
    }
  }
});

test("records of another name are not taken, though they answer the right question", async () => {
  for (const answersOverTcp of [false, true]) {
    reset();
    server.behaviour = "foreign";
    server.answersOverTcp = answersOverTcp;
    server.set("example.com", "TXT", "forged");
    server.set("example.com", "A", "192.0.2.9");
    assert.deepEqual(await dns.resolveTxt("example.com"), []);
    assert.deepEqual(await dns.resolveAddresses("example.com"), []);
  }
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

test("a chain of aliases served slowly is given up", async () => {
  reset();
  server.answersOnlyAliases = true;
  for (let i = 0; i < 8; i++) server.set(`slow${i}.example`, "CNAME", `slow${i + 1}.example`);
  server.set("slow8.example", "TXT", "in the end");
  assert.deepEqual(await dns.resolveTxt("slow0.example"), ["in the end"]);
  server.delayMs = 150;
  const impatient = createDns({ resolvers: [server.address], timeoutMs: 200 });
  await failsAs("unavailable", impatient.resolveTxt("slow0.example"));
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

test("without configured resolvers the system's are asked, for addresses as for texts", async () => {
  reset();
  server.set("both.example", "A", "192.0.2.7");
  server.set("both.example", "TXT", "found");
  const before = getServers();
  setServers([server.address]);
  try {
    const bySystem = createDns({ resolvers: [], timeoutMs: 400 });
    assert.deepEqual(await bySystem.resolveAddresses("both.example"), ["192.0.2.7"]);
    assert.deepEqual(await bySystem.resolveTxt("both.example"), ["found"]);
  } finally {
    setServers(before);
  }
});

test("resolvers are given with and without port, in both families", () => {
  assert.deepEqual(parseResolver("9.9.9.9"), { address: "9.9.9.9", port: 53 });
  assert.deepEqual(parseResolver("9.9.9.9:5353"), { address: "9.9.9.9", port: 5353 });
  assert.deepEqual(parseResolver("[2620:fe::fe]:5353"), { address: "2620:fe::fe", port: 5353 });
  assert.deepEqual(parseResolver("2620:fe::fe"), { address: "2620:fe::fe", port: 53 });
});
