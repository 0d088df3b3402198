import assert from "node:assert/strict";
import test from "node:test";
import { Metrics } from "../../platform/lib/metrics.ts";
import { type JobSummary, type ProcessReport, readReport, summarizeJobs } from "./process-report.ts";
import { readFaceFigures } from "./process-reporter.ts";

const at = (seconds: number) => new Date(Date.UTC(2026, 2, 1, 9, 0, seconds));
const textAt = (seconds: number) => at(seconds).toISOString();

type Run = Partial<ProcessReport["jobs"][number]>;

/** A process that started at 0 and reports at `seen` about its one job, which runs every 10 seconds. */
function telling(seen: number, run: Run) {
  const job = {
    name: "send-mails",
    everyMs: 10_000,
    runningSince: null,
    lastEndedAt: null,
    lastFailedAt: null,
    ...run,
  };
  return {
    name: "one",
    role: "all" as const,
    version: "1",
    startedAt: at(0),
    seenAt: at(seen),
    report: { problem: null, isOverloaded: false, face: null, jobs: [job] },
  };
}

const cases: readonly [string, readonly ReturnType<typeof telling>[], Partial<JobSummary>][] = [
  ["has not run yet in a process that was just started", [telling(69, {})], { state: "not_run_yet" }],
  ["is late when its first run is", [telling(70, {})], { state: "late", lateSeconds: 60 }],
  [
    "waits after a run, and is not late a second before the minute",
    [telling(169, { lastEndedAt: textAt(100) })],
    { state: "waiting", lateSeconds: 0, lastEndedAt: at(100) },
  ],
  [
    "is late a minute after it should have run",
    [telling(170, { lastEndedAt: textAt(100) })],
    { state: "late" },
  ],
  [
    "is not late while one process keeps it going",
    [telling(500, { lastEndedAt: textAt(100) }), telling(500, { lastEndedAt: textAt(495) })],
    { state: "waiting", lastEndedAt: at(495) },
  ],
  [
    "is not late while a long run is under way",
    [telling(500, { lastEndedAt: textAt(100), runningSince: textAt(110) })],
    { state: "running", runningSince: at(110), lateSeconds: 0 },
  ],
  [
    "fails when its last run failed",
    [telling(120, { lastEndedAt: textAt(100), lastFailedAt: textAt(110) })],
    { state: "failing", lastFailedAt: at(110) },
  ],
  [
    "fails no more when another process has done it since",
    [telling(120, { lastFailedAt: textAt(110) }), telling(120, { lastEndedAt: textAt(115) })],
    { state: "waiting" },
  ],
];

for (const [sentence, processes, expected] of cases) {
  test(`a job ${sentence}`, () => {
    const [job] = summarizeJobs(processes);
    assert.ok(job);
    for (const [name, value] of Object.entries(expected))
      assert.deepEqual(job[name as keyof JobSummary], value, name);
  });
}

test("what another version of the service tells is left out, and not taken for something else", () => {
  const { report } = telling(1, {});
  assert.deepEqual(readReport(JSON.parse(JSON.stringify(report))), report);
  assert.equal(readReport({ ...report, jobs: "none" }), null);
  assert.equal(readReport({ ...report, face: { waiting: "many" } }), null);
  assert.equal(readReport({}), null);
});

test("the figures of the face queue come from the metrics that are counted anyway", () => {
  const metrics = new Metrics();
  assert.equal(readFaceFigures(metrics, 2), null, "nobody judges here");
  metrics.gaugeOf("assay_face_queue", "", () => 3);
  assert.deepEqual(readFaceFigures(metrics, 2), {
    workers: 2,
    waiting: 3,
    judged: 0,
    faults: 0,
    meanSeconds: null,
    nineOfTenWithinSeconds: null,
  });
  const count = metrics.counter("assay_face_judgements_total", "");
  const observe = metrics.histogram("assay_face_judgement_seconds", "", [1, 2, 4]);
  for (let i = 0; i < 9; i++) {
    observe(1.5);
    count({ outcome: "passed" });
  }
  observe(6.5);
  count({ outcome: "fault" });
  const figures = readFaceFigures(metrics, 2);
  assert.deepEqual([figures?.judged, figures?.faults, figures?.nineOfTenWithinSeconds], [10, 1, 2]);
  assert.equal(figures?.meanSeconds, 2);
  observe(6.5);
  assert.equal(readFaceFigures(metrics, 2)?.nineOfTenWithinSeconds, null, "longer than the longest class");
});
