import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import { runDevice } from "@assay/device/run-device";
import { virtualPassport } from "@assay/device/virtual-passport";
import { createPartner, expectData } from "./api.ts";
import { createAuthority } from "./certificate.ts";
import { freePort } from "./free-port.ts";
import { cleanEnvironment } from "./process.ts";
import {
  createReceivingEndpoint,
  openReceiver,
  partnerKeys,
  type Received,
  registration,
} from "./receiver.ts";
import { startTestService } from "./service.ts";
import { until } from "./until.ts";
import { testDocument } from "./verify-device.ts";

const examples = join(import.meta.dirname, "../../../../examples/webhooks");

/** A receiver of `examples/webhooks`, and how it is run. */
export type Recipe = {
  /** Puts its files into the folder, and builds what has to be built. */
  prepare(folder: string): void | Promise<void>;
  start(port: number): readonly [command: string, ...args: string[]];
  /** Puts an event into its queue, as if it had been stopped before it handled it. */
  enqueue(folder: string, id: string, event: string): void | Promise<void>;
};

/** Copies a file of `examples/webhooks` to this path of a folder. */
export function copyExample(file: string, to: string): void {
  cpSync(join(examples, file), to);
}

/** Puts an event into the table of a recipe that has its queue in SQLite. */
export function enqueueIn(table: string): Recipe["enqueue"] {
  return (folder, id, event) => {
    const database = new DatabaseSync(join(folder, "events.sqlite"));
    database.prepare(`insert into ${table} (id, event) values (?, ?)`).run(id, event);
    database.close();
  };
}

/** A recipe that is one file for Node. */
export function nodeRecipe(framework: string): Recipe {
  return {
    prepare: (folder) => copyExample(`${framework}/receiver.mjs`, join(folder, "receiver.mjs")),
    start: () => [process.execPath, "receiver.mjs"],
    enqueue: enqueueIn("events"),
  };
}

