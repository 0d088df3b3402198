import { greyOf } from "@assay/mrz-reader/grey";
import { MrzReader } from "@assay/mrz-reader/mrz-reader";
import { readNetworks } from "@assay/mrz-reader/network-plan";
import type { ZoneAnswer, ZoneQuestion } from "./zone-messages.ts";

// Everything runs on this device and is forgotten with the next picture. The service sends this script with a
// policy that forbids all connections (apps/server/src/platform/http/page-headers.ts), so pictures of
// documents cannot leave.

const answer = (message: ZoneAnswer) => self.postMessage(message);
let reader: MrzReader | null = null;

function respond(question: ZoneQuestion): ZoneAnswer {
  if (question.kind === "load") {
    reader = new MrzReader(readNetworks(question.plan, new Uint8Array(question.weights)));
    return { kind: "ready" };
  }
  if (reader === null) return { kind: "failed" };
  const { picture, atMs } = question;
  const frame = greyOf(picture.data, picture.width, picture.height);
  return { kind: "sight", sight: reader.look(frame, new Date(atMs)) };
}

self.onmessage = (event: MessageEvent<ZoneQuestion>) => {
  try {
    answer(respond(event.data));
  } catch {
    answer({ kind: "failed" });
  }
};
