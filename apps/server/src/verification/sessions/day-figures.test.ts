import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import {
  bucketOfSeconds,
  daysBetween,
  durationClasses,
  type FigureRow,
  funnelOf,
  medianSeconds,
  quantileSeconds,
  secondsOfBucket,
  stageOf,
  summarize,
} from "./day-figures.ts";

const seconds = fc.double({ min: 1, max: 3600, noNaN: true });

test("the middle of a bucket is within 2 percent of every duration in it", () => {
  fc.assert(
    fc.property(seconds, (duration) => {
      const shown = secondsOfBucket(bucketOfSeconds(duration));
      // A tenth of a second is lost to rounding for reading.
      assert.ok(Math.abs(shown - duration) <= duration * 0.02 + 0.05 + 1e-6, `${duration} became ${shown}`);
    }),
    { numRuns: 1000 },
  );
});

test("the median of buckets is within 2 percent of the median of the durations, however they are split up", () => {
  fc.assert(
    fc.property(
      fc.array(seconds, { minLength: 1, maxLength: 60 }),
      fc.integer({ min: 1, max: 7 }),
      (all, parts) => {
        const rows: FigureRow[] = Array.from({ length: parts }, () => ({
          day: "2026-03-01",
          counts: {},
          failureCodes: {},
          secondsBuckets: {},
          stages: {},
          methods: {},
        }));
        all.forEach((duration, i) => {
          const buckets = rows[i % parts]?.secondsBuckets ?? {};
          const bucket = String(bucketOfSeconds(duration));
          buckets[bucket] = (buckets[bucket] ?? 0) + 1;
        });
        const exact = [...all].sort((a, b) => a - b)[Math.ceil(all.length / 2) - 1] ?? 0;
        const shown = summarize(["2026-03-01"], rows).medianSecondsToComplete ?? 0;
        assert.ok(Math.abs(shown - exact) <= exact * 0.02 + 0.05 + 1e-6, `${exact} became ${shown}`);
      },
    ),
  );
});

test("no durations, no median; what was taken back does not count", () => {
  assert.equal(medianSeconds(new Map()), null);
  assert.equal(medianSeconds(new Map([[3, 0]])), null);
  assert.equal(
    medianSeconds(
      new Map([
        [3, 0],
        [40, 1],
      ]),
    ),
    secondsOfBucket(40),
  );
  assert.equal(secondsOfBucket(bucketOfSeconds(0)), 1);
});

test("every day of the period is there, in order, also across leap days and years", () => {
  assert.deepEqual(daysBetween("2024-02-28", "2024-03-01"), ["2024-02-28", "2024-02-29", "2024-03-01"]);
  assert.deepEqual(daysBetween("2025-12-31", "2026-01-01"), ["2025-12-31", "2026-01-01"]);
  assert.equal(daysBetween("2024-01-01", "2024-12-31").length, 366);
});

test("totals are the sums of the days, and the success rate is over what has ended", () => {
  const row = (day: string, counts: FigureRow["counts"]): FigureRow => ({
    day,
    counts,
    failureCodes: {},
    secondsBuckets: {},
    stages: {},
    methods: {},
  });
  const overview = summarize(
    ["2026-03-01", "2026-03-02"],
    [
      row("2026-03-01", { succeeded: 2, failed: 1 }),
      row("2026-03-01", { expired: 3 }),
      row("2026-03-02", { created: 5, in_progress: 1, cancelled: 2 }),
    ],
  );
  assert.deepEqual(overview.totals, {
    total: 14,
    created: 5,
    in_progress: 1,
    succeeded: 2,
    failed: 1,
    expired: 3,
    cancelled: 2,
  });
  assert.equal(overview.successRate, 0.25);
  assert.deepEqual(
    overview.days.map((day) => [day.day, day.total]),
    [
      ["2026-03-01", 6],
      ["2026-03-02", 8],
    ],
  );
  assert.equal(summarize(["2026-03-01"], [row("2026-03-01", { created: 1 })]).successRate, null);
});

test("a funnel counts at each stage the sessions that got at least that far", () => {
  const counted = { created: 1, opened: 2, chip_read: 3, succeeded: 4 };
  assert.deepEqual(funnelOf(counted, {}), {
    created: 10,
    opened: 9,
    agreed: 7,
    chip_read: 7,
    face_captured: 4,
    wallet_presented: 0,
    succeeded: 4,
  });
  assert.deepEqual(
    funnelOf(counted, { document_chip: 3 }),
    funnelOf(counted, {}),
    "one was counted before methods",
  );
  const never = funnelOf({ succeeded: -1, opened: 1 }, {});
  assert.equal(never.created, 1, "what was never counted is not taken away");
});

