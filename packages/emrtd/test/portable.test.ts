import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";

const source = path.resolve(import.meta.dirname, "../src");

const globals =
  /(?<![.\w$])(Buffer|process|window|document|require|__dirname|setTimeout|setInterval|console|fetch)(?=\s*[.([])/g;

/** Comments and texts may mention documents and processes; only code counts. */
function codeOf(text: string): string {
  return text
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/(^|[^:])\/\/.*$/gm, "$1")
    .replace(/"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g, '""');
}

function importsOf(text: string): readonly string[] {
  return [...text.matchAll(/\b(?:from|import)\s*\(?\s*["']([^"']+)["']/g)].map((match) => match[1] ?? "");
}

const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter(
  (file) => file.endsWith(".ts") && !file.endsWith(".test.ts"),
);

test("the package imports nothing of the project around it", () => {
  assert.ok(files.length > 20);
  for (const file of files) {
    for (const name of importsOf(readFileSync(path.join(source, file), "utf8"))) {
      assert.ok(!name.startsWith("@assay/"), `${file} imports ${name}`);
      const inside =
        !name.startsWith(".") || !path.relative(source, path.join(source, file, "..", name)).startsWith("..");
      assert.ok(inside, `${file} imports ${name}, which is outside of src`);
    }
  }
});

test("outside of src/node nothing needs Node or a browser", () => {
  const portable = files.filter((file) => !file.startsWith(`node${path.sep}`));
  assert.ok(portable.length > 20);
  for (const file of portable) {
    const text = readFileSync(path.join(source, file), "utf8");
    for (const name of importsOf(text)) {
      assert.ok(!name.startsWith("node:"), `${file} imports ${name}`);
      assert.ok(!/(^|\/)node\//.test(name), `${file} imports ${name}, which needs Node`);
    }
    const code = codeOf(text);
    const used = [...code.matchAll(globals)]
      .map((match) => match[1] ?? "")
      // A travel document is rightly called document where it is declared as such.
      .find((name) => name !== "document" || !/\bdocument\s*[:,)=]/.test(code));
    assert.equal(used, undefined, `${file} uses ${used}`);
    assert.ok(
      !/\bDate\.now\(|new Date\(\)|Math\.random\(/.test(code),
      `${file} has a clock or dice of its own`,
    );
  }
});
