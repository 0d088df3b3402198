import assert from "node:assert/strict";
import test from "node:test";
import { type Command, CommandError, helpOf, runCommand } from "./command.ts";
import { columnsOf, styleOf, table } from "./style.ts";

const terminal = { isTTY: true, columns: 40 };
const esc = "\u001b[";

test("colours and ticks are for a terminal, and NO_COLOR, FORCE_COLOR and TERM=dumb are heeded", () => {
  const marked = (shown: object, env: NodeJS.ProcessEnv) => styleOf(shown, {}, env).mark("ok");
  assert.equal(marked(terminal, {}), `${esc}32m✓${esc}0m`);
  assert.equal(marked({}, {}), "[ok]  ");
  assert.equal(marked(terminal, { NO_COLOR: "1" }), "✓");
  assert.equal(marked(terminal, { TERM: "dumb" }), "[ok]  ");
  assert.equal(marked({}, { FORCE_COLOR: "1" }), `${esc}32m✓${esc}0m`);
  assert.equal(marked({}, { FORCE_COLOR: "1", NO_COLOR: "1" }), "[ok]  ");
  assert.equal(marked(terminal, { FORCE_COLOR: "0" }), "✓");
});

test("a table fits the terminal, counts wide letters, and is whole and without a heading elsewhere", () => {
  const rows = [
    ["1", "a name that is much longer than any terminal of forty columns has room for", "live"],
    ["22", "東京", "sandbox"],
    ["3", `${esc}31mred`, "live"],
  ];
  const shown = table(["id", "name", "environment"], rows, styleOf(terminal, {}, { NO_COLOR: "1" }));
  assert.equal(shown.length, 4);
  for (const line of shown) assert.ok(columnsOf(line) <= 40, line);
  assert.match(shown[1] ?? "", /^1 {3}a name .*… {2}live$/);
  const at = (line: string | undefined, text: string) => columnsOf((line ?? "").split(text)[0] ?? "");
  assert.equal(at(shown[2], "sandbox"), at(shown[1], "live"));
  assert.ok(!shown.join("").includes("\u001b"), "what is in a row does not steer the terminal");
  const plain = table(["id", "name", "environment"], rows, styleOf({}, {}, {}));
  assert.equal(plain.length, 3);
  assert.ok(plain[0]?.includes(rows[0]?.[1] ?? "?"));
});

const run = async () => 0;
const commands: Command[] = [
  { name: "trust list", about: "List. More.", run },
  {
    name: "trust import",
    about: "Import.",
    positionals: "FILE",
    options: { root: { type: "string", about: "Roots." } },
    run,
  },
  {
    name: "start",
    about: "Start.",
    options: { role: { type: "string", about: "Role.", values: ["all", "api", "worker"] } },
    run,
  },
];

test("who mistypes a command, an option or a value is told what was probably meant", async () => {
  const said = async (...argv: string[]) => {
    const error = await runCommand(commands, argv, () => {}).catch((caught: unknown) => caught);
    assert.ok(error instanceof CommandError, argv.join(" "));
    return error.message;
  };
  assert.match(await said("trust", "lst"), /no command "trust lst"\. Did you mean `assay trust list`\?/);
  assert.match(await said("strat"), /Did you mean `assay start`\?/);
  assert.match(await said("start", "--rol", "api"), /no option --rol\. Did you mean --role\?/);
  assert.match(
    await said("start", "--role", "wroker"),
    /must be one of: all, api, worker\. Did you mean worker\?/,
  );
  const unlike = await said("dance");
  assert.ok(!unlike.includes("Did you mean") && unlike.includes("trust import"), unlike);
});

test("the first word of a group shows the group, and help has examples and exit codes", async () => {
  const lines: string[] = [];
  assert.equal(await runCommand(commands, ["trust"], (line) => lines.push(line)), 2);
  assert.match(lines.join("\n"), /trust list[\s\S]*trust import/);
  assert.ok(!lines.join("\n").includes("  start"));
  const [list] = commands;
  assert.ok(list);
  const help = helpOf({ ...list, examples: ["trust list"], exitCodes: { 3: "Refused." } });
  assert.match(help, /Examples:\n {2}assay trust list/);
  assert.match(help, /Ends with:\n {2}0 +Done\.[\s\S]*3 +Refused\./);
});

test("progress is drawn beside the lines on a terminal, only after a second, and wiped away", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  const drawn: string[] = [];
  const style = styleOf({}, { isTTY: true, write: (text: string) => drawn.push(text) }, {});
  await style.progress("Quick…", async () => t.mock.timers.tick(900));
  assert.deepEqual(drawn, []);
  await style.progress("Slow…", async () => t.mock.timers.tick(1300));
  assert.match(drawn.join(""), /Slow…/);
  assert.equal(drawn.at(-1), `\r${esc}K`);
});
