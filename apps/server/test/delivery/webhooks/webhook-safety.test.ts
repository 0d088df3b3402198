import assert from "node:assert/strict";
import { type AddressInfo, createConnection, createServer, type Socket } from "node:net";
import test, { after } from "node:test";
import { publishEvents } from "../../../src/delivery/webhooks/publish-event.ts";
import { sql } from "../../../src/platform/db/sql.ts";
import { newId } from "../../../src/platform/kernel/ids.ts";
import { createDns } from "../../../src/platform/lib/dns.ts";
import { exemptHostSet } from "../../../src/platform/lib/public-address.ts";
import { createSafeFetch, SafeFetchError } from "../../../src/platform/lib/safe-fetch.ts";
import { createPartner, expectData, expectError } from "../../support/api.ts";
import { createAuthority } from "../../support/certificate.ts";
import { startDnsServer } from "../../support/dns-server.ts";
import { createReceivingEndpoint, startReceiver } from "../../support/receiver.ts";
import { startTestService } from "../../support/service.ts";
import { tally } from "../../support/tally.ts";
import { until } from "../../support/until.ts";

const authority = createAuthority();
const names = await startDnsServer();
const { api, core, clock, runJob } = await startTestService({
  env: { DNS_RESOLVERS: names.address, WEBHOOK_ALLOWED_PRIVATE_HOSTS: "exempt.partner.example, 127.0.0.9" },
  webhooks: { ca: authority.certificate },
});
const partner = await createPartner(api);

/** A server inside the operator's network. It must never see a connection. */
let intrusions = 0;
const opened = new Set<Socket>();
const inside = createServer((socket) => {
  intrusions += 1;
  opened.add(socket);
});
await new Promise<void>((resolve) => inside.listen(0, "::", resolve)).catch(
  () => new Promise<void>((resolve) => inside.listen(0, "0.0.0.0", resolve)),
);
const { port } = inside.address() as AddressInfo;
after(() => {
  for (const socket of opened) socket.destroy();
  inside.close();
});

const safeFetch = createSafeFetch({
  resolveAddresses: createDns({ resolvers: [names.address], timeoutMs: 2000 }).resolveAddresses,
  exemptHosts: exemptHostSet([]),
  resolveExempt: async () => [],
});
after(() => safeFetch.close());

const hostileHosts = [
  // This machine, in every notation that a URL parser accepts.
  "127.0.0.1",
  "127.1",
  "127.0.1",
  "127.255.255.254",
  "2130706433",
  "0x7f000001",
  "0x7f.1",
  "0177.0.0.1",
  "017700000001",
  "0x7f.0x0.0x0.0x1",
  "127.0.0.1.",
  "%31%32%37.0.0.1",
  "１２７.0.0.1",
  "127。0。0。1",
  "①②⑦.0.0.1",
  "0",
  "0.0.0.0",
  "0x0",
  "localhost",
  "LOCALHOST",
  "localhost.",
  "app.localhost",
  "ⓛocalhost",
  "[::1]",
  "[::]",
  "[0:0:0:0:0:0:0:1]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[::127.0.0.1]",
  "[::ffff:0:127.0.0.1]",
  "[64:ff9b::127.0.0.1]",
  "[64:ff9b::7f00:1]",
  "[64:ff9b:1::7f00:1]",
  "[2002:7f00:1::]",
  "[2001:0:7f00:1::]",
  // Private networks and links.
  "10.0.0.1",
  "10.255.255.255",
  "167772161",
  "0xa000001",
  "012.0.0.1",
  "172.16.0.1",
  "172.31.255.255",
  "192.168.0.1",
  "192.168.1",
  "169.254.169.254",
  "2852039166",
  "0xa9fea9fe",
  "[::ffff:169.254.169.254]",
  "100.64.0.1",
  "100.127.255.255",
  "[fc00::1]",
  "[fd00:ec2::254]",
  "[fe80::1]",
  "[fec0::1]",
  "[::ffff:10.0.0.1]",
  "[2002:a00:1::]",
  // Reserved for other purposes.
  "192.0.0.8",
  "192.0.2.1",
  "192.31.196.1",
  "192.52.193.1",
  "192.88.99.1",
  "192.175.48.1",
  "198.18.0.1",
  "198.19.255.255",
  "198.51.100.7",
  "203.0.113.9",
  "224.0.0.1",
  "239.255.255.250",
  "240.0.0.1",
  "255.255.255.255",
  "[ff02::1]",
  "[100::1]",
  "[2001:db8::1]",
  "[2001:2::1]",
  "[2001:10::1]",
  "[2001:20::1]",
  "[3fff::1]",
  "[5f00::1]",
  "[4000::1]",
  // Names that do not exist on the internet.
  "intranet",
  "metadata",
  "printer.local",
  "metadata.google.internal",
  "vault.internal",
  "router.home.arpa",
  "1.0.0.127.in-addr.arpa",
  "db.localdomain",
  "service.test",
  "partner.example",
  "nothing.invalid",
  "hidden.onion",
  "name.alt",
  "a..example.com",
  ".example.com",
];

