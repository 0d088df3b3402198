// A plugin of StrykerJS that leaves out a share of the functions, so that a run over a large module ends. Which functions stay depends on
// their text and on the seed alone: a run can be repeated.
import { createHash } from "node:crypto";

const percent = Number(process.env.ASSAY_MUTATE_PERCENT ?? "100");
const seed = process.env.ASSAY_MUTATE_SEED ?? "1";

const sample = {
  shouldIgnore(path) {
    const isOutermost = path.isFunction() && path.getFunctionParent() === null;
    if (!isOutermost || percent >= 100) return undefined;
    const text = String(path.hub?.getCode?.() ?? "").slice(path.node.start, path.node.end) || path.toString();
    const drawn = createHash("sha256").update(`${seed}\n${text}`).digest().readUInt32BE(0) % 100;
    return drawn < percent ? undefined : "not in the sample";
  },
};

export const strykerPlugins = [{ kind: "Ignore", name: "sample", value: sample }];
