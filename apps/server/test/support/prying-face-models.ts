/**
 * Models that try to break out of their worker. The width of a picture selects the way; a face is found if it
 * was open. The address of this module contains the targets.
 */
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import type { FaceModels } from "../../src/verification/face/face-models.ts";

const at = new URL(import.meta.url).searchParams;

const ways = {
  fine: async () => true,
  tcp: () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(Number(at.get("port")), "127.0.0.1");
      socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    }),
  database: () => asksNoPassword("assay"),
  serviceDatabase: () => asksNoPassword("assay_service"),
  passwords: async () => readFileSync(at.get("passwords") ?? "").length > 0,
  sqlite: async () => (await import("node:sqlite")) !== undefined,
} satisfies Record<string, () => Promise<boolean>>;

export type Way = keyof typeof ways;
/** A picture has 16 pixels at least. */
export const widthOf = (way: Way): number => 16 + 8 * Object.keys(ways).indexOf(way);

/** Whether the server at the socket answers "authentication ok" to a role that only says its name. */
function asksNoPassword(role: string): Promise<boolean> {
  const text = Buffer.from(`\0\u0003\0\0user\0${role}\0database\0assay\0\0`);
  const length = Buffer.alloc(4);
  length.writeInt32BE(text.length + 4);
  return new Promise((resolve) => {
    const socket = connect(at.get("socket") ?? "");
    socket.once("connect", () => socket.write(Buffer.concat([length, text])));
    // "R" is a message about authentication, and 0 says that it is done.
    socket.once("data", (answer) =>
      resolve(answer.toString("latin1", 0, 1) === "R" && answer.readInt32BE(5) === 0),
    );
    socket.once("error", () => resolve(false)).once("close", () => resolve(false));
  });
}

export async function loadFaceModels(): Promise<FaceModels> {
  return {
    async detect({ width }) {
      const way = Object.values(ways)[(width - 16) / 8];
      const open = await way?.().catch(() => false);
      return open === true ? [{ x: 0, y: 0, width: 8, height: 8 }] : [];
    },
    measure: () => null,
    embed: async () => [1, 0, 0],
  };
}
