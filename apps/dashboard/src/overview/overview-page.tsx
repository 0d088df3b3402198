import { analyticsLimits, type SessionsOverview, sessionsOverview } from "@assay/contract/analytics";
import type { ReactNode } from "react";
import type { Static } from "typebox";
import { present } from "../api/call.ts";
import { useData } from "../api/queries.ts";
import { useMay, usePlace } from "../shell/organization-context.ts";
import { Button, LinkButton } from "../ui/button.tsx";
import { csvOf, saveCsv } from "../ui/csv.ts";
import { DateRange } from "../ui/date-range.tsx";
import { inWords, useFilters } from "../ui/filters.tsx";
import { countText, percentText } from "../ui/numbers.ts";
import { Card, Heading, Loading, ProblemNotice } from "../ui/page.tsx";
import { Soon } from "../ui/soon.tsx";
import { Empty, Table } from "../ui/table.tsx";
import { durationText } from "../ui/times.ts";
import { Bars } from "./bars.tsx";
import { Chart } from "./chart.tsx";
import { GettingStarted, useSteps } from "./getting-started.tsx";
import { WebhookHealth } from "./webhook-health.tsx";

type Overview = Static<typeof SessionsOverview>;

export function OverviewPage() {
  const { environment } = usePlace();
  const mayCreate = useMay("admin");
  const filters = useFilters(["from", "to"]);
  const { from, to } = filters.values;
  // Which day is today depends on the service's clock: without dates it answers with the last 30 days.
  const overview = useData(sessionsOverview, { query: present({ from, to }) });
  const data = overview.data?.data;
  return (
    <>
      <Heading title="Overview">
        {mayCreate ? (
          <LinkButton look="primary" icon="plus" to="/dashboard/sessions/new">
            Create session
          </LinkButton>
        ) : null}
      </Heading>
      <BelowTheWay shown={mayCreate && environment === "sandbox"}>
        {/* Beside something that is always there: in the heading the button would make a line of its own on a phone, and move all that follows. */}
        <div className="mb-4 flex items-end justify-between gap-3">
          <DateRange
            label="Period"
            open={`Last ${analyticsLimits.defaultDays} days`}
            range={{ from, to }}
            onChange={(range) => filters.set({ from: range.from ?? "", to: range.to ?? "" })}
          />
          {data === undefined || data.totals.total === 0 ? null : (
            <Button
              icon="download"
              onClick={() => saveCsv(`sessions-${data.from}-${data.to}.csv`, [daysCsv(data)])}
            >
              CSV
            </Button>
          )}
        </div>
        {overview.error !== null && data === undefined ? (
          <ProblemNotice error={overview.error} retry={overview.refetch} />
        ) : data === undefined ? (
          <Loading lines={3} tall />
        ) : data.totals.total > 0 ? (
          <Figures overview={data} />
        ) : (
          <Empty icon="overview">
            {environment === "sandbox" && filters.count === 0
              ? "Your stats will appear after your first session."
              : "No sessions in this period."}
          </Empty>
        )}
      </BelowTheWay>
    </>
  );
}

/**
 * The figures, in the sandbox below the way to the first event. Nothing is shown before that is known, or it would push
 * the figures down.
 */
function BelowTheWay({ shown, children }: { shown: boolean; children: ReactNode }) {
  return shown ? <WayAndFigures>{children}</WayAndFigures> : children;
}

function WayAndFigures({ children }: { children: ReactNode }) {
  const steps = useSteps();
  if (steps === null) return <Loading lines={4} tall />;
  return (
    <>
      <GettingStarted steps={steps} />
      <Soon instead={<Loading lines={3} tall />}>{children}</Soon>
    </>
  );
}

function daysCsv({ days }: Overview): string {
  const heads = [
    "day",
    "created_total",
    "succeeded",
    "failed",
    "expired",
    "cancelled",
    "open",
    "median_seconds",
  ];
  return csvOf([
    heads,
    ...days.map((day) => [
      day.date,
      day.total,
      day.succeeded,
      day.failed,
      day.expired,
      day.cancelled,
      day.created + day.in_progress,
      day.median_seconds_to_complete,
    ]),
  ]);
}

function Figures({ overview }: { overview: Overview }) {
  const { totals } = overview;
  const ended = totals.succeeded + totals.failed + totals.expired + totals.cancelled;
  return (
    <>
      <dl className="mb-6 grid grid-cols-2 gap-3 xl:grid-cols-4">
        <Figure
          name={overview.sandbox ? "Test sessions" : "Sessions"}
          value={countText(totals.total)}
          detail={`${countText(totals.created + totals.in_progress)} open now`}
        />
        <Figure
          name="Success rate"
          value={overview.success_rate === null ? "–" : percentText(overview.success_rate)}
          detail={`${countText(totals.succeeded)} of ${countText(ended)} completed`}
        />
        <Figure
          name="Median time"
          value={
            overview.median_seconds_to_complete === null
              ? "–"
              : durationText(overview.median_seconds_to_complete)
          }
          detail="from creation to success"
        />
        <Figure
          name="90th percentile"
          value={
            overview.p90_seconds_to_complete === null ? "–" : durationText(overview.p90_seconds_to_complete)
          }
          detail="from creation to success"
        />
      </dl>
      <OutcomesByDay overview={overview} />
      <div className="grid items-start gap-x-6 lg:grid-cols-2">
        <Funnel overview={overview} />
        <Reasons overview={overview} />
        <Durations overview={overview} />
        <WebhookHealth from={overview.from} to={overview.to} />
      </div>
    </>
  );
}

