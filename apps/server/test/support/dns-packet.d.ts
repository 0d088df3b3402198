/** The part of the package that tests use, because it has no types. */
declare module "dns-packet" {
  export type Question = { name: string; type: string; class?: string };
  export type Answer = { name: string; type: string; class?: string; ttl?: number; data: unknown };
  export type Packet = {
    id?: number;
    type?: "query" | "response";
    flags?: number;
    rcode?: string;
    questions?: Question[];
    answers?: Answer[];
  };
  export function encode(packet: Packet): Buffer;
  export function decode(bytes: Buffer): Packet & { questions: Question[]; answers: Answer[] };
  export const TRUNCATED_RESPONSE: number;
  export const RECURSION_DESIRED: number;
}
