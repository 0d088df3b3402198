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
  OTEL_METRICS_EXPORTER: "metrics are read at /metrics by Prometheus, and no longer sent to a collector.",
  OTEL_METRIC_EXPORT_INTERVAL:
    "metrics are read at /metrics by Prometheus, and no longer sent to a collector.",
  OTEL_SERVICE_NAME: "name the service in OTEL_RESOURCE_ATTRIBUTES.",
  OTEL_TRACES_EXPORTER: "traces are sent while OTEL_EXPORTER_OTLP_ENDPOINT is set.",
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