function Figure(props: { name: string; value: string; detail: string }) {
  return (
    <div className="rounded-card border border-line bg-card p-4 shadow-raised sm:p-5 dark:shadow-none">
      <dt className="text-small text-muted">{props.name}</dt>
      <dd className="mt-1 text-2xl font-semibold tracking-tight tabular-nums">
        {props.value}
        <span className="mt-0.5 block text-small font-normal tracking-normal text-muted">{props.detail}</span>
      </dd>
    </div>
  );
}

function OutcomesByDay({ overview }: { overview: Overview }) {
  const { days, totals } = overview;
  const values = (of: (day: Overview["days"][number]) => number) => days.map(of);
  return (
    <Card title="Sessions by day">
      <Chart
        kind="bars"
        label={`${countText(totals.total)} sessions from ${overview.from} to ${overview.to} by status`}
        days={days.map(({ date }) => date)}
        text={countText}
        series={[
          { label: "Succeeded", colour: "good", values: values((day) => day.succeeded) },
          { label: "Failed", colour: "bad", values: values((day) => day.failed) },
          {
            label: "Expired or cancelled",
            colour: "field",
            values: values((day) => day.expired + day.cancelled),
          },
          { label: "Open", colour: "ink", values: values((day) => day.created + day.in_progress) },
        ]}
        table={
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
        }
      />
    </Card>
  );
}

/** Stages come from the service, in their order. One that has no name here is named by its own words. */
const stageNames: Readonly<Record<string, string>> = {
  created: "Created",
  opened: "Opened",
  agreed: "Agreed",
  chip_read: "Chip read",
  face_captured: "Face captured",
  wallet_presented: "Wallet answered",
  succeeded: "Succeeded",
};

/** From opening to the end, with how many are lost on each step. */
function Funnel({ overview: { funnel, methods } }: { overview: Overview }) {
  // Most organizations ask no wallet.
  const stages = Object.entries(funnel).filter(([stage, count]) => stage !== "wallet_presented" || count > 0);
  const byMethod = Object.entries(methods).map(
    ([method, count = 0]) => `${inWords(method)} ${countText(count)}`,
  );
  return (
    <Card title="Funnel">
      {funnel.created === 0 ? (
        <Empty>No data yet.</Empty>
      ) : (
        <>
          <Bars
            of={funnel.created}
            rows={stages.map(([stage, count], index) => {
              const [, before] = stages[index - 1] ?? [stage, count];
              const lost = before - count;
              return {
                name: stageNames[stage] ?? inWords(stage),
                count,
                ...(lost > 0 ? { note: `${countText(lost)} lost` } : {}),
              };
            })}
          />
          <p className="mt-4 text-small text-muted">
            Completed sessions only. Link scanners of mail programs count as opening the page.
            {byMethod.length > 0 && ` Succeeded by: ${byMethod.join(", ")}.`}
          </p>
        </>
      )}
    </Card>
  );
}

function Reasons({ overview }: { overview: Overview }) {
  const reasons = Object.entries(overview.failure_codes)
    .map(([code, count]) => ({ name: inWords(code), count: count ?? 0 }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count);
  return (
    <Card title="Failure reasons">
      {reasons.length === 0 ? (
        <Empty>No failed sessions in this period.</Empty>
      ) : (
        <Bars look="bad" of={overview.totals.failed} rows={reasons} />
      )}
    </Card>
  );
}

function Durations({ overview }: { overview: Overview }) {
  const { durations, days } = overview;
  const succeeded = durations.reduce((sum, { count }) => sum + count, 0);
  let floor = 0;
  const rows = durations.map(({ up_to_seconds: bound, count }) => {
    const name =
      bound === null
        ? `Over ${durationText(floor)}`
        : floor === 0
          ? `Up to ${durationText(bound)}`
          : `${durationText(floor)} to ${durationText(bound)}`;
    floor = bound ?? floor;
    return { name, count };
  });
  return (
    <Card title="Time to verify">
      {succeeded === 0 ? (
        <Empty>No data yet.</Empty>
      ) : (
        <>
          <Bars of={succeeded} rows={rows} />
          {days.filter((day) => day.median_seconds_to_complete !== null).length < 2 ? null : (
            <div className="mt-6">
              <h3 className="mb-2 font-semibold">Median by day</h3>
              <Chart
                kind="lines"
                label="Median time to verify by day"
                days={days.map(({ date }) => date)}
                text={durationText}
                series={[
                  {
                    label: "Median",
                    colour: "accent",
                    values: days.map((day) => day.median_seconds_to_complete),
                  },
                ]}
                table={
                  <Table
                    caption="Median time to verify by day"
                    rows={days.filter((day) => day.median_seconds_to_complete !== null)}
                    rowKey={({ date }) => date}
                    columns={[
                      { header: "Day", cell: (day) => day.date },
                      {
                        header: "Median",
                        cell: (day) => durationText(day.median_seconds_to_complete ?? 0),
                      },
                    ]}
                  />
                }
              />
            </div>
          )}
        </>
      )}
    </Card>
  );
}
