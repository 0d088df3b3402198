import { analyticsLimits, type SessionsOverview, sessionsOverview } from "@assay/contract/analytics";
import type { ReactNode } from "react";
import type { Static } from "typebox";
import { present } from "../api/call.ts";
import { useData } from "../api/queries.ts";
import { t } from "../i18n/words.ts";
import { useMay, useWorkspace } from "../shell/organization-context.ts";
import { Button, LinkButton } from "../ui/button.tsx";
import { csvOf, saveCsv } from "../ui/csv.ts";
import { DateRange } from "../ui/date-range.tsx";
import { inWords, useFilters } from "../ui/filters.tsx";
import { countText, percentText } from "../ui/numbers.ts";
import { Card, Heading, Loading, ProblemNotice } from "../ui/page.tsx";
import { Soon } from "../ui/soon.tsx";
import { Empty, Table } from "../ui/table.tsx";
import { dayText, durationText } from "../ui/times.ts";
import { Bars } from "./bars.tsx";
import { Chart } from "./chart.tsx";
import { GettingStarted, useSteps } from "./getting-started.tsx";
import { WebhookHealth } from "./webhook-health.tsx";

type Overview = Static<typeof SessionsOverview>;

export function OverviewPage() {
  const { environment } = useWorkspace();
  const mayCreate = useMay("admin");
  const filters = useFilters(["from", "to"]);
  const { from, to } = filters.values;
  // The service's clock decides which day is today: without dates it answers with the last 30 days.
  const overview = useData(sessionsOverview, { query: present({ from, to }) });
  const data = overview.data?.data;
  return (
    <>
      <Heading title={t.shell.pages.overview}>
        {mayCreate ? (
          <LinkButton look="primary" icon="plus" to="/dashboard/sessions/new">
            {t.ui.createSession}
          </LinkButton>
        ) : null}
      </Heading>
      <WithFirstSteps shown={mayCreate && environment === "sandbox"}>
        {/* In the heading, the export button would take a separate line on a phone. */}
        <div className="mb-4 flex items-end justify-between gap-3">
          <DateRange
            label={t.overview.period}
            open={t.ui.lastDays(analyticsLimits.defaultDays)}
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
            {environment === "sandbox" && filters.count === 0 ? t.overview.statsLater : t.overview.noSessions}
          </Empty>
        )}
      </WithFirstSteps>
    </>
  );
}

/**
 * In the sandbox, the first steps stand above the figures. Neither shows until the steps are loaded, because
 * they would push the figures down.
 */
function WithFirstSteps({ shown, children }: { shown: boolean; children: ReactNode }) {
  return shown ? <StepsAndFigures>{children}</StepsAndFigures> : children;
}

function StepsAndFigures({ children }: { children: ReactNode }) {
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
          name={overview.sandbox ? t.overview.testSessions : t.shell.pages.sessions}
          value={countText(totals.total)}
          detail={t.overview.openNow(totals.created + totals.in_progress)}
        />
        <Figure
          name={t.overview.successRate}
          value={overview.success_rate === null ? "–" : percentText(overview.success_rate)}
          detail={t.overview.ofCompleted({ succeeded: totals.succeeded, ended })}
        />
        <Figure
          name={t.overview.medianTime}
          value={
            overview.median_seconds_to_complete === null
              ? "–"
              : durationText(overview.median_seconds_to_complete)
          }
          detail={t.overview.toSuccess}
        />
        <Figure
          name={t.overview.percentile}
          value={
            overview.p90_seconds_to_complete === null ? "–" : durationText(overview.p90_seconds_to_complete)
          }
          detail={t.overview.toSuccess}
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
    <Card title={t.overview.byDay}>
      <Chart
        kind="bars"
        label={t.overview.chart({
          count: totals.total,
          from: dateText(overview.from),
          to: dateText(overview.to),
        })}
        days={days.map(({ date }) => date)}
        text={countText}
        series={[
          { label: t.ui.sessionTabs.succeeded, colour: "good", values: values((day) => day.succeeded) },
          { label: t.ui.sessionTabs.failed, colour: "bad", values: values((day) => day.failed) },
          {
            label: t.overview.expiredOrCancelled,
            colour: "field",
            values: values((day) => day.expired + day.cancelled),
          },
          {
            label: t.ui.sessionTabs.open,
            colour: "ink",
            values: values((day) => day.created + day.in_progress),
          },
        ]}
        table={
          <Table
            caption={t.overview.byDay}
            rows={days.filter((day) => day.total > 0)}
            rowKey={({ date }) => date}
            columns={[
              { header: t.overview.day, cell: (day) => dateText(day.date) },
              { header: t.ui.sessionTabs.all, cell: (day) => day.total },
              { header: t.ui.sessionTabs.succeeded, cell: (day) => day.succeeded },
              { header: t.ui.sessionTabs.failed, cell: (day) => day.failed },
              { header: t.ui.sessionTabs.expired, cell: (day) => day.expired },
              { header: t.ui.sessionTabs.cancelled, cell: (day) => day.cancelled },
            ]}
          />
        }
      />
    </Card>
  );
}

