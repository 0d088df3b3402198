import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { after } from "node:test";
import type { Page } from "playwright-core";

/**
 * A JVM with Assay Reader instead of an app for one origin. Debug, because test services have no certificate.
 */
export const forEveryOrigin: readonly string[] = [
  "-Dassay.origins=",
  "-Dassay.asks=true",
  "-Dassay.debug=true",
];

/**
 * A phone with the shell, in a separate process (phone/assay/shell/WholeFlow.java), until the end of the
 * file's tests. `builtFor` is the origin of the app, null for Assay Reader.
 */
export async function startPhone({ builtFor, chipPort }: { builtFor: string | null; chipPort: number }) {
  const jvm = JSON.parse(process.env.ASSAY_PHONE_JVM ?? "null") as string[] | null;
  assert.ok(jvm, "run it with npm run android -- test");
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const properties = {
    "assay.chip.port": chipPort,
    "assay.control.port": (server.address() as AddressInfo).port,
  };
  const defined = Object.entries(properties).map(([name, value]) => `-D${name}=${value}`);
  const built = builtFor === null ? forEveryOrigin : [`-Dassay.origins=${builtFor}`];
  const child = spawn("java", [
    ...jvm,
    ...built,
    ...defined,
    "assay.shell.RunTests",
    "assay.shell.WholeFlow",
  ]);
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
  });
  const gone = once(child, "exit").then(() => {
    throw new Error(`The phone is gone:\n${output}`);
  });
  gone.catch(() => {});
  const [socket] = (await Promise.race([once(server, "connection"), gone])) as [Socket];
  socket.setNoDelay(true).on("error", () => {});
  const answers: ((line: string) => void)[] = [];
  const phone = {
    onTold: (_message: string): void => {},
    onLost: () => {},
    contacts: 0,
    tell: (line: string) => void socket.write(`${line}\n`),
    ask: (line: string) => {
      const answer = new Promise<string>((resolve) => answers.push(resolve));
      socket.write(`${line}\n`);
      return Promise.race([answer, gone]);
    },
    close: async () => {
      socket.write("quit\n");
      // Also when the phone ended by itself.
      await gone.catch(() => {});
      socket.destroy();
      server.close();
    },
  };
  createInterface({ input: socket }).on("line", (line) => {
    if (!line.startsWith("told ")) return answers.shift()?.(line);
    const message = line.slice("told ".length);
    if (message.startsWith("limits ")) phone.contacts += 1;
    if (message.startsWith("lost ")) phone.onLost();
    phone.onTold(message);
  });
  after(() => phone.close());
  return phone;
}

export type Phone = Awaited<ReturnType<typeof startPhone>>;

/**
 * A page in place of the web view:
 * the shell's script before the page's, and its port once the page is loaded.
 */
export async function showIn(page: Page, phone: Phone, answer: string): Promise<void> {
  const [kind, script = "", address = ""] = answer.split(" ");
  assert.equal(kind, "script");
  await page.exposeFunction("sayToShell", (message: string) => phone.tell(`say ${message}`));
  await page.addInitScript(Buffer.from(script, "base64").toString());
  await page.goto(address);
  phone.onTold = (message) =>
    void page.evaluate((text) => Reflect.get(globalThis, "tellPage")(text), message).catch(() => {});
  await phone.ask(`loaded ${page.url()}`);
  await page.evaluate(`{
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => window.sayToShell(data);
    window.tellPage = (message) => port1.postMessage(message);
    window.dispatchEvent(new MessageEvent("message", { data: "chip-transport", ports: [port2] }));
  }`);
}

/** A date of the machine-readable zone as a form takes it. */
export const isoDate = (text: string, century: string) =>
  `${century}${text.slice(0, 2)}-${text.slice(2, 4)}-${text.slice(4, 6)}`;
