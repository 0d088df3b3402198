import { greyOf } from "@assay/mrz-reader/grey";
import { MrzReader } from "@assay/mrz-reader/mrz-reader";
import { readNetworks } from "@assay/mrz-reader/network-plan";
import type { ZoneAnswer, ZoneQuestion } from "./zone-messages.ts";

// Everything runs on this device and is forgotten with the next picture. The service sends this script with a policy that lets it connect to
// nothing at all (apps/server/src/http/page-headers.ts), so pictures of documents have no way out of here.

const answer = (message: ZoneAnswer) => self.postMessage(message);
let reader: MrzReader | null = null;

function respond(question: ZoneQuestion): ZoneAnswer {
  if (question.type === "load") {
    reader = new MrzReader(readNetworks(question.plan, new Uint8Array(question.weights)));
    return { type: "ready" };
  }
  if (reader === null) return { type: "failed" };
  const { picture, atMs, tip } = question;
  const frame = greyOf(picture.data, picture.width, picture.height);
  return { type: "sight", sight: reader.look(frame, new Date(atMs), tip) };
}

self.onmessage = (event: MessageEvent<ZoneQuestion>) => {
  try {
    answer(respond(event.data));
  } catch {
    answer({ type: "failed" });
  }
};
