// `npm run lighthouse`: the verify page and the dashboard on a slow phone, measured by Lighthouse, and the bytes that they take. It starts a service of its own with one session, and
// fetches Lighthouse from npm into node_modules/.cache, because nobody else needs its 140 packages. `--runs N` takes the median of N (3).
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbeddedPostgres } from "../apps/server/src/installation/postgres/embedded-postgres.ts";
import { newOwner } from "../bench/support/new-partner.ts";
import { ServerProcess } from "../bench/support/server-process.ts";

const root = new URL("../", import.meta.url).pathname;
const tools = join(root, "node_modules/.cache/lighthouse");
const version = "13.5.0";
const given = process.argv.indexOf("--runs");
const runs = given === -1 ? 3 : Number(process.argv[given + 1]);

type Goals = { performance: number; accessibility: number; layoutShift: number; transferBytes: number };
/** Goals of each app; the table marks what misses one. */
const goals = {
  verify: { performance: 95, accessibility: 100, layoutShift: 0.05, transferBytes: 120_000 },
  dashboard: { performance: 90, accessibility: 100, layoutShift: 0.05, transferBytes: 150_000 },
} as const satisfies Record<string, Goals>;
type Page = { name: string; address: string; token: string | null; goals: Goals };
const wanted = process.argv
  .slice(2)
  .filter((part, index, all) => !part.startsWith("--") && all[index - 1] !== "--runs");

mkdirSync(tools, { recursive: true });
if (!existsSync(join(tools, "node_modules/lighthouse"))) {
  writeFileSync(join(tools, "package.json"), "{}");
  const { status } = spawnSync(
    "npm",
    ["install", "--no-audit", "--no-fund", "--ignore-scripts", `lighthouse@${version}`],
    { cwd: tools, stdio: "inherit" },
  );
  if (status !== 0) throw new Error("Lighthouse could not be fetched");
}

type Report = {
  categories: Record<"performance" | "accessibility", { score: number }>;
  audits: Record<
    string,
    { numericValue?: number; details?: { items?: { transferSize?: number; url?: string }[] } }
  >;
};

const data = mkdtempSync(join(tmpdir(), "assay-lighthouse-"));
const postgres = await startEmbeddedPostgres({ dataDir: data, env: process.env, log: () => {} });
try {
  const server = await ServerProcess.start(new URL("../bench/support/assay-server.ts", import.meta.url), {
    PORT: "0",
    DATA_DIR: join(data, "service"),
    DATABASE_URL: postgres.url,
    SECRET_KEYS: `1:${Buffer.alloc(32, 1).toString("base64")}`,
  });
  try {
    for (const page of await pagesOf(server.url)) {
      if (wanted.length > 0 && !wanted.some((part) => page.name.includes(part))) continue;
      process.stdout.write(`\n${page.name}\n`);
      report(
        Array.from({ length: runs }, (_, run) => measure(page, join(data, `${run}.json`))),
        page.goals,
      );
    }
  } finally {
    await server.stop();
  }
} finally {
  await postgres.stop();
  rmSync(data, { recursive: true, force: true });
}

/** A session as a bank would ask for it, in the sandbox of a new organization, and the dashboard of its owner. */
async function pagesOf(baseUrl: string): Promise<Page[]> {
  const { send, token } = await newOwner(baseUrl, { name: "Harbour Bank", slug: "harbour" });
  await send("/v1/auth/orgs", { brand_color: "#0a5c8f" }, "PATCH");
  const fields = {
    family_name: { required: true, reason: "To match your account." },
    date_of_birth: { required: true, reason: "The law asks us to know it." },
    nationality_code: { required: false, reason: "Spares you the tax form." },
  };
  const session = (await send("/v1/sessions", { share_fields: fields })).verification_url ?? "";
  const dashboard = (name: string, path: string, signedIn: boolean): Page => ({
    name: `dashboard: ${name}`,
    address: `${baseUrl}${path}`,
    token: signedIn ? token : null,
    goals: goals.dashboard,
  });
  return [
    { name: "verify", address: session, token: null, goals: goals.verify },
    dashboard("sign-in", "/dashboard/sign-in", false),
    dashboard("overview", "/dashboard", true),
    dashboard("sessions", "/dashboard/sessions", true),
  ];
}

function measure({ address, token }: Page, out: string): Report {
  const { status, stderr } = spawnSync(
    process.execPath,
    [
      join(tools, "node_modules/lighthouse/cli/index.js"),
      address,
      "--quiet",
      "--output=json",
      `--output-path=${out}`,
      "--only-categories=performance,accessibility",
      ...(token === null ? [] : [`--extra-headers={"Cookie":"assay_session=${token}"}`]),
      "--chrome-flags=--headless=new --no-sandbox --disable-gpu",
    ],
    {
      encoding: "utf8",
      env: { ...process.env, CHROME_PATH: process.env.CHROMIUM_PATH ?? "/usr/bin/chromium" },
    },
  );
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(readFileSync(out, "utf8")) as Report;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function report(reports: readonly Report[], wants: Goals): void {
  const audit = (name: string) =>
    median(reports.map(({ audits }) => audits[name]?.numericValue ?? Number.NaN));
  const rows: [string, number, string, boolean][] = [
    ...(["performance", "accessibility"] as const).map((name): [string, number, string, boolean] => {
      const score = median(reports.map(({ categories }) => Math.round(100 * categories[name].score)));
      return [name, score, "", score >= wants[name]];
    }),
    ["first contentful paint", audit("first-contentful-paint"), "ms", true],
    ["largest contentful paint", audit("largest-contentful-paint"), "ms", true],
    ["total blocking time", audit("total-blocking-time"), "ms", true],
    [
      "layout shift",
      audit("cumulative-layout-shift"),
      "",
      audit("cumulative-layout-shift") < wants.layoutShift,
    ],
    ["transferred", audit("total-byte-weight"), "bytes", audit("total-byte-weight") <= wants.transferBytes],
  ];
  for (const [name, value, unit, met] of rows)
    process.stdout.write(
      `${name.padEnd(26)} ${value < 10 ? value.toFixed(3) : value.toFixed(0)} ${unit}${met ? "" : "  MISSED"}\n`,
    );
  for (const { url = "", transferSize = 0 } of reports[0]?.audits["network-requests"]?.details?.items ?? [])
    process.stdout.write(`  ${String(transferSize).padStart(7)}  ${new URL(url).pathname.slice(0, 70)}\n`);
}
