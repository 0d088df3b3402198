/** The service's end of a device's socket, for tests. It copies what the device sends, like a real socket. */
export class FakeSocket {
  static readonly OPEN = 1;
  static latest: FakeSocket | null = null;
  readonly url: string;
  readonly subprotocol: string;
  readyState: number = FakeSocket.OPEN;
  binaryType = "blob";
  readonly sent: (string | Uint8Array)[] = [];
  readonly copies: Uint8Array[] = [];
  closedWith: number | null = null;
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: ((event: { reason: string; code: number }) => void) | null = null;

  constructor(url: string, subprotocol: string) {
    this.url = url;
    this.subprotocol = subprotocol;
    FakeSocket.latest = this;
    setImmediate(() => this.onopen?.());
  }

  static forget(): void {
    FakeSocket.latest = null;
  }

  send(data: string | Uint8Array): void {
    this.sent.push(data);
    if (typeof data !== "string") this.copies.push(Uint8Array.from(data));
  }

  close(code: number): void {
    this.closedWith = code;
  }

  tell(message: Record<string, unknown>): void {
    this.onmessage?.({ data: JSON.stringify(message) });
  }

  /** As if the service closed the socket, or without a reason the network failed. */
  end(reason = ""): void {
    this.onclose?.({ reason, code: reason === "" ? 1006 : 4000 });
  }

  /** The messages that the device has sent, without the bytes between them. */
  messages(): ({ type: string } & Record<string, unknown>)[] {
    return this.sent.flatMap((data) => (typeof data === "string" ? [JSON.parse(data)] : []));
  }
}