/** The service sends stages, methods and reasons in order. One without a label here is shown by its code. */
function nameIn(names: Readonly<Record<string, string>>, code: string): string {
  return names[code] ?? inWords(code);
}

/** A day of the service in the reader's date format. */
function dateText(day: string): string {
  return dayText(new Date(`${day}T12:00:00`));
}

/** The funnel from opening to the end, with the loss at each step. */
function Funnel({ overview: { funnel, methods } }: { overview: Overview }) {
  // Most organizations do not ask for a wallet.
  const stages = Object.entries(funnel).filter(([stage, count]) => stage !== "wallet_presented" || count > 0);
  const byMethod = Object.entries(methods).map(
    ([method, count = 0]) => `${nameIn(t.sessions.method, method)} ${countText(count)}`,
  );
  return (
    <Card title={t.overview.funnel}>
      {funnel.created === 0 ? (
        <Empty>{t.overview.noData}</Empty>
      ) : (
        <>
          <Bars
            of={funnel.created}
            rows={stages.map(([stage, count], index) => {
              const [, before] = stages[index - 1] ?? [stage, count];
              const lost = before - count;
              return {
                name: nameIn(t.overview.stage, stage),
                count,
                ...(lost > 0 ? { note: t.overview.lost(lost) } : {}),
              };
            })}
          />
          <p className="mt-4 text-small text-muted">
            {t.overview.funnelNote}
            {byMethod.length > 0 && ` ${t.overview.succeededBy(byMethod.join(", "))}`}
          </p>
        </>
      )}
    </Card>
  );
}

function Reasons({ overview }: { overview: Overview }) {
  const reasons = Object.entries(overview.failure_codes)
    .map(([code, count]) => ({ name: nameIn(t.sessions.failure, code), count: count ?? 0 }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count);
  return (
    <Card title={t.overview.failureReasons}>
      {reasons.length === 0 ? (
        <Empty>{t.overview.noFailures}</Empty>
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
        ? t.overview.over(durationText(floor))
        : floor === 0
          ? t.overview.upTo(durationText(bound))
          : t.overview.between({ from: durationText(floor), to: durationText(bound) });
    floor = bound ?? floor;
    return { name, count };
  });
  return (
    <Card title={t.overview.timeToVerify}>
      {succeeded === 0 ? (
        <Empty>{t.overview.noData}</Empty>
      ) : (
        <>
          <Bars of={succeeded} rows={rows} />
          {days.filter((day) => day.median_seconds_to_complete !== null).length < 2 ? null : (
            <div className="mt-6">
              <h3 className="mb-2 font-semibold">{t.overview.medianByDay}</h3>
              <Chart
                kind="lines"
                label={t.overview.medianChart}
                days={days.map(({ date }) => date)}
                text={durationText}
                series={[
                  {
                    label: t.overview.median,
                    colour: "accent",
                    values: days.map((day) => day.median_seconds_to_complete),
                  },
                ]}
                table={
                  <Table
                    caption={t.overview.medianChart}
                    rows={days.filter((day) => day.median_seconds_to_complete !== null)}
                    rowKey={({ date }) => date}
                    columns={[
                      { header: t.overview.day, cell: (day) => dateText(day.date) },
                      {
                        header: t.overview.median,
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
