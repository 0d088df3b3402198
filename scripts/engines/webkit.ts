import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { freePort } from "../../apps/server/test/support/free-port.ts";
import { type Engine, EngineMissing, type FindProgram } from "./engine.ts";

const browserArguments = [
  "--automation",
  "--enable-media-stream=true",
  // A camera that shows a clock, without a permission prompt.
  "--enable-mock-capture-devices=true",
];

const listen = `(() => {
  const heard = (window.heardProblems = []);
  const { error } = console;
  console.error = (...all) => {
    heard.push(all.join(" "));
    error.apply(console, all);
  };
  addEventListener("error", ({ message, target }) => heard.push(message ?? "could not load " + (target.src ?? target.href)), true);
  addEventListener("unhandledrejection", ({ reason }) => heard.push(String(reason)));
  addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) => heard.push(violatedDirective + " " + blockedURI));
})()`;

/** The engine of Safari in the small browser of WebKitGTK, in an invisible window, by WebDriver. */
export async function openWebKit(find: FindProgram): Promise<Engine> {
  const program = find("WebKitWebDriver");
  const screen = find("Xvfb");
  const [browser] = globSync("/usr/lib/{*/,}webkit{2gtk,gtk}-*/MiniBrowser");
  if (program === null || screen === null || browser === undefined)
    throw new EngineMissing("WebKitGTK (Debian: apt-get install webkit2gtk-driver xvfb)");
  const port = await freePort();
  const number = freeDisplay();
  const display = spawn(screen, [`:${number}`, "-screen", "0", "1600x1200x24"], { stdio: "ignore" });
  const driver = spawn(program, [`--port=${port}`], {
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      DISPLAY: `:${number}`,
      LIBGL_ALWAYS_SOFTWARE: "1",
      // As root the sandbox is off.
      ...(process.geteuid?.() === 0 ? { WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: "1" } : {}),
    },
  });
  const ended = Promise.all([once(driver, "close"), once(display, "close")]);
  let output = "";
  for (const stream of [driver.stdout, driver.stderr])
    stream.on("data", (chunk) => {
      output += chunk;
    });
  const call = async <T>(method: string, at: string, body?: unknown): Promise<T> => {
    const response = await fetch(`http://127.0.0.1:${port}${at}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const { value } = (await response.json()) as { value: T & { message?: string } };
    if (!response.ok) throw new Error(`${value.message}\n${output.slice(-1000)}`);
    return value;
  };
  const close = async () => {
    driver.kill();
    display.kill();
    await ended;
  };
  try {
    await untilItAnswers(() => call("GET", "/status"));
    const options = { "webkitgtk:browserOptions": { binary: browser, args: browserArguments } };
    const session = await call<{ sessionId: string; capabilities: { browserVersion: string } }>(
      "POST",
      "/session",
      { capabilities: { alwaysMatch: options } },
    );
    const at = `/session/${session.sessionId}`;
    await call("POST", `${at}/timeouts`, { script: 60_000, pageLoad: 60_000 });
    const evaluate = async <T>(expression: string): Promise<T> => {
      const script = `Promise.resolve(${expression}).then(
        (value) => arguments[0](JSON.stringify({ value: value ?? null })),
        (error) => arguments[0](JSON.stringify({ error: String(error) })));`;
      const result = JSON.parse(await call<string>("POST", `${at}/execute/async`, { script, args: [] }));
      if (result.error !== undefined) throw new Error(result.error);
      return result.value as T;
    };
    const problems: string[] = [];
    const hear = async () => {
      problems.push(...(await evaluate<string[]>("window.heardProblems?.splice(0) ?? []")));
    };
    return {
      version: `WebKitGTK ${session.capabilities.browserVersion}`,
      async goto(url) {
        await hear();
        await call("POST", `${at}/url`, { url });
        await evaluate(listen);
      },
      evaluate,
      screenshot: async () => Buffer.from(await call<string>("GET", `${at}/screenshot`), "base64"),
      async resize(width, height) {
        await call("POST", `${at}/window/rect`, { x: 0, y: 0, width, height });
      },
      async problems() {
        await hear();
        return problems;
      },
      async close() {
        await call("DELETE", at).catch(() => {});
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function freeDisplay(): number {
  let number = 90;
  while (existsSync(`/tmp/.X11-unix/X${number}`) || existsSync(`/tmp/.X${number}-lock`)) number++;
  return number;
}

async function untilItAnswers(ask: () => Promise<unknown>): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      await ask();
      return;
    } catch (error) {
      if (tries === 100) throw error;
      await wait(100);
    }
  }
}
