import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type RequestListener, request } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { createServer as createTlsServer } from "node:tls";
import { keyBits, newPrivateKey } from "@assay/cli/key-pair";
import { Slot } from "@assay/cli/state";
import { assay, cleanEnvironment } from "./process.ts";

const root = new URL("../../../../", import.meta.url).pathname;
/** As in the guide: npm, a shell, the script and the command share a process group. */
export const throughNpm: readonly string[] = ["npm", "--prefix", root, "run", "--silent", "assay", "--"];
export const checkout: readonly string[] = [process.execPath, join(root, "apps/server/dist/main.js")];

/** Another Node of the machine, if there is one: partners have older versions. */
function someOtherNode(): string {
  for (const file of ["/usr/bin/node", "/usr/local/bin/node"]) {
    const { stdout } = spawnSync(file, ["--version"], { encoding: "utf8" });
    if (Number(/^v(\d+)\./.exec(stdout ?? "")?.[1] ?? 0) >= 20) return file;
  }
  return process.execPath;
}

/**
 * The command line in an empty folder, as partners get it. Gives the command that runs it. That npm packs and
 * installs it is tested in `scripts/packages.test.ts`.
 */
export function copyCli(): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), "assay-cli-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  for (const file of ["dist/assay.mjs", "package.json"])
    cpSync(join(root, "packages/cli", file), join(folder, file));
  return [someOtherNode(), join(folder, "dist/assay.mjs")];
}

