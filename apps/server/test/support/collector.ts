import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { after } from "node:test";

type Attribute = { key: string; value: { stringValue?: string; intValue?: string } };
export type CollectedSpan = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: Record<string, string>;
  failed: boolean;
};

const named = (attributes: readonly Attribute[]) =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? `${Number(value.intValue)}`]),
  );

/** A collector of OpenTelemetry: parses OTLP in JSON, and also keeps the raw text. */
export async function startCollector() {
  const bodies: string[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const spans: CollectedSpan[] = [];
  let resource: Record<string, string> = {};
  const state = { status: 200 };
  const take = (path: string, body: string) => {
    const read = JSON.parse(body);
    for (const { resource: of, scopeSpans } of read.resourceSpans) {
      resource = named(of.attributes);
      for (const scope of scopeSpans)
        for (const { attributes, status, ...span } of scope.spans)
          spans.push({ ...span, attributes: named(attributes), failed: status.code === 2 });
    }
    if (path !== "/v1/traces") throw new Error(`nothing is sent to ${path}`);
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString("utf8");
      bodies.push(body);
      headers.push(request.headers);
      if (state.status === 200) take(request.url ?? "", body);
      response.writeHead(state.status, { "content-type": "application/json" }).end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  after(close);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    headers,
    spans,
    state,
    close,
    get resource() {
      return resource;
    },
  };
}
