import { listApiKeys } from "@assay/contract/api-keys";
import {
  type ApiRequest,
  apiLogLimits,
  getRequestLimit,
  listApiRequests,
  statusClasses,
} from "@assay/contract/api-log";
import { hasRole } from "@assay/contract/route";
import type { Static } from "typebox";
import { present } from "../api/call.ts";
import { useData, useList } from "../api/queries.ts";
import { usePlace } from "../shell/organization-context.ts";
import { LinkButton } from "../ui/button.tsx";
import { CopyId } from "../ui/copy.tsx";
import {
  anyOption,
  endOfDay,
  FilterSelect,
  Filters,
  FilterText,
  startOfDay,
  useFilters,
} from "../ui/filters.tsx";
import { Badge, Card, Heading } from "../ui/page.tsx";
import { ListTable } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";

type Entry = Static<typeof ApiRequest>;

const classLabels = {
  "2xx": "2xx: success",
  "3xx": "3xx: elsewhere",
  "4xx": "4xx: refused",
  "5xx": "5xx: failed",
} as const;

const maxRequestId = 64;

export function ApiLogPage() {
  const { organization } = usePlace();
  const filters = useFilters(["request", "key", "status", "from", "to"]);
  const { request, key, status, from, to } = filters.values;
  const mayListKeys = hasRole(organization.role, "admin");
  const keys = useList(listApiKeys, { query: { limit: 100 } }, { enabled: mayListKeys });
  const log = useList(listApiRequests, {
    query: present({
      request_id: request?.slice(0, maxRequestId),
      api_key_id: key,
      status_class: statusClasses.find((each) => each === status),
      created_from: startOfDay(from),
      created_to: endOfDay(to),
    }),
  });
  return (
    <>
      <Heading
        title="API log"
        about={`What your servers asked for in the last ${apiLogLimits.days} days, without query strings and bodies. A request is here about a second after its answer.`}
      />
      <Filters filters={filters} dates="When">
        <FilterText
          label="Request ID"
          value={request}
          maxLength={maxRequestId}
          onChange={(value) => filters.set({ request: value })}
        />
        {mayListKeys ? (
          <FilterSelect
            label="API key"
            value={key}
            options={[anyOption, ...keys.items.map(({ id, name }) => ({ value: id, label: name }))]}
            onChange={(value) => filters.set({ key: value })}
          />
        ) : null}
        <FilterSelect
          label="Status"
          value={status}
          options={[anyOption, ...statusClasses.map((value) => ({ value, label: classLabels[value] }))]}
          onChange={(value) => filters.set({ status: value })}
        />
      </Filters>
      <Card>
        <ListTable
          caption="Requests, the latest first"
          list={log}
          rowKey={({ id }) => id}
          emptyIcon="receipt"
          empty="No request with an API key of this environment yet."
          emptyAction={
            mayListKeys ? <LinkButton to="/dashboard/api-keys">Go to the API keys</LinkButton> : null
          }
          isFiltered={filters.count > 0}
          columns={[
            {
              header: "Request",
              phone: "title",
              cell: ({ method, path, request_id: id }) => (
                <>
                  <code className="font-mono text-small break-all">
                    <span className="font-semibold">{method}</span> {path}
                  </code>
                  <div className="text-muted">
                    <CopyId value={id} />
                  </div>
                </>
              ),
            },
            { header: "Status", phone: "end", cell: (entry) => <Outcome entry={entry} /> },
            {
              header: "API key",
              cell: ({ api_key: { name } }) =>
                name === null ? <span className="text-muted">deleted key</span> : <bdi>{name}</bdi>,
            },
            { header: "Took", cell: ({ duration_ms: ms }) => `${ms.toLocaleString("en")} ms` },
            { header: "When", cell: ({ created_at: at }) => <Time at={at} /> },
          ]}
        />
      </Card>
      <Limit />
    </>
  );
}

function Limit() {
  const limit = useData(getRequestLimit, {}).data?.data;
  if (limit === undefined) return null;
  const { requests_per_second: most, refused_last_hour: hour, refused_last_day: day } = limit;
  return (
    <p className="mt-4 text-small text-muted">
      Your organization may send {most.toLocaleString("en")} requests a second to each server process.{" "}
      {day === 0
        ? "None was refused for that in the last day."
        : `Refused for that: ${hour.toLocaleString("en")} in the last hour, ${day.toLocaleString("en")} in the last day.`}
    </p>
  );
}

function Outcome({ entry: { status, error_code: code, replayed, count } }: { entry: Entry }) {
  return (
    <>
      <Badge look={status < 300 ? "good" : status < 400 ? "plain" : status < 500 ? "warn" : "bad"}>
        {count === 1 ? status : `${status} × ${count.toLocaleString("en")}`}
      </Badge>
      {code === null ? null : (
        <p className="text-small">
          <a href={`/docs/errors#${code}`} target="_blank" rel="noreferrer" className="font-mono break-all">
            {code}
          </a>
        </p>
      )}
      {replayed ? <p className="text-small text-muted">repeated answer</p> : null}
    </>
  );
}
