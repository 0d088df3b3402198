import { availableParallelism } from "node:os";
import { openChipThreads } from "./attempts/chip-examiner.ts";
import { chipHandlers } from "./attempts/remote-chips.ts";
import type { Config } from "./config.ts";
import { faceJudgeSettings } from "./face/face-settings.ts";
import { FaceWorkerPool } from "./face/face-worker-pool.ts";
import { faceHandlers } from "./face/remote-faces.ts";
import { listenForMetrics, listenForProbes } from "./http/health.ts";
import { type CallHandler, CallServer } from "./lib/call-server.ts";
import { standingCall, standingHandler } from "./lib/call-standing.ts";
import type { KeyRing } from "./lib/key-ring.ts";
import type { Log } from "./lib/log.ts";
import { Metrics } from "./lib/metrics.ts";
import { buildVersion, showBuild } from "./lib/process-metrics.ts";
import { openWatch } from "./watch-process.ts";

/** `chip` checks documents, `face` measures faces, for processes that answer people. They have the key ring and no database. */
export type HelperRole = "chip" | "face";

export type HelperProcess = {
  /** Where probes are answered. */
  url: string;
  callPort: number;
  metrics: Metrics;
  /** Sends callers elsewhere, finishes what it has taken, ends. */
  close(): Promise<void>;
};

const mebibyte = 1024 * 1024;

type Help = {
  handlers: Readonly<Record<string, CallHandler>>;
  mostBytes: { call: number; all: number };
  isBusy: () => boolean;
  /** What it does at the same time, and what of that it does now and what waits. */
  places: number;
  work: () => { working: number; waiting: number };
  close(): Promise<void>;
};

export async function startHelper(options: {
  config: Config;
  ring: KeyRing;
  log: Log;
  role: HelperRole;
}): Promise<HelperProcess> {
  const { config, ring, log, role } = options;
  const metrics = new Metrics();
  const { processWatch, telemetry } = openWatch(config, role, log, metrics);
  showBuild(metrics);
  const help = role === "chip" ? helpWithChips(metrics) : helpWithFaces(config, log, metrics);
  const { mostBytes } = help;
  const { host } = config;
  const [version, startedAt] = [buildVersion(), performance.now()];
  const handlers = {
    ...help.handlers,
    [standingCall]: standingHandler(() => ({
      version,
      ageSeconds: (performance.now() - startedAt) / 1000,
      places: help.places,
      ...help.work(),
      isBusy: help.isBusy(),
      isLeaving: calls.leaving,
    })),
  };
  const calls: CallServer = new CallServer({
    ring,
    metrics,
    host,
    port: config.callPort,
    handlers,
    mostBytes,
  });
  const callPort = await calls.listen();
  const render = async () => `${metrics.render()}${await processWatch.render()}`;
  const probes = await listenForProbes(
    { problem: async () => (calls.leaving ? "shutting down" : null), isOverloaded: help.isBusy },
    { render, token: config.metricsToken },
    { host, port: config.port },
  );
  const metricsServer =
    config.metricsPort > 0 ? await listenForMetrics(render, host, config.metricsPort) : null;
  telemetry?.exporter.start();
  const address = probes.address();
  const port = typeof address === "object" && address !== null ? address.port : config.port;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${port}`,
    callPort,
    metrics,
    close: async () => {
      await calls.leave();
      await help.close();
      await calls.close();
      for (const server of [probes, metricsServer]) {
        server?.close();
        server?.closeAllConnections();
      }
      await telemetry?.exporter.close();
    },
  };
}

function helpWithChips(metrics: Metrics): Help {
  // Nothing else is done in this process.
  const places = availableParallelism();
  const threads = openChipThreads({ threads: places });
  metrics.gaugeOf(
    "assay_verify_checks_waiting",
    "Checks of chips that wait for a thread.",
    () => threads.waiting,
  );
  return {
    handlers: chipHandlers(threads),
    // A chip has at most 1.1 MB. The trusted lists of all states together are some megabytes.
    mostBytes: { call: 64 * mebibyte, all: 192 * mebibyte },
    isBusy: () => threads.waiting > 0,
    places,
    work: () => ({ working: threads.busy, waiting: threads.waiting }),
    close: () => threads.close(),
  };
}

function helpWithFaces(config: Config, log: Log, metrics: Metrics): Help {
  const { pool: settings = {} } = faceJudgeSettings(config);
  const pool = new FaceWorkerPool({ log, ...settings });
  metrics.gaugeOf("assay_face_queue", "Tries that wait for a face worker.", () => pool.waiting);
  // The frames of a try are 12 MB at most, the portrait is a file of the chip.
  const call = 16 * mebibyte;
  return {
    handlers: faceHandlers(pool),
    mostBytes: { call, all: (config.faceQueueLimit + 2 * config.faceWorkers + 1) * call },
    isBusy: () => !pool.hasPlace({ sandbox: false }),
    places: config.faceWorkers,
    work: () => ({ working: pool.working, waiting: pool.waiting }),
    close: () => pool.close(),
  };
}