/** A service that sends to receivers of this machine. */
export async function startRecipeService() {
  const authority = createAuthority();
  const service = await startTestService({
    env: { WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1" },
    webhooks: { ca: authority.certificate },
  });
  // The receivers use the real time.
  service.clock.set(new Date());
  return { ...service, authority };
}

/** Runs a tool of this machine to its end, with its usual settings. */
export async function runToEnd(
  [command, ...args]: readonly [string, ...string[]],
  cwd: string,
  env: Record<string, string> = {},
): Promise<{ code: number | null; output: string }> {
  const { NODE_ENV: _, NODE_OPTIONS: __, ...usual } = process.env;
  const child = spawn(command, args, { cwd, env: { ...usual, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => {
      output += chunk;
    });
  const [code] = await once(child, "close").catch((error: Error) => [error.message]);
  return { code, output };
}

/** The recipe as a separate process, which can be killed and started again. */
function runRecipe(recipe: Recipe, folder: string, port: number, secrets: readonly string[]) {
  const env = cleanEnvironment({
    PORT: String(port),
    ASSAY_WEBHOOK_SECRETS: secrets.join(" "),
    ASSAY_PRIVATE_KEY: String(partnerKeys().privateKey.export({ type: "pkcs8", format: "pem" })),
  });
  const url = `http://127.0.0.1:${port}/webhooks/assay`;
  let child: ChildProcess | null = null;
  let printed = "";
  let complaints = "";
  return {
    start: async () => {
      const [command, ...args] = recipe.start(port);
      // Some start child processes, which have to end with them.
      child = spawn(command, args, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
      child.stdout?.on("data", (chunk) => {
        printed += chunk;
      });
      child.stderr?.on("data", (chunk) => {
        complaints += chunk;
      });
      // What a framework takes to start has no bound; the limit of the test file applies.
      for (;;) {
        assert.equal(child.exitCode, null, printed + complaints);
        const answers = await fetch(url).then(
          () => true,
          () => false,
        );
        if (answers) return;
        await wait(50);
      }
    },
    kill: async () => {
      if (child === null || child.pid === undefined || child.exitCode !== null || child.signalCode !== null)
        return;
      const ended = once(child, "close");
      process.kill(-child.pid, "SIGKILL");
      await ended;
    },
    /** The answer to a request as the service sent it. */
    send: async (headers: Received["headers"], body: string): Promise<number> => {
      const sent = Object.entries(headers).filter(
        ([name]) => /^(?:x-service|webhook)-/.test(name) || name === "content-type",
      );
      const answer = await fetch(url, {
        method: "POST",
        headers: Object.fromEntries(sent.map(([name, value]) => [name, String(value)])),
        body,
      });
      await answer.arrayBuffer();
      return answer.status;
    },
    handled: (): string[] => printed.split("\n").filter((line) => line.startsWith("handled ")),
    output: () => printed + complaints,
  };
}

/** Checks everything that a recipe's page promises, with real deliveries of the service. */
export async function checkRecipe(
  recipe: Recipe,
  { api, clock, runJob, authority }: Awaited<ReturnType<typeof startRecipeService>>,
  parent: string,
): Promise<void> {
  const folder = mkdtempSync(join(parent, "recipe-"));
  // Terminates https like a proxy and passes requests on.
  const front = await openReceiver(authority);
  const closing = [front.close, () => rmSync(folder, { recursive: true, force: true })];
  try {
    await recipe.prepare(folder);
    const partner = await createPartner(api);
    const endpoint = await createReceivingEndpoint(partner.api, front.url);
    const rotate = `/v1/webhooks/endpoints/${endpoint.id}/signing-secret/rotate`;
    const { signing_secret: newSecret } = expectData(await partner.api.post(rotate, { overlap_hours: 24 }));
    const receiver = runRecipe(recipe, folder, await freePort(), [newSecret, endpoint.secret]);
    closing.unshift(receiver.kill);
    await receiver.start();

    // A person is verified. The first answer gets lost, so the event is sent again.
    const answers: number[] = [];
    front.answerWith(async ({ headers, body }) => {
      answers.push(await receiver.send(headers, body));
      return { status: answers.length === 1 ? 503 : (answers.at(-1) ?? 500) };
    });
    const session = expectData(
      await partner.api.post("/v1/sessions", {
        client_reference_id: "order-7",
        share_fields: { age_over_18: { required: true, reason: "We sell to adults." } },
      }),
      201,
    );
    const chip = virtualPassport(testDocument("passport-valid", clock.now()));
    const outcome = await runDevice({ verificationUrl: session.verification_url, chip });
    assert.equal(outcome.kind, "succeeded", JSON.stringify(outcome));
    await until("the event arrives", async () => {
      await runJob("deliver-webhooks");
      return answers.length === 1;
    });
    assert.equal(answers[0], 204, receiver.output());
    const line = /^handled (evt_\w+) verification\.session\.succeeded order-7$/;
    await until("the event is handled", () => line.test(receiver.handled()[0] ?? ""));
    clock.advance(6_000);
    await until("the event arrives again", async () => {
      await runJob("deliver-webhooks");
      return answers.length === 2;
    });
    assert.deepEqual(answers, [204, 204], receiver.output());
    const [request] = front.received;
    assert.ok(request);

    // Each of the two signatures is enough; a changed body or no signature is refused.
    const { headers, body } = request;
    const signatures = String(headers["x-service-signature"]).split(" ");
    assert.equal(signatures.length, 2);
    for (const signature of signatures)
      assert.equal(await receiver.send({ ...headers, "x-service-signature": signature }, body), 204);
    const tampered = body.replace(/.$/, (last) => (last === "A" ? "B" : "A"));
    assert.equal(await receiver.send(headers, tampered), 400);
    const { "x-service-signature": _, ...unsigned } = headers;
    assert.equal(await receiver.send(unsigned, body), 400);

    // Killed and started again it still knows the event, and goes on with what it had not handled.
    await receiver.kill();
    const left = { id: "evt_zzz", type: "webhook.endpoint.test", metadata: { client_reference_id: "left" } };
    await recipe.enqueue(folder, left.id, JSON.stringify(left));
    await receiver.start();
    assert.equal(await receiver.send(headers, body), 204);
    await until("what was left is handled", () => receiver.handled().length >= 2);
    const [first = "", ...others] = receiver.handled();
    assert.match(first, line);
    assert.deepEqual(others, ["handled evt_zzz webhook.endpoint.test left"]);

    // Encrypted to a key that the receiver does not have.
    const { publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const { n, e } = publicKey.export({ format: "jwk" });
    const other = registration("key-2");
    const jwk = { ...other.jwk, n, e };
    expectData(await partner.api.post(`/v1/webhooks/endpoints/${endpoint.id}/keys`, { ...other, jwk }), 201);
    expectData(await partner.api.post(`/v1/webhooks/endpoints/${endpoint.id}/test`), 202);
    await until("the test event arrives", async () => {
      await runJob("deliver-webhooks");
      return answers.length === 3;
    });
    assert.equal(answers[2], 400, receiver.output());
    assert.equal(receiver.handled().length, 2);
  } finally {
    for (const close of closing) await close();
  }
}
