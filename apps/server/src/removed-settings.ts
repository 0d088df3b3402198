/** Settings of earlier releases. If one is still set, the service starts and logs what replaces it. */
export const removedSettings: Readonly<Record<string, string>> = {
  CALL_ADDRESS:
    "processes do not call each other, and a person whose device reaches another process reads the chip again.",
  CALL_PORT: "processes do not call each other.",
  CHIP_HOSTS: "run more processes with `assay start --role api`, which examine chips themselves.",
  FACE_HOSTS: "run more processes with `assay start --role api`, which examine faces themselves.",
  DATABASE_PARTITIONS:
    "retention deletes rows in batches, and the guide on partitioning shows how to drop old rows with PostgreSQL partitions.",
  DATABASE_READ_URL: "the database of DATABASE_URL answers every read.",
  ATTEMPT_MEMORY_ORGANIZATION_PERCENT: "one organization may take half of the memory.",
  ATTEMPT_MEMORY_SANDBOX_PERCENT: "the sandbox may take a quarter of ATTEMPT_MEMORY_MB.",
  DATABASE_CONNECT_SECONDS: "a request waits 10 seconds for a connection.",
  DATABASE_IDLE_TRANSACTION_SECONDS: "the database ends an idle transaction after 30 seconds.",
  DATABASE_JOB_STATEMENT_SECONDS: "a statement of a background job may take 300 seconds.",
  DATABASE_LOCK_SECONDS: "a request waits 10 seconds for a lock.",
  FACE_ATTACK_SCORE: "a score above one half is an attack, so scale the score in the detector.",
  FACE_QUEUE_LIMIT: "up to 8 tries wait for each of FACE_WORKERS.",
  FACE_REVIEW_DISTANCE: "a failed match up to 9 % beyond FACE_MATCH_DISTANCE is named as close.",
  INVITATIONS_PER_DAY: "an organization, and an account, may send 200 invitations a day.",
  INVITATIONS_PER_RECIPIENT: "an address gets 10 invitations a day.",
  MAIL_FILE_DAYS: "the service removes mail files after 7 days.",
  ORGANIZATION_MAX_API_KEYS: "an organization may have 500 API keys in each environment.",
  ORGANIZATION_TEST_EVENTS_PER_MINUTE: "an organization may send 60 test events a minute.",
  OTEL_METRICS_EXPORTER: "the service sends no metrics to a collector; scrape /metrics with Prometheus.",
  OTEL_METRIC_EXPORT_INTERVAL:
    "the service sends no metrics to a collector; scrape /metrics with Prometheus.",
  OTEL_SERVICE_NAME: "name the service in OTEL_RESOURCE_ATTRIBUTES.",
  OTEL_TRACES_EXPORTER: "the service sends traces if OTEL_EXPORTER_OTLP_ENDPOINT is set.",
  REQUEST_MAX_WAIT_MS: "a request waits for a slot for at most 10 seconds.",
  SHUTDOWN_GRACE_SECONDS: "requests in flight have 15 seconds to finish.",
  WEBHOOK_MAX_IN_FLIGHT: "a process makes up to 1,024 webhook attempts at a time.",
};

/** One sentence for each removed setting that is still set. */
export function removedSettingNotices(
  env: Readonly<Record<string, string | undefined>>,
  removed = removedSettings,
): string[] {
  return Object.entries(removed)
    .filter(([name]) => (env[name] ?? "").trim() !== "")
    .map(([name, replacement]) => `${name} has no effect any more: ${replacement}`);
}
