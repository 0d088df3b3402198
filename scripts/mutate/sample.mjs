// Plugins of StrykerJS that leave something out. `sample` leaves out a share of the functions, so that a run over a large module ends; which
// functions stay depends on their text and on the seed alone, and a run can be repeated. `words` leaves out what only people read.
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

const levels = ["debug", "info", "warn", "error"];

function isLogCall({ callee }) {
  if (callee.type !== "MemberExpression" || !levels.includes(callee.property.name)) return false;
  return (callee.object.property ?? callee.object).name === "log";
}

/** The message and the hint of an error; its code, status and headers are what programs react to. */
function isWording(path) {
  return (
    path.isObjectExpression() &&
    path.parentPath.isNewExpression() &&
    path.parent.callee.name === "ApiError" &&
    path.node.properties.every(({ key }) => key?.name === "message" || key?.name === "hint")
  );
}

const words = {
  shouldIgnore(path) {
    const called = path.isExpressionStatement() ? path.node.expression : path.node;
    if (called.type === "CallExpression" && isLogCall(called)) return "a line of the log";
    return isWording(path) ? "the words of an error" : undefined;
  },
};

export const strykerPlugins = [
  { kind: "Ignore", name: "sample", value: sample },
  { kind: "Ignore", name: "words", value: words },
];
