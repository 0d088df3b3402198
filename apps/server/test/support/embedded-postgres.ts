// Runs an embedded PostgreSQL from a separate process, so that a test can kill that process.
//   node embedded-postgres.ts hold <DATA_DIR>    starts, says "ready <url>", stops on SIGTERM
//   node embedded-postgres.ts write <DATA_DIR>   starts, writes numbers, says "wrote <n>" after each commit
import pg from "pg";
import type { startEmbeddedPostgres as Start } from "../../src/platform/installation/postgres/embedded-postgres.ts";
import { importBuilt } from "./built.ts";

const [mode, dataDir] = process.argv.slice(2);
if (dataDir === undefined) throw new Error("DATA_DIR is missing");

const startEmbeddedPostgres = await importBuilt<typeof Start>("embedded-postgres", "startEmbeddedPostgres");
const log = (line: string) => process.stderr.write(`${line}\n`);
const server = await startEmbeddedPostgres({ dataDir, env: process.env, log });
// Referenced on purpose: the launcher itself does not keep a process alive.
const alive = setInterval(() => {}, 60_000);
process.once("SIGTERM", async () => {
  await server.stop();
  clearInterval(alive);
  process.stdout.write("stopped\n");
});
// After the handler is set: the test may send the signal as soon as it reads this.
for (const note of server.notes) process.stdout.write(`note ${note}\n`);
process.stdout.write(`ready ${server.url}\n`);

if (mode === "write") {
  const client = new pg.Client({ connectionString: server.url });
  client.on("error", () => {});
  await client.connect();
  await client.query(
    "create table if not exists written (n bigint generated always as identity primary key, by int)",
  );
  for (;;) {
    const { rows } = await client.query("insert into written (by) values ($1) returning n", [process.pid]);
    process.stdout.write(`wrote ${rows[0].n}\n`);
  }
}
