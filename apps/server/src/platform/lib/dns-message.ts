/**
 * The parts of DNS messages (RFC 1035) that a stub resolver needs: encodes one question, decodes answers.
 * Pure.
 */

export const recordTypes = { A: 1, CNAME: 5, TXT: 16, AAAA: 28 } as const;
export type RecordType = keyof typeof recordTypes;
const internetClass = 1;

const headerBytes = 12;
const maxNameBytes = 255;
const maxLabelBytes = 63;
// An answer of 64 KiB could claim 65,535 records of a few bytes. No valid answer has nearly as many.
const maxRecords = 4096;

export class DnsFormatError extends Error {}

type DnsRecord =
  | { name: string; type: "A" | "AAAA"; address: string }
  | { name: string; type: "TXT"; text: string }
  | { name: string; type: "CNAME"; target: string };

export type DnsAnswer = {
  id: number;
  isResponse: boolean;
  isTruncated: boolean;
  /** 0 no error, 2 server failure, 3 no such name, 5 refused … */
  responseCode: number;
  question: { name: string; type: number; class: number } | null;
  /** Records of the types above, of the internet class; others are skipped. */
  records: DnsRecord[];
};

/** A name in its compared form: lower-case labels, joined by dots, without a trailing dot. */
export function canonicalName(name: string): string {
  return name.toLowerCase().replace(/\.$/, "");
}

/** Whether a name can be queried: labels of visible ASCII, each 1 to 63 long, 253 in total. */
export function isAskableName(name: string): boolean {
  const plain = name.replace(/\.$/, "");
  return (
    plain.length > 0 &&
    plain.length <= 253 &&
    plain.split(".").every((label) => label.length <= maxLabelBytes && /^[\x21-\x7e]+$/.test(label))
  );
}

export function encodeQuery(id: number, name: string, type: RecordType): Buffer {
  if (!isAskableName(name)) throw new DnsFormatError("the name cannot be queried");
  const labels = canonicalName(name).split(".");
  const header = Buffer.alloc(headerBytes);
  header.writeUInt16BE(id, 0);
  // Recursion desired: the server is a resolver, not an authoritative server.
  header.writeUInt16BE(0x0100, 2);
  header.writeUInt16BE(1, 4);
  const parts: Buffer[] = [header];
  for (const label of labels) parts.push(Buffer.from([label.length]), Buffer.from(label, "latin1"));
  const tail = Buffer.alloc(5);
  tail.writeUInt16BE(recordTypes[type], 1);
  tail.writeUInt16BE(internetClass, 3);
  parts.push(tail);
  return Buffer.concat(parts);
}

/** Decodes an answer from any sender. For any input it ends quickly, with an answer or a `DnsFormatError`. */
export function decodeAnswer(message: Buffer): DnsAnswer {
  if (message.length < headerBytes) throw new DnsFormatError("the message is shorter than its header");
  const flags = message.readUInt16BE(2);
  const questionCount = message.readUInt16BE(4);
  const answerCount = message.readUInt16BE(6);
  if (questionCount > 1) throw new DnsFormatError("the message has several questions");
  const reader = new Reader(message, headerBytes);
  const question =
    questionCount === 1 ? { name: reader.name(), type: reader.uint16(), class: reader.uint16() } : null;
  const isTruncated = (flags & 0x0200) !== 0;
  const answer: DnsAnswer = {
    id: message.readUInt16BE(0),
    isResponse: (flags & 0x8000) !== 0,
    isTruncated,
    responseCode: flags & 0x0f,
    question,
    records: [],
  };
  // A truncated message may end inside a record, so none of its records are used.
  if (isTruncated) return answer;
  if (answerCount > maxRecords) throw new DnsFormatError("the message claims too many records");
  for (let i = 0; i < answerCount; i++) {
    const record = readRecord(reader);
    if (record !== null) answer.records.push(record);
  }
  return answer;
}

