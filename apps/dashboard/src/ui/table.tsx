import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import { Loading, ProblemNotice } from "./page.tsx";

export type Column<T> = { header: string; cell: (row: T) => ReactNode };

/** On a narrow screen each row becomes a block with the headings beside its values, so nothing scrolls sideways. */
export function Table<T>(props: {
  caption: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  rowKey: (row: T) => string;
}) {
  return (
    <table className="w-full text-left max-md:block">
      <caption className="sr-only">{props.caption}</caption>
      <thead className="max-md:sr-only">
        <tr className="border-b border-line text-sm text-muted">
          {props.columns.map(({ header }) => (
            <th key={header} scope="col" className="py-2 pr-4 font-semibold">
              {header}
            </th>
          ))}
        </tr>
      </thead>
      <tbody className="max-md:block">
        {props.rows.map((row) => (
          <tr key={props.rowKey(row)} className="border-b border-line last:border-0 max-md:block max-md:py-3">
            {props.columns.map(({ header, cell }) => (
              <td
                key={header}
                className="py-2.5 pr-4 align-top max-md:flex max-md:gap-3 max-md:py-1 max-md:pr-0"
              >
                <span aria-hidden="true" className="w-20 shrink-0 text-sm text-muted md:hidden">
                  {header}
                </span>
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

/** A table of a list route, with everything that can be the case: loading, failed, empty, more to come. */
export function ListTable<T>(props: {
  caption: string;
  list: Listing<T>;
  columns: readonly Column<T>[];
  rowKey: (row: T) => string;
  empty: ReactNode;
}) {
  const { list } = props;
  if (list.isPending) return <Loading />;
  if (list.error !== null && list.items.length === 0)
    return <ProblemNotice error={list.error} retry={list.refetch} />;
  if (list.items.length === 0) return <Empty>{props.empty}</Empty>;
  return (
    <>
      <Table caption={props.caption} columns={props.columns} rows={list.items} rowKey={props.rowKey} />
      {list.error === null ? null : <ProblemNotice error={list.error} retry={list.refetch} />}
      {list.hasNextPage ? (
        <div className="mt-4">
          <Button disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            {list.isFetchingNextPage ? "Loading…" : "Show more"}
          </Button>
        </div>
      ) : null}
    </>
  );
}

export function Empty({ children }: { children: ReactNode }) {
  return (
    <div className="rounded-xl border border-dashed border-edge px-5 py-8 text-center text-muted">
      {children}
    </div>
  );
}
