// npm run shop: the shop, and Assay beside it where none answers yet.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import process from "node:process";

const root = join(import.meta.dirname, "../..");
const folder = resolve(process.env.SHOP_FILES ?? "./shop-files");
const assayUrl = process.env.ASSAY_URL ?? `http://127.0.0.1:${process.env.PORT ?? 3000}`;
const certificate = join(folder, "shop-cert.pem");

async function isReady(): Promise<boolean> {
  return fetch(`${assayUrl}/readyz`, { signal: AbortSignal.timeout(2_000) }).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** The listen address of an Assay that answers at `ASSAY_URL`; null if it cannot be started from here. */
function listenAddress(): { HOST: string; PORT: string } | null {
  const url = URL.parse(assayUrl);
  if (url?.protocol !== "http:" || !/^(127\.\d+\.\d+\.\d+|localhost|\[::1\])$/.test(url.hostname))
    return null;
  return { HOST: url.hostname.replace(/[[\]]/g, ""), PORT: url.port || "80" };
}

/**
 * Assay sends webhooks to https only, so the shop gets a local certificate,
 * which Assay is configured to trust.
 */
function makeCertificate(): void {
  mkdirSync(folder, { recursive: true });
  if (existsSync(certificate)) return;
  const [key, out] = [join(folder, "shop-key.pem"), certificate];
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  const args = [
    "req",
    "-x509",
    "-newkey",
    "rsa:2048",
    "-nodes",
    "-days",
    "365",
    ...subject,
    "-keyout",
    key,
    "-out",
    out,
  ];
  const made = spawnSync("openssl", args, { encoding: "utf8" });
  if (made.status !== 0)
    throw new Error(`openssl could not make a certificate: ${made.error ?? made.stderr}`);
}

const children: ChildProcess[] = [];
function start(file: string, args: readonly string[], env: Record<string, string> = {}): void {
  const child = spawn(process.execPath, [join(root, file), ...args], {
    stdio: "inherit",
    env: { ...process.env, SHOP_FILES: folder, ASSAY_URL: assayUrl, ...env },
  });
  child.on("exit", (code) => stop(code ?? 0));
  children.push(child);
}

function stop(code: number): void {
  process.exitCode = code;
  for (const child of children) child.kill();
}
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stop(0));

const startWithinMs = 120_000;

/** Starts Assay where `ASSAY_URL` says, and waits until it answers. */
async function startAssay(): Promise<void> {
  const address = listenAddress();
  if (address === null) {
    console.error(
      `No Assay answers at ${assayUrl}, and it can be started here only at an address like http://127.0.0.1:3000. Start it there, or leave ASSAY_URL out.`,
    );
    return stop(1);
  }
  console.log(`Starting Assay at ${assayUrl}...`);
  start("apps/server/dist/main.js", ["start"], {
    ...address,
    WEBHOOK_ALLOWED_PRIVATE_HOSTS: "localhost",
    NODE_EXTRA_CA_CERTS: certificate,
    LOG_LEVEL: process.env.LOG_LEVEL ?? "warn",
  });
  const deadline = Date.now() + startWithinMs;
  while (process.exitCode === undefined && !(await isReady())) {
    if (Date.now() > deadline) {
      console.error(`Assay did not answer at ${assayUrl} within two minutes. What it says is above.`);
      return stop(1);
    }
    await new Promise((wake) => setTimeout(wake, 200));
  }
}

makeCertificate();
if (!(await isReady())) await startAssay();
if (process.exitCode === undefined) start("examples/shop/shop.ts", []);
