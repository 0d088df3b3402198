import { connect } from "node:tls";
import { callKey, callTls } from "./call-keys.ts";
import type { KeyRing } from "./key-ring.ts";

/** Longer than a machine under load takes for a handshake. */
const patienceMs = 5_000;

/** Whether a process of another role would take calls of ours: somebody listens there, and both ends prove a key of the ring. */
export async function answersCalls(ring: KeyRing, address: string, port: number): Promise<boolean> {
  for (const id of new Set([ring.currentId, ...ring.keys.map((key) => key.id)])) {
    const psk = callKey(ring, id);
    if (psk !== null && (await shakesHands(address, port, { psk, identity: id }))) return true;
  }
  return false;
}

function shakesHands(host: string, port: number, key: { psk: Buffer; identity: string }): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({
      ...callTls,
      host,
      port,
      pskCallback: () => key,
      checkServerIdentity: () => undefined,
    });
    const end = (answers: boolean) => {
      socket.destroy();
      resolve(answers);
    };
    socket.setTimeout(patienceMs, () => end(false));
    socket.once("secureConnect", () => end(true));
    socket.once("error", () => end(false));
    socket.once("close", () => end(false));
  });
}
