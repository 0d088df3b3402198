// A receiver for experiments: node receiver.mjs FOLDER. It expects secret.txt and webhook-key.pem in the
// folder, and prints each verified and decrypted event as a line of JSON. With receiver-cert.pem and
// receiver-key.pem in the folder it uses https, which endpoints with a URL need.
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { join } from "node:path";
import { openWebhook } from "./open-webhook.mjs";

const folder = process.argv[2] ?? ".";
const read = (name) => readFileSync(join(folder, name), "utf8").trim();
const seen = new Set();

function receive(request, response) {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    try {
      const body = Buffer.concat(chunks).toString();
      const event = openWebhook(request.headers, body, read("secret.txt"), read("webhook-key.pem"));
      // The same event can arrive more than once.
      if (!seen.has(event.id)) console.log(JSON.stringify(event));
      seen.add(event.id);
      response.writeHead(204).end();
    } catch (error) {
      console.error(error.message);
      response.writeHead(400).end();
    }
  });
}

const server = existsSync(join(folder, "receiver-cert.pem"))
  ? createSecureServer({ cert: read("receiver-cert.pem"), key: read("receiver-key.pem") }, receive)
  : createServer(receive);
server.listen(Number(process.env.RECEIVER_PORT ?? 4000), "localhost");
