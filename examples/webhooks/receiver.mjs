// A receiver to try things with: node receiver.mjs FOLDER. It expects receiver-cert.pem, receiver-key.pem, webhook-key.pem and secret.txt in the folder,
// and writes each event that it could verify and decrypt as a line of events.jsonl.
import { appendFileSync, readFileSync } from "node:fs";
import { createServer } from "node:https";
import { join } from "node:path";
import { openWebhook } from "./open-webhook.mjs";

const folder = process.argv[2] ?? ".";
const read = (name) => readFileSync(join(folder, name), "utf8").trim();
const seen = new Set();

createServer({ cert: read("receiver-cert.pem"), key: read("receiver-key.pem") }, (request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    try {
      const body = Buffer.concat(chunks).toString();
      const event = openWebhook(request.headers, body, read("secret.txt"), read("webhook-key.pem"));
      // The same event can arrive more than once.
      if (!seen.has(event.id)) appendFileSync(join(folder, "events.jsonl"), `${JSON.stringify(event)}\n`);
      seen.add(event.id);
      response.writeHead(204).end();
    } catch (error) {
      console.error(error.message);
      response.writeHead(400).end();
    }
  });
}).listen(Number(process.env.RECEIVER_PORT ?? 4443), "localhost");
