import assert from "node:assert/strict";
import test from "node:test";
import { createLog } from "./log.ts";

test("a line has the fields that it was given, and one that is not documented does not compile", () => {
  const lines: string[] = [];
  const now = () => new Date("2026-03-01T09:30:00.000Z");
  const log = createLog({ level: "info", write: (line) => lines.push(line), now });
  log.debug("too little", { job: "x" });
  log.info("done", { job: "send-mails", attempt: 2 });
  assert.deepEqual(
    lines.map((line) => JSON.parse(line)),
    [{ time: "2026-03-01T09:30:00.000Z", level: "info", message: "done", job: "send-mails", attempt: 2 }],
  );
  const others = { email: "ada@example.com" };
  // @ts-expect-error: not in the table of fields.
  log.debug("by name", { email: "ada@example.com" });
  // @ts-expect-error: nor in another object.
  log.debug("spread", { job: "x", ...others });
});

test("no line holds the id of a session, which opens the person's page; lines about one session have one mark", () => {
  const [one, other] = [`vs_${"a".repeat(64)}`, `vs_${"b".repeat(64)}`];
  for (const pretty of [false, true]) {
    const lines: string[] = [];
    const log = createLog({
      level: "info",
      write: (line) => lines.push(line),
      now: () => new Date("2026-03-01T09:30:00Z"),
      pretty,
    });
    log.info("set aside", { rowId: one });
    log.warn(`could not read /verify/${one}`, { reason: `no row ${one} or ${other}` });
    const text = lines.join("");
    assert.ok(!text.includes(one.slice(0, 12)) && !text.includes(other.slice(0, 12)), text);
    const marks = text.match(/vs#[0-9a-f]{12}/g) ?? [];
    assert.equal(marks.length, 4);
    assert.equal(new Set(marks).size, 2);
  }
});
