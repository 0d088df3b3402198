import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Engine, EngineMissing, type FindProgram } from "./engine.ts";

const settings = {
  // WebDriver BiDi alone.
  "remote.active-protocols": 1,
  // A camera that shows one colour, without a permission prompt.
  "media.navigator.streams.fake": true,
  "media.navigator.permission.disabled": true,
  "app.update.enabled": false,
  "datareporting.policy.dataSubmissionEnabled": false,
  "network.captive-portal-service.enabled": false,
  "network.connectivity-service.enabled": false,
};

type Answer = {
  id?: number;
  type: string;
  method?: string;
  result?: unknown;
  message?: string;
  params?: unknown;
};

/** Firefox without a window, by WebDriver BiDi. */
export async function openFirefox(find: FindProgram): Promise<Engine> {
  const program = find("firefox", "firefox-esr");
  if (program === null) throw new EngineMissing("Firefox (Debian: apt-get install firefox-esr)");
  const profile = mkdtempSync(path.join(tmpdir(), "assay-firefox-"));
  const lines = Object.entries(settings).map(
    ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`,
  );
  writeFileSync(path.join(profile, "user.js"), lines.join("\n"));
  const child = spawn(
    program,
    ["--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0", "about:blank"],
    // It keeps things outside of the profile as well.
    { stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, HOME: profile } },
  );
  const ended = once(child, "close");
  const address = await new Promise<string>((resolve, reject) => {
    let output = "";
    child.stderr.on("data", (chunk) => {
      output += chunk;
      const match = /WebDriver BiDi listening on (\S+)/.exec(output)?.[1];
      if (match !== undefined) resolve(match);
    });
    child.once("error", reject);
    child.once("close", () => reject(new Error(`Firefox ended:\n${output}`)));
  });
  const socket = new WebSocket(`${address}/session`);
  await once(socket, "open");

  const problems: string[] = [];
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  socket.addEventListener("message", ({ data }) => {
    const answer = JSON.parse(String(data)) as Answer;
    if (answer.method === "log.entryAdded") {
      const entry = answer.params as { level: string; text: string };
      if (entry.level === "error") problems.push(entry.text);
    }
    const open = waiting.get(answer.id ?? 0);
    waiting.delete(answer.id ?? 0);
    if (answer.type === "error") open?.reject(new Error(answer.message));
    else open?.resolve(answer.result);
  });
  let last = 0;
  const send = <T>(method: string, params: Record<string, unknown>): Promise<T> => {
    const answer = Promise.withResolvers<unknown>();
    waiting.set(++last, answer);
    socket.send(JSON.stringify({ id: last, method, params }));
    return answer.promise as Promise<T>;
  };

  type Session = { capabilities: { browserVersion: string } };
  const { capabilities } = await send<Session>("session.new", { capabilities: {} });
  await send("session.subscribe", { events: ["log.entryAdded"] });
  const tree = await send<{ contexts: { context: string }[] }>("browsingContext.getTree", {});
  const context = tree.contexts[0]?.context;
  return {
    version: `Firefox ${capabilities.browserVersion}`,
    async goto(url) {
      await send("browsingContext.navigate", { context, url, wait: "complete" });
    },
    async evaluate<T>(expression: string) {
      type Evaluated = { result?: { value?: string }; exceptionDetails?: { text: string } };
      const { result, exceptionDetails } = await send<Evaluated>("script.evaluate", {
        // As text: the protocol wraps values in another form.
        expression: `Promise.resolve(${expression}).then((value) => JSON.stringify(value ?? null))`,
        target: { context },
        awaitPromise: true,
        userActivation: true,
      });
      if (exceptionDetails !== undefined) throw new Error(exceptionDetails.text);
      return JSON.parse(result?.value ?? "null") as T;
    },
    async screenshot() {
      const { data } = await send<{ data: string }>("browsingContext.captureScreenshot", { context });
      return Buffer.from(data, "base64");
    },
    async resize(width, height) {
      await send("browsingContext.setViewport", { context, viewport: { width, height } });
    },
    problems: async () => problems,
    async close() {
      socket.close();
      child.kill();
      await ended;
      rmSync(profile, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}
