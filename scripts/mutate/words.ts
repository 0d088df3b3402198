// Leaves out what only people read: no line of the log and no wording of an error decides anything.

/** The part of Babel's path that this file needs. */
type Path = {
  node: { type: string; expression?: Call; properties?: { key?: { name?: string } }[] };
  parent: { type: string; callee?: { name?: string } };
};
type Call = {
  type: string;
  callee?: { type: string; object?: Named & { property?: Named }; property?: Named };
};
type Named = { name?: string };

const levels = ["debug", "info", "warn", "error"];

function isLogCall({ type, callee }: Call): boolean {
  if (type !== "CallExpression" || callee?.type !== "MemberExpression") return false;
  const logger = callee.object?.property ?? callee.object;
  return logger?.name === "log" && levels.includes(callee.property?.name ?? "");
}

/** The message and the hint of an error; its code, status and headers are what programs react to. */
function isWording({ node, parent }: Path): boolean {
  return (
    node.type === "ObjectExpression" &&
    parent.type === "NewExpression" &&
    parent.callee?.name === "ApiError" &&
    (node.properties ?? []).every(({ key }) => key?.name === "message" || key?.name === "hint")
  );
}

export const words = {
  shouldIgnore(path: Path): string | undefined {
    const { node } = path;
    if (isLogCall(node.type === "ExpressionStatement" ? (node.expression ?? node) : node))
      return "a line of the log";
    return isWording(path) ? "the words of an error" : undefined;
  },
};
