import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import { systemClock } from "../../src/platform/kernel/clock.ts";
import { createPartner, expectData } from "../support/api.ts";
import { checkout, newStateFolder, startListen, startLocalReceiver } from "../support/listen-command.ts";
import { cleanEnvironment } from "../support/process.ts";
import { startRoundRobin } from "../support/round-robin.ts";
import { startTestService } from "../support/service.ts";
import { testRing } from "../support/test-ring.ts";
import { until } from "../support/until.ts";

const { api, databaseUrl } = await startTestService({ role: "api", clock: systemClock });
const dataDir = mkdtempSync(join(tmpdir(), "assay-listener-crash-"));
after(() => rmSync(dataDir, { recursive: true, force: true }));

/** A process that serves the listener. Its leases end two seconds after it is killed. */
async function startServing(): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, "../support/delivery-process.ts")], {
    env: cleanEnvironment({
      ROLE: "api",
      PORT: "0",
      DATA_DIR: dataDir,
      DATABASE_URL: databaseUrl,
      DATABASE_POOL_SIZE: "4",
      SECRET_KEYS: testRing,
    }),
    stdio: ["ignore", "pipe", "inherit"],
  });
  after(() => child.kill("SIGKILL"));
  const [line] = await once(child.stdout ?? child, "data");
  return { child, url: String(line).trim().slice("ready ".length) };
}

test("a process of the service that is killed with a listener's stream loses nothing, and the receiver gets everything once", async () => {
  const partner = await createPartner(api);
  const { child, url } = await startServing();
  // A stable address: another program may take the port of a dead process before the next one listens.
  const door = await startRoundRobin();
  after(() => door.close());
  door.targets.push(url);
  const receiver = await startLocalReceiver();
  const answered = Promise.withResolvers<void>();
  receiver.holdUntil(answered.promise);
  const listening = startListen(
    checkout,
    ["--url", door.url, "--key", partner.key.secret, "--forward-to", receiver.url],
    newStateFolder(),
  );
  const { endpoint_id: id } = await listening.next("ready");
  const sendTest = async () =>
    expectData(await partner.api.post(`/v1/webhooks/endpoints/${id}/test`), 202).event.id as string;
  const sent = [await sendTest()];
  await until("the first has arrived", () => receiver.received.length > 0);
  child.kill("SIGKILL");
  await once(child, "close");
  // The receiver answers while no process is connected. Another process publishes events meanwhile.
  answered.resolve();
  sent.push(await sendTest(), await sendTest());
  await listening.untilTold(/Connection lost .*deliveries wait/);
  door.targets[0] = (await startServing()).url;
  // The first answer may be reported before the others are counted.
  await listening.untilTold(/Connected again\. [23] deliveries have waited/);
  const succeeded = new Set<string>();
  while (succeeded.size < sent.length) {
    const line = await listening.next(/^ready|delivery$/);
    if (line.status === "succeeded") succeeded.add(line.event_id);
  }
  assert.deepEqual([...succeeded].sort(), [...sent].sort());
  assert.deepEqual(
    receiver.received.map(({ headers }) => headers["webhook-id"]).sort(),
    [...sent].sort(),
    "the receiver got each of them once",
  );
  assert.equal(await listening.kill("SIGINT"), 0);
  assert.deepEqual(expectData(await partner.api.get("/v1/webhooks/endpoints")), []);
});