const hostileUrls = [
  ...hostileHosts.map((host) => `https://${host}:${port}/`),
  // Not https, or deceptive.
  `http://example.com:${port}/`,
  `HTTP://example.com/`,
  "ftp://example.com/",
  "file:///etc/passwd",
  "gopher://example.com/",
  "data:text/plain,x",
  "javascript:alert(1)",
  "ws://example.com/",
  "//example.com/",
  "example.com",
  "/hook",
  "https://",
  "https://:443/",
  "https:///",
  "https://user@example.com/",
  "https://user:password@example.com/",
  "https://:password@example.com/",
  "https://@example.com/",
  `https://example.com:${port}@127.0.0.1:${port}/`,
  `https://127.0.0.1:${port}#@example.com/`,
  `https://127.0.0.1:${port}?@example.com/`,
  `https://127.0.0.1:${port}\\@example.com/`,
  `https://example.com\\@127.0.0.1:${port}/`,
  "https:\\\\example.com\\",
  "https://exam ple.com/",
  "https://example.com/a b",
  "https://example.com/\r\nx-injected: 1",
  "https://example.com\t/",
  "https://example.com/\u0000",
  " https://example.com/",
  "https://example.com:99999/",
  "https://[::1/",
  "https://[fe80::1%25eth0]/",
  "https://999.999.999.999/",
  "https://256.0.0.1/",
  "https://1.2.3.4.5/",
  "https://0x7f.0.0.0.1/",
];

test("no hostile URL can be saved or sent to, and nothing inside the network sees a connection", async () => {
  assert.ok(hostileUrls.length >= 100, `${hostileUrls.length} URLs`);
  for (const url of hostileUrls) {
    expectError(
      await partner.api.post("/v1/webhooks/endpoints", { url }),
      400,
      // No text of a request may hold this character.
      url.includes("\0") ? "BAD_REQUEST" : "WEBHOOK_URL_REJECTED",
      /`url`/,
    );
    await assert.rejects(
      safeFetch.post(url, { headers: {}, body: "x", timeoutMs: 2000 }),
      (error) =>
        error instanceof SafeFetchError && ["url_refused", "address_refused"].includes(error.problem),
      url,
    );
    tally("hostile URLs refused");
  }
  assert.deepEqual(expectData(await partner.api.get("/v1/webhooks/endpoints")), []);
  assert.equal(intrusions, 0);
});

const hostileAnswers: [type: "A" | "AAAA", address: string][] = [
  ["A", "127.0.0.1"],
  ["A", "127.8.8.8"],
  ["A", "0.0.0.0"],
  ["A", "10.1.2.3"],
  ["A", "172.20.0.1"],
  ["A", "192.168.7.7"],
  ["A", "169.254.169.254"],
  ["A", "100.100.100.200"],
  ["A", "192.0.0.170"],
  ["A", "192.0.2.55"],
  ["A", "192.88.99.2"],
  ["A", "198.18.5.5"],
  ["A", "198.51.100.55"],
  ["A", "203.0.113.55"],
  ["A", "224.0.0.251"],
  ["A", "250.1.1.1"],
  ["A", "255.255.255.255"],
  ["AAAA", "::1"],
  ["AAAA", "::"],
  ["AAAA", "::ffff:127.0.0.1"],
  ["AAAA", "::ffff:10.0.0.1"],
  ["AAAA", "64:ff9b::a00:1"],
  ["AAAA", "64:ff9b:1::a00:1"],
  ["AAAA", "2002:7f00:1::1"],
  ["AAAA", "2001:0:4136:e378:8000:63bf:3fff:fdd2"],
  ["AAAA", "2001:db8::5"],
  ["AAAA", "2001:2::5"],
  ["AAAA", "fd12:3456:789a::1"],
  ["AAAA", "fe80::5"],
  ["AAAA", "fec0::5"],
  ["AAAA", "ff02::fb"],
  ["AAAA", "100::5"],
  ["AAAA", "3fff::5"],
];

test("a name is judged by all of its addresses, through aliases too", async () => {
  for (const [index, [type, address]] of hostileAnswers.entries()) {
    const alone = `alone-${index}.partner-site.com`;
    const mixed = `mixed-${index}.partner-site.com`;
    const alias = `alias-${index}.partner-site.com`;
    names.set(alone, type, address);
    // One good address beside it does not help, whichever comes first.
    names.set(mixed, "A", "93.184.216.34", ...(type === "A" ? [address] : []));
    if (type === "AAAA") names.set(mixed, "AAAA", address);
    names.set(alias, "CNAME", alone);
    for (const host of [alone, mixed, alias]) {
      const url = `https://${host}:${port}/hook`;
      expectError(await partner.api.post("/v1/webhooks/endpoints", { url }), 400, "WEBHOOK_URL_REJECTED");
      await assert.rejects(
        safeFetch.post(url, { headers: {}, body: "x", timeoutMs: 2000 }),
        (error) => error instanceof SafeFetchError && error.problem === "address_refused",
        `${host} ${address}`,
      );
    }
  }
  assert.equal(intrusions, 0);
});

