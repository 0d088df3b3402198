import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after } from "node:test";

/**
 * A partner's page at two origins of another site: `origin`, which sessions name, and `foreign`, which they
 * do not. It has the service's script with its hash, under the strictest policy that the guide allows.
 */
export async function startPartnerPage(serviceUrl: string): Promise<{ origin: string; foreign: string }> {
  const script = await (await fetch(`${serviceUrl}/embed/v1.js`)).text();
  const hash = createHash("sha384").update(script).digest("base64");
  const start = async () => {
    const server = createServer((_request, response) => {
      response.setHeader("content-type", "text/html; charset=utf-8");
      response.setHeader(
        "content-security-policy",
        `default-src 'none'; script-src ${serviceUrl}; frame-src ${serviceUrl}; img-src data:`,
      );
      response.end(`<!doctype html><html lang="en"><title>Shop</title><link rel="icon" href="data:,">
<main><h1>Shop</h1><div id="place"></div></main>
<script src="${serviceUrl}/embed/v1.js" integrity="sha384-${hash}" crossorigin="anonymous"></script>`);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
    after(() => server.close());
    return `http://localhost:${(server.address() as AddressInfo).port}`;
  };
  return { origin: await start(), foreign: await start() };
}
