import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { settings } from "./config.ts";
import { loadConfig } from "./load-config.ts";
import { removedSettingNotices, removedSettings } from "./removed-settings.ts";
import { ConfigError } from "./settings/config-error.ts";
import { walletSources } from "./settings/trust-sources.ts";

test("everything is optional", () => {
  const config = loadConfig({});
  assert.equal(config.port, 3000);
  assert.equal(config.host, "127.0.0.1");
  assert.equal(config.databaseUrl, "");
});

test("all problems are reported together, without the values", () => {
  const env = {
    PORT: "eighty",
    PUBLIC_URL: "https://example.com/path",
    DATABASE_URL: "postgres://user:secret@host:port/db",
    SMTP_URL: "http://mail",
    DNS_RESOLVERS: "9.9.9.9, dns.example",
    LOG_LEVEL: "loud",
  };
  assert.throws(
    () => loadConfig(env),
    (error: unknown) => {
      assert.ok(error instanceof ConfigError);
      assert.equal(error.problems.length, 6);
      for (const name of Object.keys(env)) assert.ok(error.message.includes(name), name);
      assert.ok(!error.message.includes("secret"));
      return true;
    },
  );
});

test("a database of one's own demands a key ring", () => {
  assert.throws(
    () => loadConfig({ DATABASE_URL: "postgres://host/db" }),
    /SECRET_KEYS must be set together with DATABASE_URL/,
  );
});

test("resolvers may be addresses with or without a port, of both families", () => {
  const { dnsResolvers } = loadConfig({
    DNS_RESOLVERS: "9.9.9.9, 127.0.0.1:5353,[2620:fe::fe]:53,2620:fe::fe",
  });
  assert.equal(dnsResolvers.length, 4);
});

test("a reader app that cannot be used is told of by the name of its setting", () => {
  const digest = "ab".repeat(32);
  assert.equal(loadConfig({}).readerAppAndroid, null);
  assert.equal(
    loadConfig({
      READER_APP_ANDROID: `package=org.example.verify,sha256=${digest},install=https://verify.example.org/app`,
    }).readerAppAndroid?.packageName,
    "org.example.verify",
  );
  assert.throws(
    () => loadConfig({ READER_APP_ANDROID: `sha256=${digest}`, READER_APP_IOS: "app=org.example.verify" }),
    /READER_APP_ANDROID lacks package=\.\n.*READER_APP_IOS has an app that is not a team and a bundle id/,
  );
  const withoutPlace = { READER_APP_ANDROID: `package=org.example.verify,sha256=${digest}` };
  assert.throws(() => loadConfig(withoutPlace), /READER_APP_ANDROID lacks install=/);
  assert.ok(loadConfig({ ...withoutPlace, READER_APP_ANDROID_FILE: "app.apk" }).readerAppAndroid);
});

test("where telemetry goes is an address without a query, and headers are pairs; what is wrong is told without the value", () => {
  const given = loadConfig({
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318/",
    OTEL_EXPORTER_OTLP_HEADERS: "authorization=Basic%20abc%3D, x-tenant = one",
  });
  assert.equal(given.otlpEndpoint, "http://collector:4318");
  assert.deepEqual(given.otlpHeaders, { authorization: "Basic abc=", "x-tenant": "one" });
  assert.equal(loadConfig({}).otlpEndpoint, "");
  for (const [name, value] of [
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector-secret:4318"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "https://collector/?key=secret"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "secret"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "x=%zzsecret"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "x=a%0d%0asecret: y"],
    ["OTEL_TRACES_SAMPLER_ARG", "2"],
  ] as const)
    assert.throws(
      () => loadConfig({ [name]: value }),
      (error: Error) => error.message.includes(name) && !error.message.includes("secret"),
      value,
    );
});

test("a removed setting is answered with one sentence that names it and its replacement", () => {
  const removed = { OLD_LIMIT: "the limit is fixed." };
  assert.deepEqual(removedSettingNotices({ OLD_LIMIT: "5", PORT: "3000" }, removed), [
    "OLD_LIMIT has no effect any more: the limit is fixed.",
  ]);
  assert.deepEqual(removedSettingNotices({ OLD_LIMIT: " " }, removed), []);
});

test("each removed setting has one plain sentence, and is no setting any more", () => {
  const known: readonly string[] = Object.values(settings).map(({ env }) => env);
  for (const [name, sentence] of Object.entries(removedSettings)) {
    assert.match(sentence, /^[^.]+\.$/, name);
    assert.ok(!known.includes(name), `${name} is both removed and known`);
  }
});

