// `npm run generate -- fonts`: makes the subsets of the pages' font in packages/ui/src/fonts. It fetches the
// font and the tool (HarfBuzz) from npm into node_modules/.cache.
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fontSlices } from "../packages/ui/src/font-slices.ts";

const root = new URL("../", import.meta.url);
const tools = new URL("node_modules/.cache/fonts/", root);
const out = new URL("packages/ui/src/fonts/", root);
const wanted = ["@fontsource-variable/inter@5.3.0", "subset-font@2.9.0"];

mkdirSync(tools, { recursive: true });
if (!existsSync(new URL("node_modules/subset-font", tools))) {
  writeFileSync(new URL("package.json", tools), "{}");
  const { status } = spawnSync("npm", ["install", "--no-audit", "--no-fund", ...wanted], {
    cwd: tools,
    stdio: "inherit",
  });
  if (status !== 0) throw new Error("The font and its tool could not be fetched");
}

type Subset = (
  font: Buffer,
  text: string,
  options: {
    targetFormat: "woff2";
    variationAxes: Record<string, { min: number; max: number }>;
    keepFeatures: readonly string[];
  },
) => Promise<Buffer>;
const subset = createRequire(tools)("subset-font") as Subset;
const inter = new URL("node_modules/@fontsource-variable/inter/", tools);

mkdirSync(out, { recursive: true });
for (const { file, source, ranges } of fontSlices) {
  const text = ranges
    .flatMap(([from, to]) =>
      Array.from({ length: to - from + 1 }, (_, at) => String.fromCodePoint(from + at)),
    )
    .join("");
  const whole = readFileSync(new URL(`files/inter-${source}-wght-normal.woff2`, inter));
  const cut = await subset(whole, text, {
    targetFormat: "woff2",
    // The pages use no lighter and no heavier text.
    variationAxes: { wght: { min: 400, max: 700 } },
    // Kerning, accents and forms by language. The other features are alternative shapes that no page uses.
    keepFeatures: ["kern", "ccmp", "locl", "mark", "mkmk"],
  });
  writeFileSync(new URL(file, out), cut);
  process.stdout.write(`${file}: ${whole.length} → ${cut.length} bytes\n`);
}
copyFileSync(new URL("LICENSE", inter), new URL("LICENSE.txt", out));
