import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultMatchDistance } from "@assay/face/match";
import { loadConfig } from "../../load-config.ts";
import { ConfigError } from "../../settings/config-error.ts";
import { faceJudgeSettings } from "./face-settings.ts";
import { poolLimits } from "./pool-limits.ts";

test("the face settings are the documented ones when nothing is set", () => {
  const settings = faceJudgeSettings(loadConfig({}));
  assert.equal(settings.matchDistance, defaultMatchDistance);
  assert.equal(settings.colours, "risk");
  assert.equal(settings.pool?.modelsModule, undefined);
  assert.equal(settings.pool?.workers, poolLimits.workers);
});

test("the face settings carry the operator's distance, workers, models and detector", () => {
  const settings = faceJudgeSettings(
    loadConfig({
      FACE_MATCH_DISTANCE: "0.45",
      FACE_WORKERS: "3",
      FACE_COLOURS: "require",
      FACE_MODELS_FILE: "/opt/models/face models.mjs",
      FACE_ATTACK_DETECTOR: "/opt/detector/pad.mjs",
      FACE_ATTACK_POLICY: "require",
    }),
  );
  assert.deepEqual(settings, {
    matchDistance: 0.45,
    colours: "require",
    detector: "require",
    pool: {
      workers: 3,
      modelsModule: "file:///opt/models/face%20models.mjs",
      detectorModule: "file:///opt/detector/pad.mjs",
      readableFolders: ["/opt/models", "/opt/detector"],
    },
  });
});

test("the face settings are refused when a distance is no number", () => {
  for (const bad of ["-1", "0.5.1", "1e-3", "3", "half"])
    assert.throws(() => loadConfig({ FACE_MATCH_DISTANCE: bad }), ConfigError, bad);
});