test("a stage of a kind includes the successes of that kind and not those of another", () => {
  const counted = { agreed: 1, chip_read: 2, wallet_presented: 5, face_captured: 3, succeeded: 10 };
  const funnel = funnelOf(counted, { document_chip: 3, wallet_pid: 2, wallet_mdl: 1 });
  assert.deepEqual(funnel, {
    created: 21,
    opened: 21,
    agreed: 21,
    // Four of the ten have no method: they are from before.
    chip_read: 2 + 3 + 7,
    face_captured: 3 + 7,
    wallet_presented: 5 + 3,
    succeeded: 10,
  });
});

test("the stages of their kind show how far steps led: a chip by its pass, a face by its try", () => {
  const passedAt = "2026-03-01T10:00:00.000Z";
  assert.equal(stageOf({}), null);
  assert.equal(stageOf({ chip: { tries: 2 } }), null);
  assert.equal(stageOf({ chip: { tries: 1, passed_at: passedAt } }), "chip_read");
  assert.equal(stageOf({ chip: { tries: 1, passed_at: passedAt }, face: { tries: 1 } }), "face_captured");
  assert.equal(stageOf({ wallet: { tries: 1 } }), "wallet_presented");
});

test("every duration is in one class, and nine of ten are within the ninetieth percentile", () => {
  const buckets = new Map(
    Array.from({ length: 10 }, (_, minute): [number, number] => [bucketOfSeconds(60 * (minute + 1)), 1]),
  );
  const classes = durationClasses(buckets, [90, 330]);
  assert.deepEqual(
    classes.map(({ count }) => count),
    [1, 4, 5],
  );
  const shown = quantileSeconds(buckets, 0.9) ?? 0;
  assert.ok(Math.abs(shown - 540) <= 11, String(shown));
});

test("an overview adds up durations, stages and failure codes of its days, and leaves out other days", () => {
  const row = (day: string, more: Partial<FigureRow>): FigureRow => ({
    ...{ day, counts: {}, failureCodes: {}, secondsBuckets: {}, stages: {}, methods: {} },
    ...more,
  });
  const minute = String(bucketOfSeconds(45));
  const overview = summarize(
    ["2026-03-01", "2026-03-02"],
    [
      row("2026-03-01", {
        secondsBuckets: { [minute]: 2 },
        stages: { opened: 1 },
        failureCodes: { document_expired: 1 },
      }),
      row("2026-03-01", {
        secondsBuckets: { [minute]: 1 },
        stages: { opened: 2 },
        failureCodes: { document_expired: 2 },
      }),
      row("2026-03-03", { counts: { failed: 9 }, secondsBuckets: { [minute]: 9 }, stages: { opened: 9 } }),
    ],
  );
  assert.equal(overview.totals.total, 0);
  assert.deepEqual(overview.failureCodes, { document_expired: 3 });
  assert.deepEqual([overview.funnel.created, overview.funnel.opened, overview.funnel.agreed], [3, 3, 0]);
  assert.deepEqual(
    overview.durations.map(({ upToSeconds, count }) => [upToSeconds, count]),
    [
      [30, 0],
      [60, 3],
      [120, 0],
      [300, 0],
      [600, 0],
      [1800, 0],
      [null, 0],
    ],
  );
  const middle = secondsOfBucket(Number(minute));
  assert.deepEqual([overview.medianSecondsToComplete, overview.ninetiethSecondsToComplete], [middle, middle]);
  assert.deepEqual(
    overview.days.map(({ medianSeconds }) => medianSeconds),
    [middle, null],
  );
});

test("the success rate has four decimals", () => {
  const day = "2026-03-01";
  const counts = { succeeded: 1, failed: 2 };
  const row = { day, counts, failureCodes: {}, secondsBuckets: {}, stages: {}, methods: {} };
  assert.equal(summarize([day], [row]).successRate, 0.3333);
});

test("rows of one day add up in its counts, and methods over all days; what was only taken back is not shown", () => {
  const row = (day: string, succeeded: number, methods: FigureRow["methods"]): FigureRow => ({
    day,
    counts: { succeeded, failed: 1 },
    failureCodes: {},
    secondsBuckets: {},
    stages: {},
    methods,
  });
  const found = summarize(
    ["2026-03-01", "2026-03-02"],
    [
      row("2026-03-01", 2, { document_chip: 2, wallet_pid: -1 }),
      row("2026-03-01", 3, { document_chip: 1, wallet_mdl: 2 }),
      row("2026-03-02", 1, { document_chip: -1, wallet_age: 0 }),
    ],
  );
  assert.deepEqual(
    found.days.map(({ succeeded, failed, total }) => [succeeded, failed, total]),
    [
      [5, 2, 7],
      [1, 1, 2],
    ],
  );
  assert.deepEqual(found.methods, { document_chip: 2, wallet_mdl: 2 });
});

test("a duration that is as long as a bound is within it", () => {
  const bound = secondsOfBucket(80);
  assert.deepEqual(durationClasses(new Map([[80, 3]]), [bound]), [
    { upToSeconds: bound, count: 3 },
    { upToSeconds: null, count: 0 },
  ]);
});
