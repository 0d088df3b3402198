import { DatabaseSync } from "node:sqlite";
import { WebhookError, webhook } from "@assay/webhook";
import { fastify } from "fastify";

// During a rotation these are two secrets, separated by a space. Each delivery opens with either.
const open = webhook({
  secrets: process.env.ASSAY_WEBHOOK_SECRETS.split(" "),
  keys: [process.env.ASSAY_PRIVATE_KEY],
});

// The queue is a table. With several servers use a table of your shared database.
const database = new DatabaseSync("events.sqlite");
database.exec("create table if not exists events (id text primary key, event text)");
const store = database.prepare("insert into events (id, event) values (?, ?) on conflict do nothing");
const waiting = database.prepare("select id, event from events where event is not null order by rowid");
// The id stays, so that an event that comes again is known. The claims go.
const finish = database.prepare("update events set event = null where id = ?");

/** Your work. An event can be handled twice, if the server stops in the middle of it. */
async function handle(event) {
  if (event.type === "verification.session.succeeded") {
    // event.data.claims has what the person shared.
  }
  console.log("handled", event.id, event.type, event.metadata.client_reference_id);
}

async function handleWaiting() {
  for (const { id, event } of waiting.all()) {
    try {
      await handle(JSON.parse(event));
      finish.run(id);
    } catch (error) {
      console.error(`${id} waits for the next time`, error);
    }
  }
}

// One after the other: two at once would handle an event twice.
let working = Promise.resolve();
function work() {
  working = working.then(handleWaiting);
}
work();
setInterval(work, 10_000);

const app = fastify();

// The body as it was received. Without a parser for this type Fastify answers 415.
app.addContentTypeParser("application/jose", { parseAs: "buffer" }, async (_request, body) => body);

app.post("/webhooks/assay", async (request, reply) => {
  try {
    const event = await open(request.headers, request.body);
    store.run(event.id, JSON.stringify(event));
    work();
    return reply.code(204).send();
  } catch (error) {
    // Anything else is answered with 500. The delivery is sent again after both.
    if (!(error instanceof WebhookError)) throw error;
    console.error(error.message);
    return reply.code(400).send(error.code);
  }
});

await app.listen({ port: Number(process.env.PORT ?? 4000), host: "127.0.0.1" });
