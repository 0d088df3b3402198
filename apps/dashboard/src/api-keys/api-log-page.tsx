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
import { t } from "../i18n/words.ts";
import { useWorkspace } from "../shell/organization-context.ts";
import { LinkButton } from "../ui/button.tsx";
import { CopyId } from "../ui/copy.tsx";
import { anyOption, FilterSelect, Filters, FilterText, useFilters } from "../ui/filters.tsx";
import { countText } from "../ui/numbers.ts";
import { Badge, Card, Heading } from "../ui/page.tsx";
import { ListTable } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";

type Entry = Static<typeof ApiRequest>;

const maxRequestId = 64;

export function ApiLogPage() {
  const { organization } = useWorkspace();
  const filters = useFilters(["request", "key", "status", "from", "to"]);
  const { request, key, status } = filters.values;
  const mayListKeys = hasRole(organization.role, "admin");
  const keys = useList(listApiKeys, { query: { limit: 100 } }, { enabled: mayListKeys });
  const log = useList(listApiRequests, {
    query: {
      ...filters.period,
      ...present({
        request_id: request?.slice(0, maxRequestId),
        api_key_id: key,
        status_class: statusClasses.find((each) => each === status),
      }),
    },
  });
  return (
    <>
      <Heading title={t.shell.pages.apiLog} about={t.apiKeys.log.about(apiLogLimits.days)} />
      <Filters filters={filters} dates={t.ui.when}>
        <FilterText
          label={t.apiKeys.log.requestId}
          value={request}
          maxLength={maxRequestId}
          onChange={(value) => filters.set({ request: value })}
        />
        {mayListKeys ? (
          <FilterSelect
            label={t.apiKeys.key}
            value={key}
            options={[anyOption, ...keys.items.map(({ id, name }) => ({ value: id, label: name }))]}
            onChange={(value) => filters.set({ key: value })}
          />
        ) : null}
        <FilterSelect
          label={t.ui.status}
          value={status}
          options={[
            anyOption,
            ...statusClasses.map((value) => ({ value, label: t.apiKeys.log.class[value] })),
          ]}
          onChange={(value) => filters.set({ status: value })}
        />
      </Filters>
      <Card>
        <ListTable
          caption={t.apiKeys.log.caption}
          list={log}
          rowKey={({ id }) => id}
          emptyIcon="receipt"
          empty={t.apiKeys.log.empty}
          emptyAction={
            mayListKeys ? <LinkButton to="/dashboard/api-keys">{t.apiKeys.log.toKeys}</LinkButton> : null
          }
          isFiltered={filters.count > 0}
          columns={[
            {
              header: t.apiKeys.log.request,
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
            { header: t.ui.status, phone: "end", cell: (entry) => <Outcome entry={entry} /> },
            {
              header: t.apiKeys.key,
              cell: ({ api_key: { name } }) =>
                name === null ? (
                  <span className="text-muted">{t.apiKeys.log.deletedKey}</span>
                ) : (
                  <bdi>{name}</bdi>
                ),
            },
            { header: t.apiKeys.log.took, cell: ({ duration_ms: ms }) => `${countText(ms)} ms` },
            { header: t.ui.when, cell: ({ created_at: at }) => <Time at={at} /> },
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
      {t.apiKeys.log.limit(most)}{" "}
      {day === 0 ? t.apiKeys.log.noneRefused : t.apiKeys.log.refused({ hour, day })}
    </p>
  );
}

function Outcome({ entry: { status, error_code: code, replayed, count } }: { entry: Entry }) {
  return (
    <>
      <Badge look={status < 300 ? "good" : status < 400 ? "plain" : status < 500 ? "warn" : "bad"}>
        {count === 1 ? status : `${status} × ${countText(count)}`}
      </Badge>
      {code === null ? null : (
        <p className="text-small">
          <a href={`/docs/errors#${code}`} target="_blank" rel="noreferrer" className="font-mono break-all">
            {code}
          </a>
        </p>
      )}
      {replayed ? <p className="text-small text-muted">{t.apiKeys.log.replayed}</p> : null}
    </>
  );
}
