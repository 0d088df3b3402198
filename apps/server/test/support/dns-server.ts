import { createSocket } from "node:dgram";
import { createServer, type Socket } from "node:net";
import { after } from "node:test";
import { type Answer, decode, encode, type Packet, type Question, TRUNCATED_RESPONSE } from "dns-packet";

type Zone = Map<string, { type: string; data: unknown }[]>;

/**
 * What the server does instead of answering from its records. `echo`: returns the query. `cut`: the last
 * record is cut. `truncated`: says it is incomplete. `foreign`: records of another name.
 */
export type Behaviour =
  | "answer"
  | "silent"
  | "servfail"
  | "refused"
  | "notauth"
  | "garbage"
  | "echo"
  | "cut"
  | "truncated"
  | "foreign";

const errorCodes = { servfail: 2, refused: 5, notauth: 9 } as const;

/**
 * A real name server on loopback, UDP and TCP on one port, with records set by the test. Truncates UDP
 * answers over 512 bytes. Another implementation than the one under test makes the messages.
 */
export class DnsServer {
  readonly zone: Zone = new Map();
  readonly queries: { name: string; type: string; over: "udp" | "tcp" }[] = [];
  behaviour: Behaviour = "answer";
  /** How long an answer over UDP is held back. */
  delayMs = 0;
  /** Truncates every answer over UDP, so that `behaviour` shows over TCP only. */
  answersOverTcp = false;
  /** Fills the 512 bytes of a truncated answer up to the middle of a record. */
  cutsInsideRecords = false;
  /** Leaves out the target of an alias, so that the client must ask for it. */
  answersOnlyAliases = false;
  /** Sends these before the right answer over UDP. */
  forgeries: (query: Packet & { questions: Question[] }) => Buffer[] = () => [];
  #address = "";
  #close: () => Promise<void> = async () => {};

  /** `ip:port`, as DNS_RESOLVERS takes it. */
  get address(): string {
    return this.#address;
  }

  set(name: string, type: "TXT" | "A" | "AAAA" | "CNAME", ...data: unknown[]): void {
    const others = (this.zone.get(name) ?? []).filter((record) => record.type !== type);
    this.zone.set(name, [...others, ...data.map((value) => ({ type, data: value }))]);
  }

  clear(name: string): void {
    this.zone.delete(name);
  }

  async start(): Promise<this> {
    const udp = createSocket("udp4");
    const held = new Set<NodeJS.Timeout>();
    const sockets = new Set<Socket>();
    const tcp = createServer((socket) => {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => sockets.delete(socket));
      let received = Buffer.alloc(0);
      socket.on("data", (chunk) => {
        received = Buffer.concat([received, chunk]);
        if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return;
        const answer = this.#respond(received.subarray(2, 2 + received.readUInt16BE(0)), "tcp");
        if (answer === null) return;
        const length = Buffer.alloc(2);
        length.writeUInt16BE(answer.length);
        // In two pieces: a reader must not take a chunk for a message.
        socket.write(Buffer.concat([length, answer.subarray(0, 5)]));
        setImmediate(() => socket.write(answer.subarray(5)));
      });
    });
    await new Promise<void>((resolve) => tcp.listen(0, "127.0.0.1", resolve));
    const { port } = tcp.address() as { port: number };
    await new Promise<void>((resolve, reject) => {
      udp.once("error", reject);
      udp.bind(port, "127.0.0.1", resolve);
    });
    udp.on("message", (message, from) => {
      if (this.behaviour === "answer")
        for (const forged of this.forgeries(decode(message))) udp.send(forged, from.port, from.address);
      const answer = this.#respond(message, "udp");
      const send = () => answer !== null && udp.send(answer, from.port, from.address, () => {});
      if (this.delayMs === 0) send();
      else held.add(setTimeout(send, this.delayMs));
    });
    this.#address = `127.0.0.1:${port}`;
    this.#close = async () => {
      for (const timer of held) clearTimeout(timer);
      for (const socket of sockets) socket.destroy();
      await Promise.all([
        new Promise<void>((resolve) => tcp.close(() => resolve())),
        new Promise<void>((resolve) => udp.close(() => resolve())),
      ]);
    };
    return this;
  }

  close(): Promise<void> {
    return this.#close();
  }

  #respond(message: Buffer, over: "udp" | "tcp"): Buffer | null {
    const query = decode(message);
    const [question] = query.questions;
    if (question === undefined) return null;
    this.queries.push({ name: question.name, type: question.type, over });
    const reply: Packet = { id: query.id ?? 0, type: "response", questions: [question], answers: [] };
    const truncated = encode({ ...reply, flags: 0x0180 | TRUNCATED_RESPONSE });
    if (over === "udp" && this.answersOverTcp) return truncated;
    switch (this.behaviour) {
      case "silent":
        return null;
      case "garbage":
        return Buffer.concat([message.subarray(0, 2), Buffer.alloc(9, 0xff)]);
      case "servfail":
      case "refused":
      case "notauth":
        return encode({ ...reply, flags: errorCodes[this.behaviour] });
      case "echo":
        return Buffer.from(message);
      case "truncated":
        return truncated;
    }
    const { answers, exists } = this.#find(question);
    const flags = 0x0180 | (exists ? 0 : 3);
    if (this.behaviour === "foreign")
      return encode({ ...reply, flags, answers: answers.map((one) => ({ ...one, name: "other.example" })) });
    const whole = encode({ ...reply, flags, answers });
    if (this.behaviour === "cut") return whole.subarray(0, -3);
    if (over === "udp" && whole.length > 512) {
      const flagged = { ...reply, flags: flags | TRUNCATED_RESPONSE };
      return this.cutsInsideRecords ? encode({ ...flagged, answers }).subarray(0, 512) : encode(flagged);
    }
    return whole;
  }

  #find(question: Question): { answers: Answer[]; exists: boolean } {
    const answers: Answer[] = [];
    let name = question.name.toLowerCase();
    for (let hop = 0; hop < 20; hop++) {
      const records = this.zone.get(name);
      if (records === undefined) return { answers, exists: this.answersOnlyAliases && answers.length > 0 };
      const matching = records.filter((record) => record.type === question.type);
      if (matching.length > 0) {
        answers.push(...matching.map((record) => ({ name, ttl: 0, ...record })));
        return { answers, exists: true };
      }
      const alias = records.find((record) => record.type === "CNAME");
      if (alias === undefined) return { answers, exists: true };
      answers.push({ name, ttl: 0, ...alias });
      if (this.answersOnlyAliases) return { answers, exists: true };
      name = String(alias.data).toLowerCase();
    }
    return { answers, exists: true };
  }
}

/** A name server that is closed after the file's tests. */
export async function startDnsServer(): Promise<DnsServer> {
  const server = await new DnsServer().start();
  after(() => server.close());
  return server;
}
