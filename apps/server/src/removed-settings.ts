/**
 * Settings of earlier releases. An installation that still has one starts all the same, and its log says in one sentence what
 * replaces the setting.
 */
export const removedSettings: Readonly<Record<string, string>> = {
  CALL_ADDRESS:
    "processes do not call each other; a person whose device comes to another process reads the chip again.",
  CALL_PORT: "processes do not call each other.",
  CHIP_HOSTS: "run more processes with `assay start --role api`, which examine chips themselves.",
  FACE_HOSTS: "run more processes with `assay start --role api`, which examine faces themselves.",
  DATABASE_PARTITIONS:
    "retention deletes rows in batches, and the guide on partitioning says how to drop old rows with PostgreSQL's own partitions.",
  DATABASE_READ_URL: "the database of DATABASE_URL answers every read.",
  ATTEMPT_MEMORY_ORGANIZATION_PERCENT: "one organization may take half of what there is.",
  ATTEMPT_MEMORY_SANDBOX_PERCENT: "the sandbox may take a quarter of ATTEMPT_MEMORY_MB.",
  DATABASE_CONNECT_SECONDS: "a request waits 10 seconds for a connection.",
  DATABASE_IDLE_TRANSACTION_SECONDS: "a transaction that sends nothing is ended after 30 seconds.",
  DATABASE_JOB_STATEMENT_SECONDS: "a statement of a background job may take 300 seconds.",
  DATABASE_LOCK_SECONDS: "a request waits 10 seconds for a lock.",
  FACE_ATTACK_SCORE: "a score above one half is an attack, so have the detector scale its score.",
  FACE_QUEUE_LIMIT: "8 tries may wait for each of FACE_WORKERS.",
  INVITATIONS_PER_RECIPIENT: "an address gets 10 invitations a day.",
  MAIL_FILE_DAYS: "mails that are files are removed after 7 days.",
  OTEL_METRICS_EXPORTER: "metrics are read at /metrics by Prometheus, and no longer sent to a collector.",
  OTEL_METRIC_EXPORT_INTERVAL:
    "metrics are read at /metrics by Prometheus, and no longer sent to a collector.",
  OTEL_SERVICE_NAME: "name the service in OTEL_RESOURCE_ATTRIBUTES.",
  OTEL_TRACES_EXPORTER: "traces are sent while OTEL_EXPORTER_OTLP_ENDPOINT is set.",
  REQUEST_MAX_WAIT_MS: "a request waits for a slot for at most 10 seconds.",
};

/** One sentence for each removed setting that the environment still has. */
export function removedSettingNotices(
  env: Readonly<Record<string, string | undefined>>,
  removed = removedSettings,
): string[] {
  return Object.entries(removed)
    .filter(([name]) => (env[name] ?? "").trim() !== "")
    .map(([name, replacement]) => `${name} has no effect any more: ${replacement}`);
}
