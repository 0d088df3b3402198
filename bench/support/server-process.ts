import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";

type Message = { url?: string; cpuMicroseconds?: number; rssBytes?: number };

/** A server in a separate process, so that its processor time is measured apart from the load generator's. */
export class ServerProcess {
  readonly url: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
  }

  static async start(
    module: URL,
    env: Record<string, string>,
    args: readonly string[] = [],
  ): Promise<ServerProcess> {
    const child = fork(module, args, {
      env: { ...process.env, ...env },
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    const [message] = (await Promise.race([
      once(child, "message"),
      once(child, "exit").then(() =>
        Promise.reject(new Error(`${module.pathname} ended before it listened`)),
      ),
    ])) as [Message];
    return new ServerProcess(child, message.url ?? "");
  }

  async usage(): Promise<{ cpuMicroseconds: number; rssBytes: number }> {
    this.#child.send("usage");
    const [message] = (await once(this.#child, "message")) as [Message];
    return { cpuMicroseconds: message.cpuMicroseconds ?? 0, rssBytes: message.rssBytes ?? 0 };
  }

  async stop(): Promise<void> {
    this.#child.kill("SIGTERM");
    await once(this.#child, "exit");
  }
}

/** For the module in the process: sends the address, then answers queries about its usage. */
export function announce(url: string): void {
  process.send?.({ url });
  process.on("message", () => {
    const { user, system } = process.cpuUsage();
    process.send?.({ cpuMicroseconds: user + system, rssBytes: process.memoryUsage.rss() });
  });
}
