import { getAccount } from "@assay/contract/accounts";
import { listOrganizationSizes, type OperatorStatus, operatorStatus } from "@assay/contract/operator";
import { type ReactNode, useEffect } from "react";
import type { Static } from "typebox";
import { hasCode } from "../api/call.ts";
import { refresh, useData, useList } from "../api/queries.ts";
import { StrayPage } from "../shell/not-found.tsx";
import { Disclosure } from "../ui/disclosure.tsx";
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
        about="How this installation fares. It holds nothing about the people who are verified, and looks again by itself while you do."
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
        <p className="font-semibold">All is well.</p>
      </Notice>
    );
  const words = concerns.map((concern) => ({ concern, ...concernWords[concern] }));
  return (
    <Notice kind={words.some(({ isGrave }) => isGrave) ? "bad" : "warn"}>
      <p className="font-semibold">
        {concerns.length === 1 ? "One thing to look at" : `${concerns.length} things to look at`}
      </p>
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
          webhooks.oldest_due_at === null ? "nothing waits" : `for ${ageText(webhooks.oldest_due_at, at)}`,
          plural(webhooks.endpoints_failing, "endpoint fails", "endpoints fail"),
        ]}
      />
      <Figure
        name="Mails waiting"
        value={countText(mails.waiting, mails.is_capped)}
        detail={[
          mails.oldest_at === null ? "nothing waits" : `for ${ageText(mails.oldest_at, at)}`,
          `${countText(mails.set_aside)} set aside`,
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
          `${countText(sum(({ judged }) => judged))} judged since the start`,
        ]}
      />
      <Figure
        name="Set aside"
        value={countText(aside.count)}
        detail={[
          aside.count === 0
            ? "every row is dealt with"
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
        <Badge look={health.is_ready ? "good" : "bad"}>{health.is_ready ? "ready" : "not ready"}</Badge>
      }
    >
      <Facts
        facts={[
          ...(health.problem === null ? [] : [["Problem", health.problem] as const]),
          ["Load", health.is_overloaded ? "requests are refused for want of room" : "has room"],
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
        <Empty>It could not be found out just now.</Empty>
      </Card>
    );
  const facts: (readonly [string, ReactNode])[] = [
    [
      "Authorities",
      trust.authorities === 0
        ? "none"
        : `${countText(trust.valid_authorities)} valid of ${countText(trust.authorities)}, from ${plural(trust.countries, "country", "countries")}`,
    ],
    ["Changed", trust.version === 0 ? "never" : `${agoText(trust.changed_at, at)}, version ${trust.version}`],
    [
      "Revocation lists",
      <ul key="lists" className="space-y-1.5">
        {trust.revocation_lists
          .filter(({ countries }) => countries > 0)
          .map(({ state, countries, oldest_list_at: oldest }) => (
            <li key={state} className="flex flex-wrap items-center gap-x-2 gap-y-1">
              <Badge look={listLooks[state]}>{state}</Badge>
              <span>
                {plural(countries, "country", "countries")}
                {oldest === null ? null : (
                  <span className="text-muted">, the oldest of {dayText(new Date(oldest))}</span>
                )}
              </span>
            </li>
          ))}
        {trust.countries === 0 ? <li className="text-muted">none</li> : null}
      </ul>,
    ],
    ...(trust.held_removals === 0
      ? []
      : [["To be removed", `${trust.held_removals}, unless you keep it (assay trust keep)`] as const]),
  ];
  return (
    <Card title="Trust">
      <Facts facts={facts} />
      {trust.sources.length === 0 ? null : (
        <div className="mt-5">
          <Table
            caption="Sources of trust"
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
                header: "Edition of",
                cell: ({ edition_at: edition }) => (edition === null ? "–" : dayText(new Date(edition))),
              },
              {
                header: "Answered",
                cell: ({ succeeded_at: last }) => agoText(last, at, "never"),
              },
            ]}
          />
        </div>
      )}
    </Card>
  );
}

const roleWords = { api: "answers requests", worker: "background work", all: "both" } as const;

function Processes({ status: { processes, at } }: { status: Status }) {
  return (
    <Card title="Processes">
      {processes.length === 0 ? (
        <Empty>None has told about itself yet.</Empty>
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
              header: "State",
              phone: "end",
              cell: ({ is_silent: isSilent, is_overloaded: isOverloaded, problem }) =>
                isSilent ? (
                  <Badge look="bad">silent</Badge>
                ) : problem !== null ? (
                  <Badge look="bad">not ready</Badge>
                ) : isOverloaded ? (
                  <Badge look="warn">overloaded</Badge>
                ) : (
                  <Badge look="good">running</Badge>
                ),
            },
            { header: "Does", cell: ({ role }) => roleWords[role] },
            { header: "Version", cell: ({ version }) => version },
            { header: "Running for", cell: ({ started_at: started }) => ageText(started, at) },
            { header: "Heard of", cell: ({ seen_at: seen }) => agoText(seen, at) },
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
          {countText(face.judged)} judged, {durationText(face.mean_seconds)} on average
          {face.nine_of_ten_within_seconds === null
            ? null
            : `, nine of ten within ${face.nine_of_ten_within_seconds} s`}
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
        <Empty>No process has told about its jobs yet.</Empty>
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
  { header: "Set aside", cell: ({ set_aside: aside }) => (aside === 0 ? "–" : countText(aside)) },
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
          header: "State",
          phone: "end",
          cell: ({ state }) => <Badge look={jobWords[state].look}>{jobWords[state].label}</Badge>,
        },
        {
          header: "Last run",
          cell: ({ last_run_at: last, running_since: since }) =>
            since !== null ? `runs for ${ageText(since, at)}` : agoText(last, at),
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
    <Card title="Set aside">
      <Table
        caption="Rows that are set aside"
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
            header: "Next try",
            cell: ({ next_try_at: next }) => (next <= at ? "now" : `in ${ageText(at, next)}`),
          },
        ]}
      />
      <p className="mt-4 text-small text-muted">
        <code>assay jobs</code> lists the rows, <code>assay jobs retry --job NAME</code> has them tried again
        now. What a reason means is told in{" "}
        <a href="/docs/operating#quarantined-rows" target="_blank" rel="noreferrer">
          the guide for operators
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
        empty="There is no organization yet."
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
                    is deleted on <Time ahead at={goes} />
                  </p>
                )}
              </>
            ),
          },
          {
            header: "Open",
            phone: "end",
            cell: ({ environment }) =>
              environment === "live" ? <Badge look="good">live</Badge> : <Badge look="plain">sandbox</Badge>,
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
