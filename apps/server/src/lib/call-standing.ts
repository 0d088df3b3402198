import { type Static, Type } from "typebox";
import { Check } from "typebox/value";
import type { CallHandler } from "./call-server.ts";

/** The call by which a process tells how it stands. */
export const standingCall = "standing";

/** What a process of the role `chip` or `face` tells about itself. Its clock is nobody's, so it tells an age and no time. */
const Standing = Type.Object({
  version: Type.String({ maxLength: 100 }),
  ageSeconds: Type.Number({ minimum: 0 }),
  /** How much it works on at the same time, how much of that it does now, and how much waits. */
  places: Type.Number({ minimum: 0 }),
  working: Type.Number({ minimum: 0 }),
  waiting: Type.Number({ minimum: 0 }),
  isBusy: Type.Boolean(),
  isLeaving: Type.Boolean(),
});
export type Standing = Static<typeof Standing>;

/** Null where another version tells something else. */
export function readStanding(answer: unknown): Standing | null {
  return Check(Standing, answer) ? answer : null;
}

export function standingHandler(read: () => Standing): CallHandler {
  return { always: true, answer: async () => read() };
}

export const peerStates = ["free", "busy", "leaving", "unreachable"] as const;

/** One process of another role, as this one sees it. */
export type SeenPeer = {
  role: string;
  /** As the configuration names it. */
  host: string;
  /** Null where nothing is known under the name of the host. */
  address: string | null;
  state: (typeof peerStates)[number];
  /** Null where it cannot be reached, or is of a version that does not tell. */
  standing: Standing | null;
};

export function stateOf({ isLeaving, isBusy }: Standing): SeenPeer["state"] {
  return isLeaving ? "leaving" : isBusy ? "busy" : "free";
}
