import { spawnSync } from "node:child_process";
import test from "node:test";
import { checkSample, samples, startSampleReceiver } from "../../support/webhook-samples.ts";

const receiver = await startSampleReceiver();

for (const sample of samples) {
  const lacking = sample.needs.find(
    ([command = "", ...args]) => spawnSync(command, args, { stdio: "ignore" }).status !== 0,
  );
  test(
    `the sample in ${sample.name} opens what the service sends, and refuses a body that was changed`,
    {
      skip: lacking === undefined ? false : `${lacking.join(" ")} does not work on this machine`,
    },
    () => checkSample(sample, receiver),
  );
}
