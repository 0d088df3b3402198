import { type ReactNode, useEffect, useRef } from "react";
import { problemOf } from "../api/call.ts";
import { Button } from "./button.tsx";
import { Notice } from "./notice.tsx";

let pagesShown = 0;

/**
 * The heading of a page. After a change of page the focus moves to it, as the browser would do for a page of its own; not
 * on the first one, where the browser has done so.
 */
export function Heading({ title, children }: { title: string; children?: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Assay`;
    pagesShown += 1;
    if (pagesShown > 1 && document.querySelector("dialog[open]") === null) heading.current?.focus();
  }, [title]);
  return (
    <div className="mb-6 flex flex-wrap items-center justify-between gap-3">
      <h1 ref={heading} tabIndex={-1} className="text-2xl font-semibold tracking-tight">
        {title}
      </h1>
      {children ? <div className="flex flex-wrap items-center gap-2">{children}</div> : null}
    </div>
  );
}

export function Card(props: { title?: string; id?: string; actions?: ReactNode; children: ReactNode }) {
  return (
    <section id={props.id} className="mb-6 rounded-2xl border border-line bg-card p-4 sm:p-6">
      {props.title ? (
        <div className="mb-4 flex flex-wrap items-center justify-between gap-3">
          <h2 className="text-lg font-semibold">{props.title}</h2>
          {props.actions}
        </div>
      ) : null}
      {props.children}
    </section>
  );
}

export function Loading() {
  return <output className="block py-6 text-muted">Loading…</output>;
}

export function ProblemNotice(props: { error: unknown; retry?: () => unknown }) {
  return (
    <Notice kind="bad" problem={problemOf(props.error)}>
      {props.retry ? (
        <p className="pt-1">
          <Button small onClick={() => void props.retry?.()}>
            Try again
          </Button>
        </p>
      ) : null}
    </Notice>
  );
}

/** What is shown until a resource is there. */
export function Loaded<T>(props: {
  query: { data: T | undefined; error: unknown; refetch: () => unknown };
  children: (data: T) => ReactNode;
}) {
  const { data, error, refetch } = props.query;
  if (data !== undefined) return <>{props.children(data)}</>;
  if (error !== null) return <ProblemNotice error={error} retry={refetch} />;
  return <Loading />;
}

export function Facts({ facts }: { facts: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="grid gap-x-6 gap-y-2 sm:grid-cols-[fit-content(12rem)_minmax(0,1fr)]">
      {facts.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-sm text-muted sm:pt-0.5">{name}</dt>
          <dd className="min-w-0 max-sm:mb-2">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

const badgeLooks = {
  good: "bg-good-tint text-good",
  bad: "bg-bad-tint text-bad",
  warn: "bg-warn-tint text-warn",
  plain: "bg-code text-ink",
} as const;

export function Badge({ look, children }: { look: keyof typeof badgeLooks; children: ReactNode }) {
  return (
    <span
      className={`inline-block rounded-full px-2.5 py-0.5 text-sm font-medium whitespace-nowrap ${badgeLooks[look]}`}
    >
      {children}
    </span>
  );
}

const timeFormat = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const exactFormat = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** `exact` is with seconds, for what follows closely upon something else. */
export function Time({ at, never, exact }: { at: string | null; never?: string; exact?: boolean }) {
  if (at === null) return <span className="text-muted">{never ?? "–"}</span>;
  return (
    <time dateTime={at} title={at} className="md:whitespace-nowrap">
      {(exact ? exactFormat : timeFormat).format(new Date(at))}
    </time>
  );
}
