import { isIP } from "node:net";
import type { AttemptId } from "@assay/contract/ids";
import type { ChipPool } from "./attempts/chip-examiner.ts";
import { chipFetcher, chipKeeper, type FetchChip, type HeldChip } from "./attempts/held-chip.ts";
import { callChips } from "./attempts/remote-chips.ts";
import type { Core } from "./core.ts";
import type { FaceMeasurer } from "./face/face-judge.ts";
import { callFaces } from "./face/remote-faces.ts";
import { CallClient, type CountCalls, callCounter } from "./lib/call-client.ts";
import { CallServer } from "./lib/call-server.ts";
import { peerStates, type SeenPeer } from "./lib/call-standing.ts";
import { lookUpLocally } from "./lib/dns.ts";
import type { Metrics } from "./lib/metrics.ts";

/** Who does the work on chips and faces where the configuration names other processes for it; otherwise this process does. */
export function callProcesses(core: Pick<Core, "config" | "ring" | "log" | "metrics">): {
  devices: {
    chips: ChipPool | null;
    /** Null where others do not reach this process. */
    handover: ChipHandover | null;
  };
  faces: { measurer?: FaceMeasurer };
  /** How those processes stand, as seen from here. */
  survey: () => Promise<readonly SeenPeer[]>;
} {
  const { config, ring, log, metrics } = core;
  const count = callCounter(metrics);
  const clientOf = (role: string, hosts: readonly string[]) =>
    hosts.length === 0
      ? null
      : new CallClient({ role, hosts, ring, log, count, resolveAddresses: lookUpLocally });
  const chips = clientOf("chip", config.chipHosts);
  const faces = clientOf("face", config.faceHosts);
  const show = showPeers(metrics);
  return {
    devices: {
      chips: chips === null ? null : callChips(chips),
      handover: config.callAddress === "" ? null : openHandover(core, count),
    },
    faces: faces === null ? {} : { measurer: callFaces(faces) },
    survey: async () => {
      const seen = await Promise.all([chips?.survey() ?? [], faces?.survey() ?? []]);
      for (const [i, role] of (["chip", "face"] as const).entries()) show(role, seen[i] ?? []);
      return seen.flat();
    },
  };
}

/** What api processes do for each other. */
type ChipHandover = {
  /** Where they reach it; null until it listens. */
  ownAddress: () => string | null;
  fetch: FetchChip;
  listen(handOver: (attemptId: AttemptId) => Promise<HeldChip | null>): Promise<void>;
  close(): Promise<void>;
};

/** Nothing but an id is asked with, and what is answered is bounded by the memory for attempts. */
const mostAskedBytes = { call: 1024, all: 64 * 1024 };

function openHandover(core: Pick<Core, "config" | "ring" | "metrics">, count: CountCalls): ChipHandover {
  const { config, ring, metrics } = core;
  const { callAddress: name, callPort: port } = config;
  // HOST is often an address that only a proxy on the same machine reaches. What a name leads to may be in front of this machine.
  const host = isIP(name) ? name : config.host;
  let server: CallServer | null = null;
  let ownAddress: string | null = null;
  return {
    ownAddress: () => ownAddress,
    fetch: chipFetcher({ ring, count }),
    listen: async (handOver) => {
      const handlers = chipKeeper(handOver);
      server = new CallServer({ ring, metrics, host, port, handlers, mostBytes: mostAskedBytes });
      const listening = await server.listen();
      ownAddress = name.includes(":") ? `[${name}]:${listening}` : `${name}:${listening}`;
    },
    close: async () => server?.close(),
  };
}

/** Counts alone: names of machines are the operator's, and no labels. */
function showPeers(metrics: Metrics): (role: string, seen: readonly SeenPeer[]) => void {
  const processes = metrics.gauge(
    "assay_helper_processes",
    "Processes of other roles that this one calls, by role and by how they stand.",
  );
  const places = metrics.gauge("assay_helper_places", "What those can do at the same time, by role.");
  const waiting = metrics.gauge("assay_helper_waiting", "What waits at them, by role.");
  return (role, seen) => {
    if (seen.length === 0) return;
    for (const state of peerStates)
      processes(seen.filter((peer) => peer.state === state).length, { role, state });
    const sum = (of: "places" | "waiting") =>
      seen.reduce((all, { standing }) => all + (standing?.[of] ?? 0), 0);
    places(sum("places"), { role });
    waiting(sum("waiting"), { role });
  };
}
