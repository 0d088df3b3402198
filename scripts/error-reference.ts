import { errorCodes, errorTable } from "@assay/contract/errors";
import { errorsOf, type RouteDefinition } from "@assay/contract/route";

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
    "## Find a request that failed",
    "",
    "Every answer carries the header `X-Request-Id`. Open Integration → API log in the dashboard and paste the id. The log has the last seven days of requests with an API key, also with a disabled one. It shows method, path, status, code and time. An entry appears about a second after the answer. Bodies and query strings are never kept. Requests with a deleted key are not in the log. To correlate an entry with your logs, send an `X-Request-Id` of 8 to 64 letters, digits, `_` or `-`. Do not put personal data into it.",
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
