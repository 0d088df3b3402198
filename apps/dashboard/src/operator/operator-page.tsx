import { getAccount } from "@assay/contract/accounts";
import { listOrganizationSizes, type OperatorStatus, operatorStatus } from "@assay/contract/operator";
import { type ReactNode, useEffect } from "react";
import type { Static } from "typebox";
import { hasCode } from "../api/call.ts";
import { refresh, useData, useList } from "../api/queries.ts";
import { StrayPage } from "../shell/not-found.tsx";
import { Disclosure } from "../ui/disclosure.tsx";
import { inWords } from "../ui/filters.tsx";
import { Notice } from "../ui/notice.tsx";
import { Badge, Card, Facts, Heading, Loading, ProblemNotice } from "../ui/page.tsx";
import { type Column, Empty, ListTable, Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { dayText, durationText } from "../ui/times.ts";
import { ageText, agoText, concernWords, countText, jobWords, plural } from "./operator-words.ts";

type Status = Static<typeof OperatorStatus>;

/** As often as processes tell about themselves. Only while the page is looked at: the query stands still in a hidden tab. */
const lookEveryMs = 10_000;

export function OperatorPage() {
  const status = useData(operatorStatus, {}, { refetchInterval: lookEveryMs });
  const isGone = hasCode(status.error, "NOT_FOUND");
  // Either the mark was taken back, or the session has ended; asking for the account tells which.
  useEffect(() => {
    if (isGone) void refresh(getAccount);
  }, [isGone]);
  if (isGone) return <StrayPage />;
  const data = status.data?.data;
  return (
    <>
      <Heading
        title="Operator"
        about="System health. Updates automatically and holds no data about verified people."
      />
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
        <p className="font-semibold">All systems are operational.</p>
      </Notice>
    );
  const words = concerns.map((concern) => ({ concern, ...concernWords[concern] }));
  return (
    <Notice kind={words.some(({ isGrave }) => isGrave) ? "bad" : "warn"}>
      <p className="font-semibold">{concerns.length === 1 ? "1 issue" : `${concerns.length} issues`}</p>
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

/** What stands between backticks is code. */
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
        name="Webhooks due"
        value={countText(webhooks.due, webhooks.is_capped)}
        detail={[
          webhooks.oldest_due_at === null
            ? "queue is empty"
            : `oldest waits ${ageText(webhooks.oldest_due_at, at)}`,
          plural(webhooks.endpoints_failing, "failing endpoint"),
        ]}
      />
      <Figure
        name="Emails waiting"
        value={countText(mails.waiting, mails.is_capped)}
        detail={[
          mails.oldest_at === null ? "queue is empty" : `oldest waits ${ageText(mails.oldest_at, at)}`,
          `${countText(mails.set_aside)} quarantined`,
        ]}
      />
      <Figure
        name="Faces waiting"
        value={faces.length === 0 ? "–" : countText(sum(({ waiting }) => waiting))}
        detail={[
          plural(
            sum(({ workers }) => workers),
            "worker",
          ),
          `${countText(sum(({ judged }) => judged))} checked since start`,
        ]}
      />
      <Figure
        name="Quarantined"
        value={countText(aside.count)}
        detail={[
          aside.count === 0
            ? "all rows processed"
            : `${aside.count === 1 ? "row" : "rows"} of ${plural(new Set(aside.groups.map(({ job }) => job)).size, "job")}`,
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
      title="Health"
      actions={
        <Badge look={health.is_ready ? "good" : "bad"}>{health.is_ready ? "Ready" : "Not ready"}</Badge>
      }
    >
      <Facts
        facts={[
          ...(health.problem === null ? [] : [["Problem", health.problem] as const]),
          ["Load", health.is_overloaded ? "Requests are being rejected: out of capacity" : "Normal"],
          ["Version", health.version],
          [
            "Running",
            <span key="since">
              {ageText(health.started_at, at)}, on Node {health.node_version}
            </span>,
          ],
          ["Database", `PostgreSQL ${health.database_version}`],
          ["Schema", health.schema_version ?? "–"],
        ]}
      />
    </Card>
  );
}

const listLooks = { fresh: "good", stale: "warn", missing: "plain" } as const;

function Trust({ status: { trust, at } }: { status: Status }) {
  if (trust === null)
    return (
      <Card title="Trust">
        <Empty>Unavailable right now.</Empty>
      </Card>
    );
  const facts: (readonly [string, ReactNode])[] = [
    [
      "Authorities",
      trust.authorities === 0
        ? "None"
        : `${countText(trust.valid_authorities)} valid of ${countText(trust.authorities)}, from ${plural(trust.countries, "country", "countries")}`,
    ],
    ["Changed", trust.version === 0 ? "Never" : `${agoText(trust.changed_at, at)}, version ${trust.version}`],
    [
      "Revocation lists",
      <ul key="lists" className="space-y-1.5">
        {trust.revocation_lists
          .filter(({ countries }) => countries > 0)
          .map(({ state, countries, oldest_list_at: oldest }) => (
            <li key={state} className="flex flex-wrap items-center gap-x-2 gap-y-1">
              <Badge look={listLooks[state]}>{inWords(state)}</Badge>
              <span>
                {plural(countries, "country", "countries")}
                {oldest === null ? null : (
                  <span className="text-muted">, the oldest of {dayText(new Date(oldest))}</span>
                )}
              </span>
            </li>
          ))}
        {trust.countries === 0 ? <li className="text-muted">None</li> : null}
      </ul>,
    ],
    ...(trust.held_removals === 0
      ? []
      : [["Pending removal", `${trust.held_removals} (assay trust keep cancels it)`] as const]),
  ];
  return (
    <Card title="Trust">
      <Facts facts={facts} />
      {trust.sources.length === 0 ? null : (
        <div className="mt-5">
          <Table
            caption="Trust sources"
            rows={trust.sources}
            rowKey={({ address }) => address}
            columns={[
              {
                header: "Source",
                phone: "title",
                cell: ({ address, problem }) => (
                  <>
                    <bdi>{address}</bdi>
                    {problem === null ? null : <p className="text-small text-bad">{problem}</p>}
                  </>
                ),
              },
              {
                header: "Edition",
                cell: ({ edition_at: edition }) => (edition === null ? "–" : dayText(new Date(edition))),
              },
              {
                header: "Last success",
                cell: ({ succeeded_at: last }) => agoText(last, at, "Never"),
              },
            ]}
          />
        </div>
      )}
    </Card>
  );
}

const roleWords = { api: "API", worker: "Background work", all: "API and background work" } as const;

function Processes({ status: { processes, at } }: { status: Status }) {
  return (
    <Card title="Processes">
      {processes.length === 0 ? (
        <Empty>No reports yet.</Empty>
      ) : (
        <Table
          caption="Processes"
          rows={processes}
          rowKey={({ name, started_at: started }) => `${name} ${started}`}
          columns={[
            {
              header: "Process",
              phone: "title",
              cell: ({ name, problem }) => (
                <>
                  <bdi>{name}</bdi>
                  {problem === null ? null : <p className="text-small text-bad">{problem}</p>}
                </>
              ),
            },
            {
              header: "Status",
              phone: "end",
              cell: ({ is_silent: isSilent, is_overloaded: isOverloaded, problem }) =>
                isSilent ? (
                  <Badge look="bad">Not responding</Badge>
                ) : problem !== null ? (
                  <Badge look="bad">Not ready</Badge>
                ) : isOverloaded ? (
                  <Badge look="warn">Overloaded</Badge>
                ) : (
                  <Badge look="good">Running</Badge>
                ),
            },
            { header: "Role", cell: ({ role }) => roleWords[role] },
            { header: "Version", cell: ({ version }) => version },
            { header: "Uptime", cell: ({ started_at: started }) => ageText(started, at) },
            { header: "Last report", cell: ({ seen_at: seen }) => agoText(seen, at) },
            { header: "Faces", cell: ({ face }) => <Faces face={face} /> },
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
      {plural(face.workers, "worker")}, {countText(face.waiting)} waiting
      {face.mean_seconds === null ? null : (
        <p className="text-small text-muted">
          {countText(face.judged)} checked, {durationText(face.mean_seconds)} on average
          {face.nine_of_ten_within_seconds === null
            ? null
            : `, 90th percentile ${face.nine_of_ten_within_seconds} s`}
          {face.faults === 0 ? null : `, ${plural(face.faults, "fault")}`}
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
    <Card title="Background jobs">
      {jobs.length === 0 ? (
        <Empty>No reports yet.</Empty>
      ) : (
        <>
          {others.length === 0 ? null : <JobTable jobs={others} at={at} />}
          {calm.length === 0 ? null : (
            <Disclosure
              title={
                others.length === 0
                  ? `All ${plural(jobs.length, "job")} on time`
                  : `${plural(calm.length, "more job")} on time`
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

/** What is empty for a job that is as it should be. */
const troubles: readonly JobColumn[] = [
  { header: "Late by", cell: ({ late_seconds: late }) => (late === 0 ? "–" : durationText(late)) },
  { header: "Quarantined", cell: ({ set_aside: aside }) => (aside === 0 ? "–" : countText(aside)) },
];

function JobTable({ jobs, at, calm = false }: { jobs: Status["jobs"]; at: string; calm?: boolean }) {
  return (
    <Table
      caption="Background jobs"
      rows={jobs}
      rowKey={({ name }) => name}
      columns={[
        { header: "Job", phone: "title", cell: ({ name }) => <span className="font-medium">{name}</span> },
        {
          header: "Status",
          phone: "end",
          cell: ({ state }) => <Badge look={jobWords[state].look}>{jobWords[state].label}</Badge>,
        },
        {
          header: "Last run",
          cell: ({ last_run_at: last, running_since: since }) =>
            since !== null ? `Running for ${ageText(since, at)}` : agoText(last, at),
        },
        { header: "Every", cell: ({ every_seconds: every }) => durationText(every) },
        ...(calm ? [] : troubles),
      ]}
    />
  );
}

function SetAside({ status: { set_aside: aside, at } }: { status: Status }) {
  if (aside.count === 0) return null;
  return (
    <Card title="Quarantined rows">
      <Table
        caption="Quarantined rows"
        rows={aside.groups}
        rowKey={({ job, kind, reason }) => `${job} ${kind} ${reason}`}
        columns={[
          {
            header: "Job and table",
            phone: "title",
            cell: ({ job, kind }) => (
              <>
                <span className="font-medium">{job}</span> <span className="text-muted">{kind}</span>
              </>
            ),
          },
          { header: "Rows", phone: "end", cell: ({ count }) => countText(count) },
          { header: "Reason", cell: ({ reason }) => <bdi>{reason}</bdi> },
          { header: "Oldest", cell: ({ oldest_at: oldest }) => ageText(oldest, at) },
          {
            header: "Next attempt",
            cell: ({ next_try_at: next }) => (next <= at ? "Now" : `In ${ageText(at, next)}`),
          },
        ]}
      />
      <p className="mt-4 text-small text-muted">
        <code>assay jobs</code> lists the rows, <code>assay jobs retry --job NAME</code> retries them now.
        Reasons are explained in{" "}
        <a href="/docs/operating#quarantined-rows" target="_blank" rel="noreferrer">
          the operations guide
        </a>
        .
      </p>
    </Card>
  );
}

type Size = { live: number; sandbox: number };

function Sizes({ live, sandbox }: Size) {
  return (
    <span className="tabular-nums">
      {countText(live)} <span className="text-muted">live</span>, {countText(sandbox)}{" "}
      <span className="text-muted">sandbox</span>
    </span>
  );
}

function Organizations() {
  const list = useList(listOrganizationSizes);
  if (hasCode(list.error, "NOT_FOUND")) return null;
  return (
    <Card title="Organizations">
      <ListTable
        caption="Organizations with their sizes, the newest first"
        list={list}
        rowKey={({ id }) => id}
        empty="No organizations yet."
        columns={[
          {
            header: "Organization",
            phone: "title",
            cell: ({ name, slug, pending_deletion_at: goes }) => (
              <>
                <bdi className="font-medium">{name}</bdi>
                <p className="text-small text-muted">
                  <bdi>{slug}</bdi>
                </p>
                {goes === null ? null : (
                  <p className="text-small text-warn">
                    Will be deleted <Time ahead at={goes} />
                  </p>
                )}
              </>
            ),
          },
          {
            header: "Environment",
            phone: "end",
            cell: ({ environment }) =>
              environment === "live" ? <Badge look="good">Live</Badge> : <Badge look="plain">Sandbox</Badge>,
          },
          { header: "Members", cell: ({ members }) => countText(members) },
          { header: "Sessions in 30 days", cell: ({ ended_sessions: of }) => <Sizes {...of} /> },
          { header: "API keys", cell: ({ api_keys: of }) => <Sizes {...of} /> },
          {
            header: "Refused in a day",
            cell: ({ refused_requests: refused }) => (refused === 0 ? "–" : countText(refused)),
          },
          { header: "Endpoints", cell: ({ webhook_endpoints: of }) => <Sizes {...of} /> },
          { header: "Created", cell: ({ created_at: created }) => dayText(new Date(created)) },
        ]}
      />
    </Card>
  );
}
