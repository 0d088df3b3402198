import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";

const guide = readFileSync(join(import.meta.dirname, "../../../../../docs/return-code.md"), "utf8");

/** How each sample is run: code and hash are arguments, and the last line that it prints is the answer. */
const samples = [
  {
    language: "ts",
    file: "sample.ts",
    driver: [
      "run.ts",
      `import { isSameBrowser } from "./sample.ts";\nconsole.log(isSameBrowser(process.argv[2] ?? "", process.argv[3] ?? ""));`,
    ],
    needs: [process.execPath, "--version"],
    run: [process.execPath, "run.ts"],
  },
  {
    language: "python",
    file: "sample.py",
    driver: [
      "run.py",
      "import sys\nfrom sample import is_same_browser\nprint(is_same_browser(sys.argv[1], sys.argv[2]))",
    ],
    needs: ["python3", "--version"],
    run: ["python3", "run.py"],
  },
  {
    language: "go",
    file: "sample.go",
    driver: [
      "run.go",
      'package main\n\nimport (\n\t"fmt"\n\t"os"\n)\n\nfunc main() { fmt.Println(isSameBrowser(os.Args[1], os.Args[2])) }',
    ],
    needs: ["go", "version"],
    run: ["go", "run", "sample.go", "run.go"],
  },
  {
    language: "java",
    file: "ReturnCode.java",
    driver: [
      "Run.java",
      "class Run {\n  public static void main(String[] args) throws Exception {\n    System.out.println(ReturnCode.isSameBrowser(args[0], args[1]));\n  }\n}",
    ],
    needs: ["javac", "-version"],
    run: ["sh", "-c", 'javac ReturnCode.java Run.java && java Run "$@"', "run"],
  },
  {
    language: "php",
    file: "sample.php",
    driver: [
      "run.php",
      '<?php\nrequire "sample.php";\necho is_same_browser($argv[1], $argv[2]) ? "true" : "false", "\\n";',
    ],
    needs: ["php", "--version"],
    run: ["php", "run.php"],
  },
  {
    language: "ruby",
    file: "sample.rb",
    driver: ["run.rb", 'require_relative "sample"\nputs same_browser?(ARGV[0], ARGV[1])'],
    needs: ["ruby", "--version"],
    run: ["ruby", "run.rb"],
  },
] as const;

test("the samples that compare the return code accept the right one and nothing else, in every language of this machine", (context) => {
  const code = "EXAMPLEexampleEXAMPLEexampleEXAMPLEexample1";
  const hash = createHash("sha256").update(code).digest("hex");
  const notRun: string[] = [];
  for (const { language, file, driver, needs, run } of samples) {
    const [, sample] =
      new RegExp(`\`\`\`${language}\\n([^\`]*same_?browser[^\`]*)\`\`\``, "i").exec(guide) ?? [];
    assert.ok(sample, `the guide has a sample in ${language}`);
    const start = ([command = "", ...args]: readonly string[], cwd?: string) =>
      spawnSync(command, args, { cwd, encoding: "utf8" });
    if (start(needs).status !== 0) {
      notRun.push(language);
      continue;
    }
    const folder = mkdtempSync(join(tmpdir(), "assay-sample-"));
    try {
      writeFileSync(join(folder, file), sample);
      writeFileSync(join(folder, driver[0]), driver[1]);
      const answer = (given: string) => {
        const { stdout, stderr } = start([...run, given, hash], folder);
        assert.match(stdout, /^(true|false)\s*$/i, stderr);
        return stdout.trim().toLowerCase() === "true";
      };
      assert.equal(answer(code), true, language);
      for (const wrong of ["", `${code}1`, code.toLowerCase(), hash])
        assert.equal(answer(wrong), false, language);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  if (notRun.length > 0) context.diagnostic(`not run here: ${notRun.join(", ")}`);
});
