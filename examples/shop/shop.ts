// A shop that sells cider to adults. See README.md; what matters is in `checkAge` and `takeEvent`.
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { join } from "node:path";
import process from "node:process";
import { openWebhook } from "../webhooks/open-webhook.ts";
import { type Assay, setUp } from "./assay.ts";
import { type OrderState, Orders } from "./orders.ts";
import { orderPage, script, shopPage, styles } from "./pages.ts";

const { env } = process;
const assayUrl = env.ASSAY_URL ?? "http://127.0.0.1:3000";
const folder = env.SHOP_FILES ?? "./shop-files";
const port = Number(env.SHOP_PORT ?? 4000);
const hookPort = Number(env.SHOP_HOOK_PORT ?? 4443);
const shopUrl = `http://localhost:${port}`;

type Event = {
  id: string;
  type: string;
  metadata: { verification_session_id: string | null; client_reference_id: string | null };
  data: { claims?: Record<string, unknown>; failure_code?: string };
};

mkdirSync(folder, { recursive: true });
const orders = new Orders(join(folder, "orders.sqlite"));
const { assay, privateKey, signingSecret } = await setUp({
  assayUrl,
  folder,
  apiKey: env.ASSAY_API_KEY ?? null,
  hookUrl: env.SHOP_HOOK_URL ?? `https://localhost:${hookPort}/webhooks`,
});

/**
 * Begins a check, whichever way the customer takes.
 * The session is created on the server, so the key never leaves it.
 */
async function checkAge(api: Assay, orderId: string): Promise<{ verification_url: string }> {
  const session = await api.createSession(orderId, shopUrl);
  orders.startCheck(orderId, session.id);
  return { verification_url: session.verification_url };
}

/**
 * What an outcome means to the shop. A success says who proved what; the shop decides whether that is enough.
 */
function decide({ type, data }: Event): [state: OrderState, note: string] {
  switch (type) {
    case "verification.session.succeeded":
      return data.claims?.age_over_18 === true
        ? ["delivered", "Your cider is on its way."]
        : ["refused", "We may sell cider to adults only."];
    case "verification.session.failed":
      return ["new", `The check did not succeed (${data.failure_code}). You can try again.`];
    default:
      return ["new", "The check was not finished. You can try again."];
  }
}

/** Only signed and encrypted events count. Anybody could have sent anything else. */
function takeEvent(signature: string, body: string): void {
  const event = JSON.parse(openWebhook(signature, body, signingSecret, privateKey)) as Event;
  const { verification_session_id: sessionId, client_reference_id: orderId } = event.metadata;
  if (sessionId === null || orderId === null || !event.type.startsWith("verification.session.")) return;
  orders.settle(event.id, { orderId, sessionId }, ...decide(event));
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > 256 * 1024) throw new Error("too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

async function receiveWebhook(request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    takeEvent(String(request.headers["x-service-signature"]), await readBody(request));
    response.writeHead(204).end();
  } catch (error) {
    console.error(`refused a webhook: ${(error as Error).message}`);
    response.writeHead(400).end();
  }
}

/** Sends the state of an order now and whenever it changes (server-sent events). */
function followOrder(orderId: string, response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
  const send = (id: string) => {
    const order = id === orderId ? orders.find(id) : null;
    if (order !== null)
      response.write(`data: ${JSON.stringify({ state: order.state, note: order.note })}\n\n`);
  };
  orders.on("changed", send);
  response.on("close", () => orders.off("changed", send));
  send(orderId);
}

function send(response: ServerResponse, type: string, text: string, status = 200): void {
  response
    .writeHead(status, {
      "content-type": `${type}; charset=utf-8`,
      "x-content-type-options": "nosniff",
      "content-security-policy": `default-src 'none'; script-src 'self' ${assayUrl}; style-src 'self'; connect-src 'self'; img-src data:; frame-src ${assayUrl}; form-action 'self'; frame-ancestors 'none'`,
    })
    .end(text);
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname } = new URL(request.url ?? "/", shopUrl);
  const [, first = "", orderId = "", what = ""] = pathname.split("/");
  if (request.method === "POST" && first === "webhooks") return receiveWebhook(request, response);
  // Another site must not order in the customer's name.
  if (request.method === "POST" && request.headers["sec-fetch-site"] === "cross-site")
    return send(response, "text/plain", "Not from here.", 403);
  if (request.method === "POST" && pathname === "/orders") {
    response.writeHead(303, { location: `/orders/${orders.create().id}` }).end();
    return;
  }
  if (pathname === "/") return send(response, "text/html", shopPage());
  if (pathname === "/shop.css") return send(response, "text/css", styles);
  if (pathname === "/shop.js") return send(response, "text/javascript", script);
  const order = first === "orders" ? orders.find(orderId) : null;
  if (order === null) return send(response, "text/plain", "There is no such page.", 404);
  if (request.method === "POST" && what === "check") {
    if (order.state !== "new" && order.state !== "checking")
      return send(response, "text/plain", "This order is settled.", 409);
    return send(response, "application/json", JSON.stringify(await checkAge(assay, order.id)));
  }
  if (what === "events") return followOrder(order.id, response);
  send(response, "text/html", orderPage(order, assayUrl));
}

const shop = createServer((request, response) => {
  answer(request, response).catch((error: Error) => {
    console.error(error.message);
    if (!response.headersSent) send(response, "text/plain", "That did not work. Please try again.", 502);
  });
});
shop.listen(port, "localhost", () => console.log(`The shop is open: ${shopUrl}`));

// Assay sends to https only. A tunnel or proxy may deliver its webhooks to /webhooks of the shop instead.
if (existsSync(join(folder, "shop-cert.pem"))) {
  const read = (name: string) => readFileSync(join(folder, name));
  createSecureServer({ cert: read("shop-cert.pem"), key: read("shop-key.pem") }, (request, response) => {
    if (request.method === "POST") void receiveWebhook(request, response);
    else response.writeHead(404).end();
  }).listen(hookPort, "localhost");
}