async function publishOutcome(): Promise<string> {
  const [eventId = ""] = await core.db.transaction((tx) =>
    publishEvents(core, tx, clock.now(), [
      {
        type: "verification.session.expired",
        session: {
          id: newId("vs", clock.now()),
          organizationId: partner.organizationId,
          sandbox: true,
          contractVersion: 1,
          clientReferenceId: null,
          webhookEndpointId: null,
        },
        data: { nfc_tries_used: 0, liveness_tries_used: 0, return_code_sha256: null },
      },
    ]),
  );
  return eventId;
}

async function lastErrorOf(eventId: string, endpointId: string): Promise<string | null> {
  const row = await core.db.one<{ lastError: string | null }>(
    sql`select last_error from webhook_deliveries where event_id = ${eventId} and endpoint_id = ${endpointId}`,
  );
  return row.lastError;
}

test("a name that turns to a private address after it was saved is refused at the connection", async () => {
  const rebinding: [string, () => void][] = [
    ["rebind-a.partner-site.com", () => names.set("rebind-a.partner-site.com", "A", "127.0.0.1")],
    ["rebind-aaaa.partner-site.com", () => names.set("rebind-aaaa.partner-site.com", "AAAA", "::1")],
    [
      "rebind-both.partner-site.com",
      () => names.set("rebind-both.partner-site.com", "A", "93.184.216.34", "10.0.0.1"),
    ],
    [
      "rebind-alias.partner-site.com",
      () => {
        names.clear("rebind-alias.partner-site.com");
        names.set("turned.partner-site.com", "A", "127.0.0.1");
        names.set("rebind-alias.partner-site.com", "CNAME", "turned.partner-site.com");
      },
    ],
  ];
  for (const [host, turn] of rebinding) {
    names.set(host, "A", "93.184.216.34");
    const endpoint = await createReceivingEndpoint(partner.api, `https://${host}:${port}/hook`);
    turn();
    const askedBefore = names.queries.filter((query) => query.name === host && query.type === "A").length;
    const eventId = await publishOutcome();
    await runJob("deliver-webhooks");
    assert.equal(await lastErrorOf(eventId, endpoint.id), "address_refused", host);
    const asked =
      names.queries.filter((query) => query.name === host && query.type === "A").length - askedBefore;
    assert.equal(asked, 1, "asked once: what was checked is what is connected to");
    assert.equal((await partner.api.delete(`/v1/webhooks/endpoints/${endpoint.id}`)).status, 204);
  }
  assert.equal(intrusions, 0);
});

test("a name without addresses can be saved and is a failed attempt; PATCH is checked like POST", async () => {
  const endpoint = await createReceivingEndpoint(partner.api, "https://not-yet.partner-site.com/hook");
  const eventId = await publishOutcome();
  await runJob("deliver-webhooks");
  assert.equal(await lastErrorOf(eventId, endpoint.id), "name_not_resolved");
  names.set("inner.partner-site.com", "A", "192.168.1.1");
  for (const url of ["https://inner.partner-site.com/", "https://127.0.0.1/", "http://example.com/"])
    expectError(
      await partner.api.patch(`/v1/webhooks/endpoints/${endpoint.id}`, { url }),
      400,
      "WEBHOOK_URL_REJECTED",
    );
  assert.equal((await partner.api.delete(`/v1/webhooks/endpoints/${endpoint.id}`)).status, 204);
});

test("an exempt name is reached where DNS_RESOLVERS say; another name for the same address is not", async () => {
  const receiver = await startReceiver(authority, "exempt.partner.example");
  names.set("exempt.partner.example", "A", "127.0.0.1");
  names.set("other.partner-site.com", "A", "127.0.0.1");
  const endpoint = await createReceivingEndpoint(partner.api, receiver.url);
  const eventId = await publishOutcome();
  await runJob("deliver-webhooks");
  assert.equal(await lastErrorOf(eventId, endpoint.id), null);
  assert.equal(receiver.received.length, 1);
  for (const url of [
    `https://other.partner-site.com:${receiver.port}/`,
    `https://127.0.0.1:${receiver.port}/`,
    `https://a.exempt.partner.example:${receiver.port}/`,
    receiver.url.replace("https:", "http:"),
  ])
    expectError(await partner.api.post("/v1/webhooks/endpoints", { url }), 400, "WEBHOOK_URL_REJECTED");
  // The certificate must be for the name, although the connection goes to an address.
  names.set("exempt.partner.example", "A", "127.0.0.1");
  const wrong = await startReceiver(authority, "127.0.0.1");
  expectData(
    await partner.api.patch(`/v1/webhooks/endpoints/${endpoint.id}`, {
      url: `https://exempt.partner.example:${wrong.port}/`,
    }),
  );
  const second = await publishOutcome();
  await runJob("deliver-webhooks");
  assert.equal(await lastErrorOf(second, endpoint.id), "tls_failed");
  assert.equal(wrong.received.length, 0);
});

test("the listener that saw no connection would have seen one", async () => {
  const before = intrusions;
  const socket = createConnection(port, "127.0.0.1");
  await new Promise<void>((resolve) => socket.once("connect", resolve));
  await until("the connection is seen", () => intrusions > before);
  socket.destroy();
});
