import type { ChipPool } from "./attempts/chip-examiner.ts";
import { callChips } from "./attempts/remote-chips.ts";
import type { Core } from "./core.ts";
import type { FaceMeasurer } from "./face/face-judge.ts";
import { callFaces } from "./face/remote-faces.ts";
import { CallClient } from "./lib/call-client.ts";
import { lookUpLocally } from "./lib/dns.ts";

/** Who does the work on chips and faces where the configuration names other processes for it; otherwise this process does. */
export function callProcesses(core: Pick<Core, "config" | "ring" | "log" | "metrics">): {
  chips: ChipPool | null;
  faces: { measurer?: FaceMeasurer };
} {
  const { config, ring, log, metrics } = core;
  const clientOf = (role: string, hosts: readonly string[]) =>
    new CallClient({ role, hosts, ring, log, metrics, resolveAddresses: lookUpLocally });
  return {
    chips: config.chipHosts.length === 0 ? null : callChips(clientOf("chip", config.chipHosts)),
    faces: config.faceHosts.length === 0 ? {} : { measurer: callFaces(clientOf("face", config.faceHosts)) },
  };
}
