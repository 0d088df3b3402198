import { connect, type Socket } from "node:net";
import type { LoadOrder, LoadReport } from "./load-order.ts";

/** How long to wait for answers after the last request. */
const patienceMs = 10_000;

/**
 * Sends at its rate whatever comes back, over plain sockets and with prepared requests: on a machine shared
 * with the service, a costly generator would measure itself.
 */
class Generator {
  readonly #order: LoadOrder;
  readonly #idle: Connection[] = [];
  readonly #times: number[] = [];
  readonly #refusedTimes: number[] = [];
  readonly #report = { sent: 0, unsent: 0, good: 0, late: 0, refused: 0, failed: 0 };
  #next = 0;
  #open = 0;

  constructor(order: LoadOrder) {
    this.#order = order;
  }

  async run(): Promise<LoadReport> {
    const { connections, seconds, ratePerSecond } = this.#order;
    const begin = performance.now();
    const end = begin + seconds * 1000;
    const cpu = process.cpuUsage();
    const opened: Connection[] = [];
    const open = () => {
      const connection = new Connection(new URL(this.#order.url), (status, ms) => {
        this.#note(status, ms);
        if (ratePerSecond === null && performance.now() < end) this.#send(connection);
        else this.#idle.push(connection);
      });
      opened.push(connection);
      return connection;
    };
    if (ratePerSecond === null) {
      for (let i = 0; i < connections; i++) this.#send(open());
    } else {
      let due = 0;
      while (performance.now() < end) {
        // Evenly spread, and caught up with when the timer comes late.
        const wanted = ((performance.now() - begin) / 1000) * ratePerSecond;
        for (; due < wanted; due++) {
          const connection = this.#idle.pop() ?? (opened.length < connections ? open() : null);
          if (connection === null) this.#report.unsent += 1;
          else this.#send(connection);
        }
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    }
    while (performance.now() < end || (this.#open > 0 && performance.now() < end + patienceMs))
      await new Promise((resolve) => setTimeout(resolve, 5));
    for (const connection of opened) connection.close();
    const used = process.cpuUsage(cpu);
    return {
      ...this.#report,
      failed: this.#report.failed + this.#open,
      seconds,
      p50Ms: at(this.#times, 0.5),
      p99Ms: at(this.#times, 0.99),
      refusedP50Ms: at(this.#refusedTimes, 0.5),
      cpuSeconds: (used.user + used.system) / 1e6,
    };
  }

  #send(connection: Connection): void {
    const { requests } = this.#order;
    this.#report.sent += 1;
    this.#open += 1;
    connection.send(requests[this.#next++ % requests.length] ?? "");
  }

  #note(status: number, ms: number): void {
    this.#open -= 1;
    if (status === 503) {
      this.#report.refused += 1;
      this.#refusedTimes.push(ms);
    } else if (status >= 200 && status < 300) {
      this.#report[ms <= this.#order.goodMs ? "good" : "late"] += 1;
      this.#times.push(ms);
    } else {
      this.#report.failed += 1;
    }
  }
}

/** Sequential requests on one kept connection. A lost one is reported as status 0 and reopened. */
class Connection {
  readonly #url: URL;
  readonly #onAnswer: (status: number, ms: number) => void;
  #socket: Socket | null = null;
  #received = "";
  #sentAt: number | null = null;

  constructor(url: URL, onAnswer: (status: number, ms: number) => void) {
    this.#url = url;
    this.#onAnswer = onAnswer;
  }

  send(request: string): void {
    this.#sentAt = performance.now();
    this.#socket ??= this.#connect();
    this.#socket.write(request);
  }

  close(): void {
    this.#sentAt = null;
    this.#socket?.destroy();
  }

  #connect(): Socket {
    const socket = connect(Number(this.#url.port), this.#url.hostname);
    socket.setNoDelay(true).setEncoding("latin1");
    socket.on("data", (text: string) => {
      this.#received += text;
      const head = this.#received.indexOf("\r\n\r\n");
      if (head < 0) return;
      const length = /\r\ncontent-length: (\d+)/i.exec(this.#received.slice(0, head))?.[1] ?? "0";
      if (this.#received.length < head + 4 + Number(length)) return;
      const status = Number(this.#received.slice(9, 12));
      this.#received = "";
      this.#settle(status);
    });
    socket.on("error", () => {});
    socket.once("close", () => {
      this.#socket = null;
      this.#received = "";
      this.#settle(0);
    });
    return socket;
  }

  #settle(status: number): void {
    if (this.#sentAt === null) return;
    const ms = performance.now() - this.#sentAt;
    this.#sentAt = null;
    this.#onAnswer(status, ms);
  }
}

function at(times: number[], share: number): number | null {
  times.sort((a, b) => a - b);
  return times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? null;
}

process.on("message", (order: LoadOrder) => {
  void new Generator(order).run().then((report) => process.send?.(report));
});
