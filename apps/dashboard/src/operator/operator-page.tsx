import { getAccount } from "@assay/contract/accounts";
import { listOrganizationSizes, type OperatorStatus, operatorStatus } from "@assay/contract/operator";
import { type ReactNode, useEffect } from "react";
import type { Static } from "typebox";
import { hasCode } from "../api/call.ts";
import { refresh, useData, useList } from "../api/queries.ts";
import { Filled } from "../i18n/filled.tsx";
import { t } from "../i18n/words.ts";
import { StrayPage } from "../shell/not-found.tsx";
import { Disclosure } from "../ui/disclosure.tsx";
import { Notice } from "../ui/notice.tsx";
import { countText } from "../ui/numbers.ts";
import { Badge, Card, Facts, Heading, Loading, ProblemNotice } from "../ui/page.tsx";
import { type Column, Empty, ListTable, Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { dayText, durationText } from "../ui/times.ts";
import { ageText, agoText, aheadText, concernWords, countOrMore, jobLooks } from "./operator-words.ts";

type Status = Static<typeof OperatorStatus>;

/** The interval at which processes report. The query pauses in a hidden tab. */
const pollIntervalMs = 10_000;

export function OperatorPage() {
  const status = useData(operatorStatus, {}, { refetchInterval: pollIntervalMs });
  const isGone = hasCode(status.error, "NOT_FOUND");
  // Either the operator mark was removed, or the session has ended; loading the account shows which.
  useEffect(() => {
    if (isGone) void refresh(getAccount);
  }, [isGone]);
  if (isGone) return <StrayPage />;
  const data = status.data?.data;
  return (
    <>
      <Heading title={t.shell.pages.operator} about={t.operator.about} />
      {status.error === null ? null : <ProblemNotice error={status.error} retry={status.refetch} />}
      {data === undefined ? (
        status.error === null ? (
          <Loading lines={4} tall />
        ) : null
      ) : (
        <>
          <Overall status={data} />
          <Figures status={data} />
          <div className="grid items-start gap-x-6 xl:grid-cols-2">
            <Health status={data} />
            <Trust status={data} />
          </div>
          <Processes status={data} />
          <Jobs status={data} />
          <SetAside status={data} />
        </>
      )}
      <Organizations />
    </>
  );
}

function Overall({ status: { concerns } }: { status: Status }) {
  if (concerns.length === 0)
    return (
      <Notice kind="good">
        <p className="font-semibold">{t.operator.allGood}</p>
      </Notice>
    );
  const words = concerns.map((concern) => ({ concern, ...concernWords(concern) }));
  return (
    <Notice kind={words.some(({ isGrave }) => isGrave) ? "bad" : "warn"}>
      <p className="font-semibold">{t.operator.issues(concerns.length)}</p>
      <ul className="list-disc space-y-1 ps-5">
        {words.map(({ concern, says, todo }) => (
          <li key={concern}>
            {says}. <span className="text-small">{withCode(todo)}</span>
          </li>
        ))}
      </ul>
    </Notice>
  );
}

/** The service's findings, in its own words. */
function inEnglish(text: string): ReactNode {
  return <span lang="en">{text}</span>;
}

/** Text between backticks is code. */
function withCode(text: string): ReactNode {
  // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text never change places.
  return text.split("`").map((part, at) => (at % 2 === 0 ? part : <code key={at}>{part}</code>));
}

function Figures({ status }: { status: Status }) {
  const { at, webhooks, mails, processes, set_aside: aside } = status;
  const faces = processes.flatMap(({ face, is_silent: isSilent }) =>
    face === null || isSilent ? [] : [face],
  );
  const sum = (of: (face: (typeof faces)[number]) => number) =>
    faces.reduce((all, face) => all + of(face), 0);
  return (
    <dl className="my-6 grid grid-cols-2 gap-3 xl:grid-cols-4">
      <Figure
        name={t.operator.webhooksDue}
        value={countOrMore(webhooks.due, webhooks.is_capped)}
        detail={[
          webhooks.oldest_due_at === null
            ? t.operator.queueEmpty
            : t.operator.oldestWaits(ageText(webhooks.oldest_due_at, at)),
          t.operator.failingEndpoints(webhooks.endpoints_failing),
        ]}
      />
      <Figure
        name={t.operator.mailsWaiting}
        value={countOrMore(mails.waiting, mails.is_capped)}
        detail={[
          mails.oldest_at === null
            ? t.operator.queueEmpty
            : t.operator.oldestWaits(ageText(mails.oldest_at, at)),
          t.operator.countQuarantined(mails.set_aside),
        ]}
      />
      <Figure
        name={t.operator.facesWaiting}
        value={faces.length === 0 ? "–" : countText(sum(({ waiting }) => waiting))}
        detail={[
          t.operator.workers(sum(({ workers }) => workers)),
          t.operator.checkedSinceStart(sum(({ judged }) => judged)),
        ]}
      />
      <Figure
        name={t.operator.quarantined}
        value={countText(aside.count)}
        detail={[
          aside.count === 0
            ? t.operator.allProcessed
            : aside.count === 1
              ? t.operator.rowOfJob
              : t.operator.rowsOfJobs(new Set(aside.groups.map(({ job }) => job)).size),
        ]}
      />
    </dl>
  );
}

function Figure(props: { name: string; value: string; detail: readonly string[] }) {
  return (
    <div className="rounded-card border border-line bg-card p-4 shadow-raised sm:p-5 dark:shadow-none">
      <dt className="text-small text-muted">{props.name}</dt>
      <dd className="mt-1 text-2xl font-semibold tracking-tight tabular-nums">
        {props.value}
        {props.detail.map((line) => (
          <span key={line} className="mt-0.5 block text-small font-normal tracking-normal text-muted">
            {line}
          </span>
        ))}
      </dd>
    </div>
  );
}

function Health({ status: { health, at } }: { status: Status }) {
  return (
    <Card
      title={t.operator.health}
      actions={
        <Badge look={health.is_ready ? "good" : "bad"}>
          {health.is_ready ? t.operator.ready : t.operator.notReady}
        </Badge>
      }
    >
      <Facts
        facts={[
          ...(health.problem === null ? [] : [[t.operator.problem, inEnglish(health.problem)] as const]),
          [t.operator.load, health.is_overloaded ? t.operator.outOfCapacity : t.operator.normal],
          [t.operator.version, health.version],
          [
            t.operator.running,
            t.operator.onNode({ age: ageText(health.started_at, at), version: health.node_version }),
          ],
          [t.operator.database, `PostgreSQL ${health.database_version}`],
          [t.operator.schema, health.schema_version ?? "–"],
        ]}
      />
    </Card>
  );
}

const listLooks = { fresh: "good", stale: "warn", missing: "plain" } as const;

function Trust({ status: { trust, at } }: { status: Status }) {
  if (trust === null)
    return (
      <Card title={t.operator.trust}>
        <Empty>{t.operator.unavailable}</Empty>
      </Card>
    );
  const facts: (readonly [string, ReactNode])[] = [
    [
      t.operator.authorities,
      trust.authorities === 0
        ? t.ui.none
        : t.operator.validOf({
            valid: trust.valid_authorities,
            all: trust.authorities,
            from: t.operator.fromCountries(trust.countries),
          }),
    ],
    [
      t.operator.changed,
      trust.version === 0
        ? t.ui.never
        : t.operator.changedAt({ ago: agoText(trust.changed_at, at), version: String(trust.version) }),
    ],
    [
      t.operator.revocationLists,
      <ul key="lists" className="space-y-1.5">
        {trust.revocation_lists
          .filter(({ countries }) => countries > 0)
          .map(({ state, countries, oldest_list_at: oldest }) => (
            <li key={state} className="flex flex-wrap items-center gap-x-2 gap-y-1">
              <Badge look={listLooks[state]}>{t.operator.listStates[state]}</Badge>
              <span>
                {oldest === null
                  ? t.operator.countries(countries)
                  : t.operator.withOldest({
                      countries: t.operator.countries(countries),
                      day: dayText(new Date(oldest)),
                    })}
              </span>
            </li>
          ))}
        {trust.countries === 0 ? <li className="text-muted">{t.ui.none}</li> : null}
      </ul>,
    ],
    ...(trust.held_removals === 0
      ? []
      : [[t.operator.pendingRemoval, t.operator.pendingRemovalText(trust.held_removals)] as const]),
  ];
  return (
    <Card title={t.operator.trust}>
      <Facts facts={facts} />
      {trust.sources.length === 0 ? null : (
        <div className="mt-5">
          <Table
            caption={t.operator.trustSources}
            rows={trust.sources}
            rowKey={({ address }) => address}
            columns={[
              {
                header: t.operator.source,
                phone: "title",
                cell: ({ address, problem }) => (
                  <>
                    <bdi>{address}</bdi>
                    {problem === null ? null : <p className="text-small text-bad">{inEnglish(problem)}</p>}
                  </>
                ),
              },
              {
                header: t.operator.edition,
                cell: ({ edition_at: edition }) => (edition === null ? "–" : dayText(new Date(edition))),
              },
              {
                header: t.operator.lastSuccess,
                cell: ({ succeeded_at: last }) => agoText(last, at, t.ui.never),
              },
            ]}
          />
        </div>
      )}
    </Card>
  );
}

function Processes({ status: { processes, at } }: { status: Status }) {
  return (
    <Card title={t.operator.processes}>
      {processes.length === 0 ? (
        <Empty>{t.operator.noReports}</Empty>
      ) : (
        <Table
          caption={t.operator.processes}
          rows={processes}
          rowKey={({ name, started_at: started }) => `${name} ${started}`}
          columns={[
            {
              header: t.operator.process,
              phone: "title",
              cell: ({ name, problem }) => (
                <>
                  <bdi>{name}</bdi>
                  {problem === null ? null : <p className="text-small text-bad">{inEnglish(problem)}</p>}
                </>
              ),
            },
            {
              header: t.ui.status,
              phone: "end",
              cell: ({ is_silent: isSilent, is_overloaded: isOverloaded, problem }) =>
                isSilent ? (
                  <Badge look="bad">{t.operator.silent}</Badge>
                ) : problem !== null ? (
                  <Badge look="bad">{t.operator.notReady}</Badge>
                ) : isOverloaded ? (
                  <Badge look="warn">{t.operator.overloaded}</Badge>
                ) : (
                  <Badge look="good">{t.operator.running}</Badge>
                ),
            },
            { header: t.ui.role, cell: ({ role }) => t.operator.roles[role] },
            { header: t.operator.version, cell: ({ version }) => version },
            { header: t.operator.uptime, cell: ({ started_at: started }) => ageText(started, at) },
            { header: t.operator.lastReport, cell: ({ seen_at: seen }) => agoText(seen, at) },
            { header: t.operator.faces, cell: ({ face }) => <Faces face={face} /> },
          ]}
        />
      )}
    </Card>
  );
}

function Faces({ face }: { face: Status["processes"][number]["face"] }) {
  if (face === null) return <span className="text-muted">–</span>;
  return (
    <>
      {t.operator.workers(face.workers)}, {t.operator.waiting(face.waiting)}
      {face.mean_seconds === null ? null : (
        <p className="text-small text-muted">
          {[
            t.operator.checked(face.judged),
            t.operator.onAverage(durationText(face.mean_seconds)),
            ...(face.nine_of_ten_within_seconds === null
              ? []
              : [t.operator.percentile(face.nine_of_ten_within_seconds)]),
            ...(face.faults === 0 ? [] : [t.operator.faults(face.faults)]),
          ].join(", ")}
        </p>
      )}
    </>
  );
}

function Jobs({ status: { jobs, at } }: { status: Status }) {
  const calm = jobs.filter(
    ({ state, set_aside: aside }) => state !== "late" && state !== "failing" && aside === 0,
  );
  const others = jobs.filter((job) => !calm.includes(job));
  return (
    <Card title={t.operator.jobs}>
      {jobs.length === 0 ? (
        <Empty>{t.operator.noReports}</Empty>
      ) : (
        <>
          {others.length === 0 ? null : <JobTable jobs={others} at={at} />}
          {calm.length === 0 ? null : (
            <Disclosure
              title={
                others.length === 0 ? t.operator.allOnTime(jobs.length) : t.operator.moreOnTime(calm.length)
              }
            >
              <JobTable jobs={calm} at={at} calm />
            </Disclosure>
          )}
        </>
      )}
    </Card>
  );
}

type JobColumn = Column<Status["jobs"][number]>;

/** Columns that are empty for a healthy job. */
const troubles = (): readonly JobColumn[] => [
  { header: t.operator.lateBy, cell: ({ late_seconds: late }) => (late === 0 ? "–" : durationText(late)) },
  { header: t.operator.quarantined, cell: ({ set_aside: aside }) => (aside === 0 ? "–" : countText(aside)) },
];

function JobTable({ jobs, at, calm = false }: { jobs: Status["jobs"]; at: string; calm?: boolean }) {
  return (
    <Table
      caption={t.operator.jobs}
      rows={jobs}
      rowKey={({ name }) => name}
      columns={[
        {
          header: t.operator.job,
          phone: "title",
          cell: ({ name }) => <span className="font-medium">{name}</span>,
        },
        {
          header: t.ui.status,
          phone: "end",
          cell: ({ state }) => <Badge look={jobLooks[state]}>{t.operator.jobStates[state]}</Badge>,
        },
        {
          header: t.operator.lastRun,
          cell: ({ last_run_at: last, running_since: since }) =>
            since !== null ? t.operator.runningFor(ageText(since, at)) : agoText(last, at),
        },
        { header: t.operator.every, cell: ({ every_seconds: every }) => durationText(every) },
        ...(calm ? [] : troubles()),
      ]}
    />
  );
}

function SetAside({ status: { set_aside: aside, at } }: { status: Status }) {
  if (aside.count === 0) return null;
  return (
    <Card title={t.operator.rowsTitle}>
      <Table
        caption={t.operator.rowsTitle}
        rows={aside.groups}
        rowKey={({ job, kind, reason }) => `${job} ${kind} ${reason}`}
        columns={[
          {
            header: t.operator.jobAndTable,
            phone: "title",
            cell: ({ job, kind }) => (
              <>
                <span className="font-medium">{job}</span> <span className="text-muted">{kind}</span>
              </>
            ),
          },
          { header: t.operator.rows, phone: "end", cell: ({ count }) => countText(count) },
          { header: t.operator.reason, cell: ({ reason }) => <bdi lang="en">{reason}</bdi> },
          { header: t.operator.oldest, cell: ({ oldest_at: oldest }) => ageText(oldest, at) },
          {
            header: t.ui.nextAttempt,
            cell: ({ next_try_at: next }) => (next <= at ? t.operator.now : aheadText(next, at)),
          },
        ]}
      />
      <p className="mt-4 text-small text-muted">
        <Filled
          text={t.operator.rowsHelp}
          list={<code>assay jobs</code>}
          retry={<code>assay jobs retry --job NAME</code>}
          guide={
            <a href="/docs/operating#quarantined-rows" target="_blank" rel="noreferrer">
              {t.operator.guide}
            </a>
          }
        />
      </p>
    </Card>
  );
}

type Size = { live: number; sandbox: number };

function Sizes({ live, sandbox }: Size) {
  return (
    <span className="tabular-nums">
      {countText(live)} <span className="text-muted">{t.operator.live}</span>, {countText(sandbox)}{" "}
      <span className="text-muted">{t.operator.sandbox}</span>
    </span>
  );
}

function Organizations() {
  const list = useList(listOrganizationSizes);
  if (hasCode(list.error, "NOT_FOUND")) return null;
  return (
    <Card title={t.ui.organizations}>
      <ListTable
        caption={t.operator.sizesCaption}
        list={list}
        rowKey={({ id }) => id}
        empty={t.operator.noOrganizations}
        columns={[
          {
            header: t.ui.organization,
            phone: "title",
            cell: ({ name, slug, pending_deletion_at: goes }) => (
              <>
                <bdi className="font-medium">{name}</bdi>
                <p className="text-small text-muted">
                  <bdi>{slug}</bdi>
                </p>
                {goes === null ? null : (
                  <p className="text-small text-warn">
                    <Filled text={t.operator.willBeDeleted} time={<Time ahead at={goes} />} />
                  </p>
                )}
              </>
            ),
          },
          {
            header: t.ui.environment,
            phone: "end",
            cell: ({ environment }) => (
              <Badge look={environment === t.operator.live ? "good" : "plain"}>
                {t.ui.environments[environment]}
              </Badge>
            ),
          },
          { header: t.ui.members, cell: ({ members }) => countText(members) },
          { header: t.operator.sessions30, cell: ({ ended_sessions: of }) => <Sizes {...of} /> },
          { header: t.ui.apiKeys, cell: ({ api_keys: of }) => <Sizes {...of} /> },
          {
            header: t.operator.refused,
            cell: ({ refused_requests: refused }) => (refused === 0 ? "–" : countText(refused)),
          },
          { header: t.operator.endpoints, cell: ({ webhook_endpoints: of }) => <Sizes {...of} /> },
          { header: t.ui.created, cell: ({ created_at: created }) => dayText(new Date(created)) },
        ]}
      />
    </Card>
  );
}