test("an address of a database names one host, and one with several is refused without being repeated", () => {
  const secrets = { SECRET_KEYS: `1:${Buffer.alloc(32).toString("base64")}` };
  const load = (url: string) => loadConfig({ DATABASE_URL: url, ...secrets }).databaseUrl;
  for (const url of [
    "postgres://u:secret,x@a:5432/db?sslmode=verify-full",
    "postgresql://u@[::1]:5433/db",
    "postgresql:///db?host=/run/a&port=5432",
  ])
    assert.equal(load(url), url);
  for (const url of [
    "postgres://u:secret@a:5432,b:5432/db",
    "postgres://secret@a,b/db",
    "postgresql:///db?host=/a,/secret",
  ])
    assert.throws(
      () => load(url),
      (error: Error) =>
        /DATABASE_URL must name one host: use the single address that your database operator or proxy/.test(
          error.message,
        ) && !error.message.includes("secret"),
    );
});

test("wallets are off until the operator names methods, and every entry that cannot be used is named by its setting", () => {
  assert.deepEqual(loadConfig({}).wallet, {
    methods: [],
    trustSources: [],
    statusMaxAgeSeconds: 3600,
    listGraceDays: 7,
    schemes: { pid: "haip-vp", mdl: "openid4vp", age: "av" },
  });
  const pin = "ab".repeat(32);
  const { wallet } = loadConfig({
    WALLET_METHODS: "wallet_age, wallet_pid",
    WALLET_TRUST_SOURCES: `pid=https://lists.example.org/pid?a=b#sha256=${pin}`,
    WALLET_STATUS_MAX_AGE: "600",
    WALLET_LIST_GRACE_DAYS: "30",
    WALLET_SCHEMES: "pid=eudi-openid4vp",
  });
  assert.deepEqual(wallet.methods, ["wallet_pid", "wallet_age"]);
  assert.deepEqual(walletSources(wallet.trustSources), [
    {
      id: "pid=https://lists.example.org/pid?a=b",
      purpose: "pid",
      address: "https://lists.example.org/pid?a=b",
      pins: [pin],
    },
  ]);
  assert.equal(wallet.statusMaxAgeSeconds, 600);
  assert.equal(wallet.listGraceDays, 30);
  assert.deepEqual(wallet.schemes, { pid: "eudi-openid4vp", mdl: "openid4vp", age: "av" });
  for (const [name, value] of [
    ["WALLET_METHODS", "wallet_pid,document_chip"],
    ["WALLET_METHODS", "wallet_pid,wallet_pid"],
    ["WALLET_TRUST_SOURCES", `https://lists.example.org/pid#sha256=${pin}`],
    ["WALLET_TRUST_SOURCES", `passport=https://lists.example.org/pid#sha256=${pin}`],
    ["WALLET_TRUST_SOURCES", "pid=https://lists.example.org/pid"],
    ["WALLET_TRUST_SOURCES", `pid=http://lists.example.org/pid#sha256=${pin}`],
    ["WALLET_TRUST_SOURCES", `pid=https://10.0.0.1/pid#sha256=${pin}`],
    ["WALLET_STATUS_MAX_AGE", "0"],
    ["WALLET_LIST_GRACE_DAYS", "6"],
    ["WALLET_SCHEMES", "pid=javascript"],
    ["WALLET_SCHEMES", "pid=https"],
    ["WALLET_SCHEMES", "passport=haip-vp"],
  ] as const)
    assert.throws(
      () => loadConfig({ [name]: value }),
      (error: Error) => error.message.includes(name) && !error.message.includes("lists.example.org"),
      value,
    );
});

test("two fingerprints for one address are one source that either may sign", () => {
  const entry = (pin: string) => `mdl=https://lists.example.org/vical#sha256=${pin.repeat(32)}`;
  const [source, ...others] = walletSources([entry("ab"), entry("CD")]);
  assert.deepEqual(source?.pins, ["ab".repeat(32), "cd".repeat(32)]);
  assert.deepEqual(others, []);
});

test("a secret may come from a file, and what is wrong with the file is said by the setting's name", () => {
  const folder = mkdtempSync(join(tmpdir(), "assay-config-"));
  const file = join(folder, "smtp");
  try {
    writeFileSync(file, " smtp://mail.example\n");
    assert.equal(loadConfig({ SMTP_URL_FILE: file }).smtpUrl, "smtp://mail.example");
    assert.throws(
      () => loadConfig({ SMTP_URL_FILE: file, SMTP_URL: "smtp://a" }),
      /SMTP_URL and SMTP_URL_FILE/,
    );
    assert.throws(() => loadConfig({ SMTP_URL_FILE: `${file}2` }), /SMTP_URL cannot be read .*ENOENT/);
    assert.throws(() => loadConfig({ SECRET_KEYS_FILE: file }), /SECRET_KEYS cannot be used/);
    writeFileSync(file, "\n");
    assert.throws(() => loadConfig({ METRICS_TOKEN_FILE: file }), /METRICS_TOKEN is missing.*empty/);
    assert.equal(loadConfig({ MAIL_FROM_FILE: file }).mailFrom, loadConfig({}).mailFrom, "no secret");
  } finally {
    rmSync(folder, { recursive: true });
  }
});