/** Empty, or as the earlier start of a listener has left it. */
export function newStateFolder(earlier?: { url: string; key: string }): string {
  const folder = mkdtempSync(join(tmpdir(), "assay-state-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  if (earlier !== undefined) keepKeyPair(folder, earlier);
  return folder;
}

/** Made once: a key pair takes a listener longer than the rest of its start. */
const keyPair = await newPrivateKey(keyBits.temporary);

/** The listener of this service and API key finds its key pair, as from its second start on. */
export function keepKeyPair(folder: string, { url, key }: { url: string; key: string }): void {
  const { slot } = Slot.take(folder, url, key);
  slot.writeKey(keyPair);
  slot.write({ keyId: "listen-earlier", endpointId: null, signingSecret: null, registration: null });
  slot.release();
}

type Line = { type: string } & Record<string, any>;

/** `assay listen --json` as a process. Lines are read one by one; `printed` is the output for people. */
export function startListen(
  [node = "", ...command]: readonly string[],
  args: readonly string[],
  stateFolder: string,
  { env = {}, ...options }: { env?: Record<string, string>; detached?: boolean } = {},
) {
  const child: ChildProcess = spawn(node, [...command, "listen", "--json", ...args], {
    ...options,
    // An empty home: npm would create a missing one, which root may do anywhere.
    env: cleanEnvironment({ HOME: newStateFolder(), ASSAY_STATE_DIR: stateFolder, ...env }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  after(() => child.kill("SIGKILL"));
  const lines: Line[] = [];
  let printed = "";
  let rest = "";
  let isClosed = false;
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const resolve of waiting) resolve();
    waiting.clear();
  };
  child.stdout?.on("data", (chunk) => {
    rest += chunk;
    const parts = rest.split("\n");
    rest = parts.pop() ?? "";
    lines.push(...parts.map((part) => JSON.parse(part) as Line));
    wake();
  });
  child.stderr?.on("data", (chunk) => {
    printed += chunk;
    wake();
  });
  const closed = once(child, "close").then(([code, signal]) => {
    isClosed = true;
    wake();
    return { code: code as number | null, signal: signal as string | null };
  });
  const change = () => new Promise<void>((resolve) => waiting.add(resolve));
  /** After this time the test fails and shows the output. */
  const patiently = async (isThere: () => boolean) => {
    const patience = setTimeout(() => child.kill("SIGKILL"), 60_000);
    while (!isThere() && !isClosed) await change();
    clearTimeout(patience);
  };
  return {
    child,
    closed,
    get printed() {
      return printed;
    },
    /** The next line, which must be of this type. */
    async next(type: string | RegExp): Promise<Line> {
      await patiently(() => lines.length > 0);
      const line = lines.shift();
      const isMeant = typeof type === "string" ? line?.type === type : type.test(line?.type ?? "");
      assert.ok(isMeant, `wanted ${type}, got ${JSON.stringify(line)}\n${printed}`);
      return line as Line;
    },
    async untilTold(pattern: RegExp): Promise<void> {
      await patiently(() => pattern.test(printed));
      assert.match(printed, pattern);
    },
    async kill(signal: NodeJS.Signals): Promise<number | null> {
      child.kill(signal);
      return (await closed).code;
    },
  };
}

export type RawRequest = { rawHeaders: string[]; headers: Record<string, any>; body: string };

/** Another command of the package, to its end. */
export function runPacked(
  [node = "", file = ""]: readonly string[],
  args: readonly string[],
  env: Record<string, string>,
) {
  return assay(args, env, file, node);
}

/** A receiver on this machine. Answers 200 unless `answer` is set; null never answers. */
export async function startLocalReceiver(tls: { cert: string; key: string } | null = null) {
  const received: RawRequest[] = [];
  let answer: (at: number) => number | null = () => 200;
  let held: Promise<void> = Promise.resolve();
  const take: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { rawHeaders, headers } = request;
      received.push({ rawHeaders, headers, body: Buffer.concat(chunks).toString("utf8") });
      const status = answer(received.length);
      if (status !== null) void held.then(() => response.writeHead(status).end());
    });
  };
  const server = tls === null ? createServer(take) : createHttpsServer(tls, take);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `${tls === null ? "http" : "https"}://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    answerWith(next: typeof answer) {
      answer = next;
    },
    holdUntil(then: Promise<void>) {
      held = then;
    },
  };
}

/** A company's proxy: it asks for a password, and every requested host is this service. */
export async function startProxy(serviceUrl: string, tls: { cert: string; key: string }) {
  const asked: string[] = [];
  const service = new URL(serviceUrl);
  const isAllowed = ({ headers }: IncomingMessage) =>
    headers["proxy-authorization"] === `Basic ${Buffer.from("me:pass word").toString("base64")}`;
  // Stands for the service at an https address.
  const secured = createTlsServer(tls, (socket) => {
    const behind = connect(Number(service.port), service.hostname);
    socket.pipe(behind).pipe(socket);
    socket.on("error", () => behind.destroy());
    behind.on("error", () => socket.destroy());
  });
  const proxy = createServer((incoming, answer) => {
    const { method = "", url = "", headers } = incoming;
    asked.push(`${method} ${url}`);
    if (!isAllowed(incoming)) return void answer.writeHead(407).end();
    const { pathname, search } = new URL(url);
    const onward = request(new URL(pathname + search, service), { method, headers }, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(answer);
    });
    onward.on("error", () => answer.destroy());
    answer.on("close", () => onward.destroy());
    incoming.pipe(onward);
  });
  proxy.on("connect", (incoming, socket) => {
    asked.push(`CONNECT ${incoming.url}`);
    if (!isAllowed(incoming)) return void socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
    const behind = connect((secured.address() as AddressInfo).port, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      socket.pipe(behind).pipe(socket);
    });
    socket.on("error", () => behind.destroy());
    behind.on("error", () => socket.destroy());
  });
  const sockets = new Set<{ destroy(): unknown }>();
  for (const server of [proxy, secured]) {
    server.on("connection", (socket) => sockets.add(socket));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  }
  after(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
    secured.close();
  });
  const { port } = proxy.address() as AddressInfo;
  return { url: `http://me:pass%20word@127.0.0.1:${port}`, without: `http://127.0.0.1:${port}`, asked };
}
