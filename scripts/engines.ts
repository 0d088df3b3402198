// `npm run prove -- engines`: runs the pages in Firefox and WebKit (the engine of Safari), as packaged by
// Debian. `firefox` or `webkit` selects one, numbers select walks. Pictures are in `test-artifacts/engines`.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { launchAssay } from "../apps/server/test/support/process.ts";
import { newOwner } from "../bench/support/new-partner.ts";
import { EngineMissing, type FindProgram } from "./engines/engine.ts";
import { openFirefox } from "./engines/firefox.ts";
import { Person } from "./engines/person.ts";
import { partner, type Service, type Walk, walks } from "./engines/walks.ts";
import { openWebKit } from "./engines/webkit.ts";
import { thisMachine } from "./find-browser.ts";

const engines = { firefox: openFirefox, webkit: openWebKit } as const;
type EngineName = keyof typeof engines;
const engineNames = Object.keys(engines) as EngineName[];
const pictures = path.join(import.meta.dirname, "../test-artifacts/engines");
/** A phone. */
const size = { width: 390, height: 844 };

const findProgram: FindProgram = (...names) => {
  const folders = (process.env.PATH ?? "").split(path.delimiter);
  const files = names.flatMap((name) => folders.map((folder) => path.join(folder, name)));
  return files.find(thisMachine.isProgram) ?? null;
};

/** Uses a new browser, so that walks do not affect each other. Returns whether it finished. */
async function walkIn(name: EngineName, number: number, walk: Walk, service: Service): Promise<boolean> {
  const engine = await engines[name](findProgram);
  const startedAt = Date.now();
  const keep = async (picture: string) =>
    writeFileSync(path.join(pictures, `${name}-${picture}.png`), await engine.screenshot());
  const tell = (result: string) =>
    console.log(
      `${result}  ${engine.version}  ${number} ${walk.name}  ${((Date.now() - startedAt) / 1000).toFixed(1)} s`,
    );
  try {
    await engine.resize(size.width, size.height);
    await walk.run(new Person(engine), service, keep);
    const problems = await engine.problems();
    if (problems.length > 0) throw new Error(`the browser complains:\n${problems.join("\n")}`);
    tell("ok  ");
    return true;
  } catch (error) {
    tell("FAIL");
    console.log(String(error instanceof Error ? error.stack : error).replace(/^/gm, "      "));
    await keep(`failed-${number}`).catch(() => {});
    return false;
  } finally {
    await engine.close();
  }
}

const asked = process.argv.slice(2);
const names = engineNames.filter((name) => asked.includes(name));
const numbers = asked.filter((word) => /^\d+$/.test(word)).map(Number);
mkdirSync(pictures, { recursive: true });
const dataDir = mkdtempSync(path.join(tmpdir(), "assay-engines-"));
const assay = launchAssay({ DATA_DIR: dataDir });
try {
  const url = await assay.listening;
  const { send } = await newOwner(url, partner);
  for (const name of names.length > 0 ? names : engineNames)
    for (const [index, walk] of walks.entries()) {
      if (numbers.length > 0 && !numbers.includes(index + 1)) continue;
      if (!(await walkIn(name, index + 1, walk, { url, send }))) process.exitCode = 1;
    }
  console.log(`Pictures are in ${path.relative(process.cwd(), pictures)}.`);
} catch (error) {
  if (!(error instanceof EngineMissing)) throw error;
  console.error(`This needs ${error.message}.`);
  process.exitCode = 1;
} finally {
  await assay.stop();
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 10 });
}
