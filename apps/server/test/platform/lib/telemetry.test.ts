import assert from "node:assert/strict";
import { request } from "node:http";
import test from "node:test";
import { later, minuteMs } from "../../../src/platform/kernel/clock.ts";
import { createLog } from "../../../src/platform/lib/log.ts";
import { Metrics } from "../../../src/platform/lib/metrics.ts";
import { OtlpExporter } from "../../../src/platform/lib/otlp-exporter.ts";
import { Tracer } from "../../../src/platform/lib/tracer.ts";
import { createPartner, expectData } from "../../support/api.ts";
import { createAuthority } from "../../support/certificate.ts";
import { startCollector } from "../../support/collector.ts";
import { createReceivingEndpoint, startReceiver } from "../../support/receiver.ts";
import { startTestService } from "../../support/service.ts";
import { until } from "../../support/until.ts";

const authority = createAuthority();
const receiver = await startReceiver(authority);
const collector = await startCollector();
const service = await startTestService({
  env: {
    OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
    OTEL_EXPORTER_OTLP_HEADERS: "x-key=for%20the%20collector",
    OTEL_RESOURCE_ATTRIBUTES: "service.name=assay-eu,deployment.environment.name=test",
    WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1",
  },
  webhooks: { ca: authority.certificate },
});
const { api } = service;

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const parentId = "00f067aa0ba902b7";

/** Creates a session with a body that is sent only once the service has the headers. */
function postInParts(key: string, traceparent: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      expect: "100-continue",
      traceparent,
    };
    const sent = request(`${service.url}/v1/sessions`, { method: "POST", headers }, (answer) => {
      answer.resume();
      answer.on("end", () => resolve(answer.statusCode));
    });
    sent.on("continue", () => setTimeout(() => sent.end("{}"), 50));
    sent.on("error", reject);
    sent.flushHeaders();
  });
}

