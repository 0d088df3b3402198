import type { ReactNode } from "react";
import { t } from "../i18n/words.ts";
import { Button } from "./button.tsx";
import { Icon, type IconName } from "./icon.tsx";
import { Loading, ProblemNotice } from "./page.tsx";

export type Column<T> = {
  header: string;
  cell: (row: T) => ReactNode;
  /**
   * The position on a narrow screen: the row's title, the end of its first line, or hidden. By default the
   * cell stands below, with its heading.
   */
  phone?: "title" | "end" | "hidden";
};

const onPhone = {
  title: "max-md:order-1 max-md:min-w-0 max-md:flex-1 max-md:basis-1/2",
  alone: "max-md:order-1 max-md:basis-full max-md:min-w-0",
  end: "max-md:order-2 max-md:ms-auto max-md:text-end",
  hidden: "max-md:hidden",
  below:
    "max-md:order-3 max-md:flex max-md:max-w-full max-md:items-baseline max-md:gap-1.5 max-md:text-small",
} as const;

/** Row actions stand at the end, aligned in every row. */
const atEnd = "md:text-end md:[&>div>div]:justify-end";

/**
 * On a narrow screen each row becomes a block: title and status in the first line, the rest small below.
 * Nothing scrolls sideways.
 */
export function Table<T>(props: {
  caption: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  rowKey: (row: T) => string;
}) {
  const placed = props.columns.some(({ phone }) => phone === "title")
    ? props.columns
    : props.columns.map((column, index) => (index === 0 ? { ...column, phone: "title" as const } : column));
  const hasEnd = placed.some(({ phone }) => phone === "end");
  const phoneClass = (phone: Column<T>["phone"]) =>
    onPhone[phone === "title" && !hasEnd ? "alone" : (phone ?? "below")];
  return (
    <table className="w-full text-left max-md:block">
      <caption className="sr-only">{props.caption}</caption>
      <thead className="max-md:sr-only">
        <tr className="border-b border-line text-small text-muted">
          {placed.map(({ header }) => (
            <th key={header} scope="col" className="py-2 pe-4 font-medium">
              {header === t.ui.actions ? <span className="sr-only">{header}</span> : header}
            </th>
          ))}
        </tr>
      </thead>
      <tbody className="max-md:block">
        {props.rows.map((row) => (
          <tr
            key={props.rowKey(row)}
            className="border-b border-line last:border-0 max-md:flex max-md:flex-wrap max-md:items-center max-md:gap-x-4 max-md:gap-y-1 max-md:py-3"
          >
            {placed.map(({ header, cell, phone }) => (
              <td
                key={header}
                className={`py-3 pe-4 align-top last:pe-0 max-md:p-0 md:[&_button]:whitespace-nowrap ${header === t.ui.actions ? atEnd : ""} ${phoneClass(phone)}`}
              >
                {phone === undefined && header !== t.ui.actions ? (
                  <span aria-hidden="true" className="shrink-0 text-muted md:hidden">
                    {header}
                  </span>
                ) : null}
                <div className="min-w-0">{cell(row)}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

type Listing<T> = {
  items: readonly T[];
  isPending: boolean;
  error: unknown;
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage: () => unknown;
  refetch: () => unknown;
};

/** The table of a list route with all its states: loading, failed, empty, more to come. */
export function ListTable<T>(props: {
  caption: string;
  list: Listing<T>;
  columns: readonly Column<T>[];
  rowKey: (row: T) => string;
  empty: ReactNode;
  emptyIcon?: IconName | undefined;
  /** A button that adds the first entry, if the page has one. */
  emptyAction?: ReactNode;
  isFiltered?: boolean | undefined;
}) {
  const { list } = props;
  if (list.isPending) return <Loading lines={6} />;
  if (list.error !== null && list.items.length === 0)
    return <ProblemNotice error={list.error} retry={list.refetch} />;
  if (list.items.length === 0 && props.isFiltered) return <NothingFits />;
  if (list.items.length === 0)
    return (
      <Empty icon={props.emptyIcon} action={props.emptyAction}>
        {props.empty}
      </Empty>
    );
  return (
    <>
      <Table caption={props.caption} columns={props.columns} rows={list.items} rowKey={props.rowKey} />
      {list.error === null ? null : <ProblemNotice error={list.error} retry={list.refetch} />}
      {list.hasNextPage ? (
        <div className="mt-4 text-center">
          <Button small disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            {list.isFetchingNextPage ? t.ui.oneMoment : t.ui.showMore}
          </Button>
        </div>
      ) : null}
    </>
  );
}

function NothingFits() {
  return <Empty icon="search">{t.ui.noResults}</Empty>;
}

/** An empty list: what will appear here, and how to begin. */
export function Empty(props: { icon?: IconName | undefined; action?: ReactNode; children: ReactNode }) {
  return (
    <div className="flex flex-col items-center gap-3 px-5 py-8 text-center text-muted">
      {props.icon === undefined ? null : (
        <span className="inline-flex size-11 items-center justify-center rounded-full bg-soft">
          <Icon name={props.icon} className="size-5" />
        </span>
      )}
      <div className="max-w-md text-balance">{props.children}</div>
      {props.action}
    </div>
  );
}
