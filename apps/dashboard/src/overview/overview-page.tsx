import { type SessionsOverview, sessionsOverview } from "@assay/contract/analytics";
import { useState } from "react";
import type { Static } from "typebox";
import { useData } from "../api/queries.ts";
import { useMay, usePlace } from "../shell/organization-context.ts";
import { LinkButton } from "../ui/button.tsx";
import { Select } from "../ui/field.tsx";
import { inWords } from "../ui/filters.tsx";
import { Card, Heading, Loaded } from "../ui/page.tsx";
import { Empty, Table } from "../ui/table.tsx";
import { GettingStarted } from "./getting-started.tsx";

type Overview = Static<typeof SessionsOverview>;

const spans = [
  { value: "7", label: "Last 7 days" },
  { value: "30", label: "Last 30 days" },
  { value: "90", label: "Last 90 days" },
];

function daysBefore(day: string, days: number): string {
  return new Date(Date.parse(day) - days * 86_400_000).toISOString().slice(0, 10);
}

export function OverviewPage() {
  const { environment } = usePlace();
  const mayCreate = useMay("admin");
  const [days, setDays] = useState("30");
  // Which day is today depends on the service's clock: without dates it answers with the last 30 days.
  const lastMonth = useData(sessionsOverview, {});
  const today = lastMonth.data?.data.to ?? "";
  const other = useData(
    sessionsOverview,
    { query: { from: daysBefore(today || "2000-01-01", Number(days) - 1) } },
    { enabled: today !== "" && days !== "30" },
  );
  const overview = days === "30" ? lastMonth : other;
  return (
    <>
      <Heading title="Overview">
        {mayCreate ? (
          <LinkButton look="primary" to="/dashboard/sessions/new">
            Create a session
          </LinkButton>
        ) : null}
      </Heading>
      {mayCreate && environment === "sandbox" ? <GettingStarted /> : null}
      {lastMonth.data?.data.totals.total === 0 && days === "30" ? null : (
        <div className="mb-6 max-w-60">
          <Select label="Period" name="days" options={spans} value={days} onChange={setDays} />
        </div>
      )}
      <Loaded query={overview}>
        {({ data }) =>
          data.totals.total > 0 ? (
            <Figures overview={data} />
          ) : (
            <Empty>
              {environment === "sandbox"
                ? "Figures appear here with the first session."
                : "No session was created in this time."}
            </Empty>
          )
        }
      </Loaded>
    </>
  );
}

function Figures({ overview }: { overview: Overview }) {
  const { totals } = overview;
  const ended = totals.succeeded + totals.failed + totals.expired + totals.cancelled;
  const reasons = Object.entries(overview.failure_codes).sort(([, a], [, b]) => (b ?? 0) - (a ?? 0));
  return (
    <>
      <dl className="mb-6 grid gap-3 grid-cols-2 xl:grid-cols-4">
        <Figure
          name={overview.sandbox ? "Test sessions" : "Sessions"}
          value={totals.total.toLocaleString()}
        />
        <Figure
          name="Success rate"
          value={
            overview.success_rate === null
              ? "–"
              : overview.success_rate.toLocaleString(undefined, {
                  style: "percent",
                  maximumFractionDigits: 1,
                })
          }
          detail={`${totals.succeeded.toLocaleString()} of ${ended.toLocaleString()} that ended`}
        />
        <Figure
          name="Median time to verify"
          value={
            overview.median_seconds_to_complete === null ? "–" : duration(overview.median_seconds_to_complete)
          }
        />
        <Figure name="Open now" value={(totals.created + totals.in_progress).toLocaleString()} />
      </dl>
      <Card title="Sessions by day">
        <Chart overview={overview} />
      </Card>
      <Card title="How sessions ended">
        <Table
          caption="How sessions ended"
          rowKey={([name]) => name}
          rows={(["succeeded", "failed", "expired", "cancelled"] as const).map(
            (status) => [status, totals[status]] as const,
          )}
          columns={[
            { header: "Outcome", cell: ([status]) => inWords(status) },
            { header: "Sessions", cell: ([, count]) => count.toLocaleString() },
          ]}
        />
      </Card>
      {reasons.length === 0 ? null : (
        <Card title="Why sessions failed">
          <Table
            caption="Why sessions failed"
            rowKey={([code]) => code}
            rows={reasons}
            columns={[
              { header: "Reason", cell: ([code]) => inWords(code) },
              { header: "Sessions", cell: ([, count]) => (count ?? 0).toLocaleString() },
            ]}
          />
        </Card>
      )}
    </>
  );
}

function Figure(props: { name: string; value: string; detail?: string }) {
  return (
    <div className="rounded-card border border-line bg-card p-4">
      <dt className="text-small text-muted">{props.name}</dt>
      <dd className="text-2xl font-semibold">
        {props.value}
        {props.detail ? (
          <span className="block text-small font-normal text-muted">{props.detail}</span>
        ) : null}
      </dd>
    </div>
  );
}

function duration(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

const height = 120;
const step = 12;

/** Bars for the eye; the same figures as a table for everybody. */
function Chart({ overview }: { overview: Overview }) {
  const { days, totals } = overview;
  const most = Math.max(1, ...days.map((day) => day.total));
  const scale = (count: number) => (count / most) * height;
  return (
    <>
      <svg
        role="img"
        aria-label={`${totals.total} sessions from ${overview.from} to ${overview.to}, at most ${most} on a day. The table below has the figures.`}
        viewBox={`0 0 ${days.length * step} ${height}`}
        preserveAspectRatio="none"
        className="h-40 w-full"
      >
        {days.map((day, index) => (
          <g key={day.date}>
            <rect x={index * step + 1.5} width={step - 3} y={height - 1} height={1} className="fill-line" />
            <rect
              x={index * step + 1.5}
              width={step - 3}
              y={height - scale(day.total)}
              height={scale(day.total)}
              className="fill-field"
            />
            <rect
              x={index * step + 1.5}
              width={step - 3}
              y={height - scale(day.succeeded)}
              height={scale(day.succeeded)}
              className="fill-accent"
            />
          </g>
        ))}
      </svg>
      <div className="mt-1 flex justify-between text-small text-muted">
        <span>{overview.from}</span>
        <span>{overview.to}</span>
      </div>
      <p className="mt-3 flex flex-wrap gap-x-5 gap-y-1 text-small">
        <span className="flex items-center gap-2">
          <span aria-hidden="true" className="inline-block size-3 rounded-sm bg-accent" />
          succeeded
        </span>
        <span className="flex items-center gap-2">
          <span aria-hidden="true" className="inline-block size-3 rounded-sm bg-field" />
          other
        </span>
      </p>
      <details className="mt-4">
        <summary>Show as a table</summary>
        <Table
          caption="Sessions by day"
          rows={days.filter((day) => day.total > 0)}
          rowKey={({ date }) => date}
          columns={[
            { header: "Day", cell: (day) => day.date },
            { header: "All", cell: (day) => day.total },
            { header: "Succeeded", cell: (day) => day.succeeded },
            { header: "Failed", cell: (day) => day.failed },
            { header: "Expired", cell: (day) => day.expired },
            { header: "Cancelled", cell: (day) => day.cancelled },
          ]}
        />
      </details>
    </>
  );
}
