import { setTimeout as wait } from "node:timers/promises";
import { ExplainedError } from "../../lib/explained-error.ts";
import { ensureAccess } from "./access.ts";
import type { Cluster } from "./cluster.ts";
import { connect, keepsProcessAlive, type NoConnection } from "./connection.ts";
import { systemIdentifier } from "./data-folder.ts";
import { endServer, orderly } from "./end-server.ts";
import { guardLeavesMs, guardServer } from "./guard-server.ts";
import type { LockFile } from "./lock-file.ts";
import { readOwner, writeOwner } from "./owner-file.ts";
import { isServerOf } from "./processes.ts";
import type { Hold } from "./start-server.ts";

/** Joins the server that the lock file names; takes it over if its owner is gone. */
export async function joinServer(cluster: Cluster, lock: LockFile): Promise<Hold | NoConnection> {
  if (lock.socketFolder === "" || lock.socketFolder !== cluster.socketFolder) {
    if (lock.socketFolder !== "" && isServerOf(cluster, lock.pid)) {
      throw new ExplainedError(
        `PostgreSQL (process id ${lock.pid}) already serves ${cluster.data} at another address (${lock.socketFolder}). ` +
          "Stop the process that started it first.",
      );
    }
    return "silent";
  }
  const client = await connect(cluster);
  if (typeof client === "string") return client;
  const served = await client.query("select system_identifier::text as id from pg_control_system()").then(
    (result) => String(result.rows[0]?.id),
    () => null,
  );
  if (served === null) {
    // The server ended meanwhile.
    await client.end().catch(() => {});
    return "silent";
  }
  if (served !== (await systemIdentifier(cluster.data))) {
    await client.end();
    throw new ExplainedError(
      `The PostgreSQL server at ${cluster.socketFolder} serves another data folder; stop it first.`,
    );
  }
  const adopted = cluster.adoptedPid === lock.pid || !(await readOwner(cluster)).lives;
  try {
    await ensureAccess(cluster, client, adopted ? "adopted" : "guest");
  } catch {
    await client.end().catch(() => {});
    return "silent";
  }
  // The open connection closes when the server ends.
  let settleGone = () => {};
  const gone = new Promise<void>((resolve) => {
    client.on("error", () => resolve());
    client.on("end", () => resolve());
    settleGone = resolve;
  });
  keepsProcessAlive(client, false);
  const over = new AbortController();
  void gone.then(() => over.abort());
  let guarding = Promise.resolve();
  if (adopted) {
    cluster.adoptedPid = lock.pid;
    await writeOwner(cluster);
    guarding = guardServer(cluster, lock.pid, () => !isServerOf(cluster, lock.pid), over.signal).catch(
      () => {},
    );
  }
  return {
    kind: "guest",
    gone,
    async release() {
      settleGone();
      over.abort();
      // Otherwise an idle process would end while it waits for the connection to close.
      keepsProcessAlive(client, true);
      await client.end().catch(() => {});
      await Promise.race([guarding, wait(guardLeavesMs, undefined, { ref: false })]);
      // Another hold of this process may be the owner, so the process id alone does not prove that this hold
      // adopted the server.
      const owner = await readOwner(cluster);
      const mine = adopted && owner.pid === process.pid;
      if (mine || !owner.lives) {
        await endServer(cluster, lock.pid, () => !isServerOf(cluster, lock.pid), orderly);
      }
    },
  };
}
