import { errorCodes, errorTable } from "./errors.ts";
import { errorsOf, type RouteDefinition } from "./route.ts";

/** Statuses and codes as the page that every error's `docs` link leads to. */
export function describeErrors(routes: readonly RouteDefinition[]): string {
  const lines = [
    "# Error codes",
    "",
    "Every code that an answer can carry, what it means and what to do about it.",
    "",
    'Every failure is `{ "data": null, "error": { "code", "message", "hint", "docs" } }`; lists add `pagination`. Match on `code`: it is stable. `message` and `hint` are for people and may change.',
    "",
    "4xx answers are permanent: the request must change. 5xx answers and lost connections are safe to repeat for GET, DELETE and cancel, and for a POST with an `Idempotency-Key`.",
    "",
  ];
  const byStatus = Map.groupBy(errorCodes, (code) => errorTable[code].status);
  for (const status of [...byStatus.keys()].sort((a, b) => a - b)) {
    lines.push(`## Status ${status}`, "");
    for (const code of byStatus.get(status) ?? []) {
      const { message, hint } = errorTable[code];
      lines.push(`### ${code}`, "", message, "", `What to do: ${hint}`, "");
      const users = routes.filter((route) => errorsOf(route).includes(code));
      if (users.length > 0 && users.length <= 12) {
        lines.push(`Raised by: ${users.map((route) => `\`${route.method} ${route.path}\``).join(", ")}`, "");
      }
    }
  }
  return lines.join("\n");
}