test("requests with their statements, jobs and webhooks reach a collector, and no secret does", async () => {
  const partner = await createPartner(api);
  const endpoint = await createReceivingEndpoint(partner.api, receiver.url);
  const planted = {
    metadata: "planted-in-metadata",
    reference: "planted-in-reference",
    idempotencyKey: "planted-in-idempotency-key",
    query: "planted-in-query",
    path: "planted-in-path",
    userAgent: "planted-in-user-agent",
    state: "planted-in-tracestate",
  };
  const session = expectData(
    await partner.api.call("POST", "/v1/sessions", {
      body: { metadata: { order: planted.metadata }, client_reference_id: planted.reference },
      headers: {
        traceparent: `00-${traceId}-${parentId}-01`,
        tracestate: `vendor=${planted.state}`,
        "idempotency-key": planted.idempotencyKey,
        "user-agent": planted.userAgent,
        "x-request-id": "request-of-the-partner",
      },
    }),
    201,
  );
  assert.equal((await partner.api.get(`/v1/sessions/${session.id}?x=${planted.query}`)).status, 400);
  assert.equal((await partner.api.get(`/v1/sessions/${planted.path}`)).status, 400);
  const unknownId = session.id.replace(/.{4}$/, session.id.endsWith("AAAA") ? "BBBB" : "AAAA");
  assert.equal((await partner.api.get(`/v1/sessions/${unknownId}`)).status, 404);
  assert.equal((await api.get(`/v1/${planted.path}`)).status, 404);
  assert.equal((await api.get("/readyz")).status, 200);
  await partner.api.call("GET", "/v1/sessions", {
    headers: { traceparent: `00-${"ab".repeat(16)}-${parentId}-00` },
  });
  assert.equal(await postInParts(partner.key.secret, `00-${"cd".repeat(16)}-${parentId}-01`), 201);
  service.clock.set(later(new Date(session.expires_at), minuteMs));
  await service.runJob("expire-sessions");
  await receiver.until(2);
  await service.close();

  const { spans } = collector;
  const find = (name: string) => spans.find((span) => span.name === name);
  const created = spans.find((span) => span.traceId === traceId && span.kind === 2);
  assert.ok(created);
  assert.equal(created.name, "POST /v1/sessions");
  assert.equal(created.parentSpanId, parentId);
  assert.deepEqual(created.attributes, {
    "http.request.method": "POST",
    "http.route": "/v1/sessions",
    "http.response.status_code": "201",
    "assay.request_id": "request-of-the-partner",
    "assay.route": "createSession",
  });
  const below = spans.filter((span) => span.traceId === traceId && span !== created);
  const names = below.map(({ name }) => name).join("; ");
  const transactions = below.filter(({ name }) => name === "transaction");
  assert.ok(
    transactions.length > 0 && transactions.every((span) => span.parentSpanId === created.spanId),
    names,
  );
  const written = below.find(({ name }) => /insert sessions/.test(name));
  assert.ok(
    transactions.some(({ spanId }) => spanId === written?.parentSpanId),
    names,
  );
  // A body that comes later does not take its request out of the trace.
  const ofParts = spans.filter((span) => span.traceId === "cd".repeat(16)).map(({ name }) => name);
  assert.ok(ofParts.includes("insert sessions"), ofParts.join("; "));
  for (const span of below)
    assert.ok(
      span.startTimeUnixNano >= created.startTimeUnixNano && span.endTimeUnixNano <= created.endTimeUnixNano,
    );

  const unknown = spans.find((span) => span.attributes["error.type"] === "SESSION_NOT_FOUND");
  assert.equal(unknown?.name, "GET /v1/sessions/:id");
  assert.equal(unknown?.failed, false);
  assert.equal(find("job expire-sessions")?.attributes["assay.items"], "2");
  // Probes, jobs that found nothing and requests that opted out have no spans.
  for (const name of ["GET /readyz", "job purge-invitations"]) assert.equal(find(name), undefined, name);
  assert.ok(!spans.some((span) => span.traceId === "ab".repeat(16)));

  const delivered = find("deliver webhook");
  assert.deepEqual(delivered?.attributes, {
    "assay.event_type": "verification.session.expired",
    "assay.outcome": "answered",
    "http.response.status_code": "200",
  });
  const passedOn = `00-${delivered?.traceId}-${delivered?.spanId}-01`;
  assert.ok(receiver.received.some(({ headers }) => headers.traceparent === passedOn));

  const { resource, headers } = collector;
  assert.equal(resource["service.name"], "assay-eu");
  assert.equal(resource["deployment.environment.name"], "test");
  assert.ok(headers.every((sent) => sent["x-key"] === "for the collector"));

  const everything = collector.bodies.join("\n");
  const secrets = {
    ...planted,
    password: partner.owner.password,
    email: partner.owner.email,
    token: partner.owner.token,
    key: partner.key.secret,
    keyId: partner.key.id,
    organization: partner.organizationId,
    session: session.id,
    unknownId,
    signingSecret: endpoint.secret,
    receiver: receiver.url,
    database: service.databaseUrl,
    collectorKey: "for the collector",
  };
  for (const [what, secret] of Object.entries(secrets)) {
    assert.ok(String(secret).length > 5, what);
    assert.ok(!everything.includes(secret), `${what} was sent`);
  }
});

test("a collector that refuses, or is away, costs spans and nothing else", async () => {
  const away = await startCollector();
  away.state.status = 503;
  const metrics = new Metrics();
  const logLines: string[] = [];
  const exporter = new OtlpExporter({
    endpoint: away.url,
    headers: {},
    resource: {},
    log: createLog({ level: "debug", write: (line) => logLines.push(line), now: () => new Date() }),
    metrics,
  });
  const tracer = new Tracer({ ratio: 1, keep: (spans) => exporter.add(spans), dropped: () => {} });
  for (let i = 0; i < 9_000; i++) await tracer.root("x", "internal", {}, async () => i);
  await until("it is logged", () => logLines.length > 0);
  assert.match(metrics.render(), /^assay_telemetry_spans_waiting 8192$/m);
  assert.match(metrics.render(), /^assay_telemetry_spans_dropped_total\{reason="no_room"\} 808$/m);
  assert.match(logLines.join(""), /does not accept traces.*"reason":"status 503"/);
  // Spans that it refuses for good are dropped, and waiting ones are sent when it accepts again.
  away.state.status = 200;
  await until("all have gone out", () => away.spans.length === 8192);
  assert.match(logLines[1] ?? "", /accepts traces again/);
  away.state.status = 400;
  for (let i = 0; i < 600; i++) await tracer.root("x", "internal", {}, async () => i);
  await until("it is refused", () => /reason="refused"/.test(metrics.render()));
  await away.close();
  await exporter.close();
  assert.equal(logLines.length, 3);
});