function readRecord(reader: Reader): DnsRecord | null {
  const name = reader.name();
  const type = reader.uint16();
  const recordClass = reader.uint16();
  reader.skip(4);
  const length = reader.uint16();
  const start = reader.offset;
  const data = reader.bytes(length);
  if (recordClass !== internetClass) return null;
  switch (type) {
    case recordTypes.A:
      if (length !== 4) throw new DnsFormatError("an A record is not 4 bytes long");
      return { name, type: "A", address: [...data].join(".") };
    case recordTypes.AAAA:
      if (length !== 16) throw new DnsFormatError("an AAAA record is not 16 bytes long");
      return { name, type: "AAAA", address: formatIpv6(data) };
    case recordTypes.TXT:
      return { name, type: "TXT", text: joinStrings(data) };
    case recordTypes.CNAME: {
      const target = reader.at(start);
      const cname = target.name();
      if (target.offset !== start + length) throw new DnsFormatError("a CNAME record has bytes left over");
      return { name, type: "CNAME", target: cname };
    }
    default:
      return null;
  }
}

/** A TXT record is a list of strings of at most 255 bytes; a longer value is split into several. */
function joinStrings(data: Buffer): string {
  const parts: Buffer[] = [];
  for (let at = 0; at < data.length; ) {
    const length = data[at] ?? 0;
    if (at + 1 + length > data.length) throw new DnsFormatError("a string of a TXT record is cut short");
    parts.push(data.subarray(at + 1, at + 1 + length));
    at += 1 + length;
  }
  return Buffer.concat(parts).toString("utf8");
}

function formatIpv6(data: Buffer): string {
  const groups = Array.from({ length: 8 }, (_, i) => data.readUInt16BE(i * 2).toString(16));
  return groups.join(":");
}

class Reader {
  readonly #message: Buffer;
  #offset: number;

  constructor(message: Buffer, offset: number) {
    this.#message = message;
    this.#offset = offset;
  }

  get offset(): number {
    return this.#offset;
  }

  at(offset: number): Reader {
    return new Reader(this.#message, offset);
  }

  skip(count: number): void {
    this.bytes(count);
  }

  bytes(count: number): Buffer {
    const end = this.#offset + count;
    if (end > this.#message.length) throw new DnsFormatError("the message is cut short");
    const bytes = this.#message.subarray(this.#offset, end);
    this.#offset = end;
    return bytes;
  }

  uint16(): number {
    return this.bytes(2).readUInt16BE(0);
  }

  /**
   * A name, following compression pointers. Each pointer must point before the part that contains it, as
   * valid ones do. So there is no loop, and the length limit bounds the rest.
   */
  name(): string {
    const labels: string[] = [];
    let total = 1;
    let at = this.#offset;
    let partStart = at;
    let afterFirstPointer: number | null = null;
    for (;;) {
      const length = this.#byte(at);
      if (length >= 0xc0) {
        const target = ((length & 0x3f) << 8) | this.#byte(at + 1);
        if (target >= partStart) throw new DnsFormatError("a name points forward");
        afterFirstPointer ??= at + 2;
        at = target;
        partStart = target;
        continue;
      }
      if (length > maxLabelBytes) throw new DnsFormatError("a label has an unknown form");
      at += 1;
      if (length === 0) break;
      total += 1 + length;
      if (total > maxNameBytes) throw new DnsFormatError("a name is too long");
      if (at + length > this.#message.length) throw new DnsFormatError("the message is cut short");
      labels.push(escapeLabel(this.#message.toString("latin1", at, at + length)));
      at += length;
    }
    this.#offset = afterFirstPointer ?? at;
    return labels.join(".");
  }

  #byte(at: number): number {
    const byte = this.#message[at];
    if (byte === undefined) throw new DnsFormatError("the message is cut short");
    return byte;
  }
}

/** A dot inside a label is escaped as `\046`, as in zone files, so that it does not look like a separator. */
function escapeLabel(label: string): string {
  return label
    .replace(
      /[^\x21-\x2d\x2f-\x5b\x5d-\x7e]/g,
      (character) => `\\${String(character.charCodeAt(0)).padStart(3, "0")}`,
    )
    .toLowerCase();
}
