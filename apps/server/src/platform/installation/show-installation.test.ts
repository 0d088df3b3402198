import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import { Metrics } from "../lib/metrics.ts";
import { noteBackup } from "./last-backup.ts";
import { showInstallation } from "./show-installation.ts";

const dataDir = mkdtempSync(join(tmpdir(), "assay-shown-"));
after(() => rmSync(dataDir, { recursive: true, force: true }));
const now = new Date("2026-03-02T00:00:00Z");

function shown(config: { dataDir: string; databaseUrl: string }) {
  const metrics = new Metrics();
  showInstallation(metrics, config, { now: () => now });
  const text = metrics.render();
  return (name: string): number | null => {
    const value = new RegExp(`^${name} (.+)$`, "m").exec(text)?.[1];
    return value === undefined ? null : Number(value);
  };
}

test("the age of the last backup is that of the built-in database, -1 before the first, and not known of another", () => {
  const embedded = { dataDir, databaseUrl: "" };
  assert.equal(shown(embedded)("assay_backup_age_seconds"), -1);
  noteBackup(dataDir, new Date("2026-03-01T00:00:00Z"));
  assert.equal(shown(embedded)("assay_backup_age_seconds"), 86_400);
  assert.equal(shown({ dataDir, databaseUrl: "postgres://x" })("assay_backup_age_seconds"), null);
});

test("the room on the disk of the data folder is shown, and a folder that is gone leaves the other series", () => {
  const of = shown({ dataDir, databaseUrl: "" });
  const [free, size] = [of("assay_data_dir_free_bytes"), of("assay_data_dir_size_bytes")];
  assert.ok(free !== null && size !== null && free > 0 && free <= size, `${free} of ${size}`);
  writeFileSync(join(dataDir, "no-folder"), "");
  const gone = shown({ dataDir: join(dataDir, "no-folder", "x"), databaseUrl: "" });
  assert.equal(gone("assay_data_dir_free_bytes"), null);
  assert.equal(gone("assay_backup_age_seconds"), null);
});
