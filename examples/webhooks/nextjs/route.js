import { DatabaseSync } from "node:sqlite";
import { WebhookError, webhook } from "@assay/webhook";
import { after } from "next/server";

// Made with the first delivery: `next build` loads this file too, without the secrets.
let receiver = null;

function openReceiver() {
  // The queue is a table. With several servers use a table of your shared database.
  const database = new DatabaseSync("events.sqlite");
  database.exec("create table if not exists events (id text primary key, event text)");
  return {
    // During a rotation these are two secrets, separated by a space. Each delivery opens with either.
    open: webhook({
      secrets: process.env.ASSAY_WEBHOOK_SECRETS.split(" "),
      keys: [process.env.ASSAY_PRIVATE_KEY],
    }),
    store: database.prepare("insert into events (id, event) values (?, ?) on conflict do nothing"),
    waiting: database.prepare("select id, event from events where event is not null order by rowid"),
    // The id stays, so that an event that comes again is known. The claims go.
    finish: database.prepare("update events set event = null where id = ?"),
  };
}

/** Your work. An event can be handled twice, if the server stops in the middle of it. */
async function handle(event) {
  if (event.type === "verification.session.succeeded") {
    // event.data.claims has what the person shared.
  }
  console.log("handled", event.id, event.type, event.metadata.client_reference_id);
}

async function handleWaiting() {
  for (const { id, event } of receiver.waiting.all()) {
    try {
      await handle(JSON.parse(event));
      receiver.finish.run(id);
    } catch (error) {
      console.error(`${id} waits for the next delivery`, error);
    }
  }
}

// One after the other: two at once would handle an event twice.
let working = Promise.resolve();
function work() {
  working = working.then(handleWaiting);
  return working;
}

export async function POST(request) {
  receiver ??= openReceiver();
  try {
    const event = await receiver.open(request.headers, await request.text());
    receiver.store.run(event.id, JSON.stringify(event));
    // Runs when the response has been sent. Let a scheduled task call `work` too, for what has failed.
    after(work);
    return new Response(null, { status: 204 });
  } catch (error) {
    // Anything else is answered with 500. The delivery is sent again after both.
    if (!(error instanceof WebhookError)) throw error;
    console.error(error.message);
    return new Response(error.code, { status: 400 });
  }
}
