import { type OperatorConcern, operatorConcerns } from "@assay/contract/operator";
import type { Alarm } from "../apps/server/src/operations/operator/concern.ts";
import { concerns } from "../apps/server/src/operations/operator/concerns.ts";

type Row = { id: string; state: string; todo: unknown; says: string | null; alarm: Alarm | null };

const rows: Row[] = Object.values(concerns).flatMap((subject) =>
  Object.entries<Omit<Row, "id">>(subject.concerns).map(([id, concern]) => ({ id, ...concern })),
);

export function describePageConcerns(): string {
  const words = operatorConcerns.map((id: OperatorConcern) => {
    const { state, says, todo } = rows.find((row) => row.id === id) ?? {};
    return [id, { isGrave: state === "problem", says, todo }];
  });
  return `${JSON.stringify(Object.fromEntries(words), null, 2)}\n`;
}

const alarms = rows.flatMap(({ todo, alarm }) => (alarm === null ? [] : [{ todo, ...alarm }]));

/** The service serves its runbooks. Without the label the address is relative, but still names the page. */
const address = "{{ $externalLabels.assay_url }}";

/** The rules for Prometheus. JSON strings are valid YAML. */
export function describeAlarmRules(): string {
  const rules = alarms.map(({ name, severity, lasting, runbook, expr, summary }) =>
    [
      `      - alert: ${name}`,
      `        expr: ${JSON.stringify(expr)}`,
      ...(lasting === "0m" ? [] : [`        for: ${lasting}`]),
      `        labels: { severity: ${severity} }`,
      "        annotations:",
      `          summary: ${JSON.stringify(summary)}`,
      `          runbook_url: "${address}/docs/runbooks/${runbook}"`,
    ].join("\n"),
  );
  return `# Alarms for Assay, generated from apps/server/src/operations/operator/concerns.ts. What to do about each: docs/monitor.md, "Alarms".
#
# \`severity: page\` needs action now, \`ticket\` can wait until the morning. Without \`honor_labels\`, Prometheus
# stores our label \`job\` (a background job) as \`exported_job\`, the name in these rules. Set the external label
# \`assay_url\` of Prometheus to PUBLIC_URL, and each alarm links to its runbook (scrape.yaml).
groups:
  - name: assay
    rules:
${rules.join("\n")}
`;
}

/** The table of the guide for operators. */
export function describeAlarms(): string {
  const lines = alarms.map(
    ({ name, severity, runbook, todo }) =>
      `| [\`${name}\`](runbooks/${runbook}.md) | ${severity} | ${todo} |`,
  );
  return ["| Alarm | Severity | What to do |", "| --- | --- | --- |", ...lines].join("\n");
}
