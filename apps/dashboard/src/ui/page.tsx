import { Link, type LinkProps } from "@tanstack/react-router";
import { type ReactNode, useLayoutEffect, useRef } from "react";
import { problemOf } from "../api/call.ts";
import { windowTitle } from "../api/chosen-environment.ts";
import { t } from "../i18n/words.ts";
import { Button } from "./button.tsx";
import { Icon } from "./icon.tsx";
import { Notice } from "./notice.tsx";
import { useOnline } from "./offline.tsx";

let pagesShown = 0;

export type Crumb = { label: string; to: NonNullable<LinkProps["to"]> };

/**
 * The heading of a page, below its breadcrumbs. After navigation it gets the focus, as in a new document, but
 * does not scroll: the router does.
 */
export function Heading(props: {
  title: string;
  /** The pages above this one. */
  crumbs?: readonly Crumb[];
  /** The status beside the title. */
  mark?: ReactNode;
  /** A line about the page's subject. */
  about?: ReactNode;
  children?: ReactNode;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  const { title } = props;
  // Before the paint: a screen reader names the window and the focus as soon as the heading is there.
  useLayoutEffect(() => {
    document.title = windowTitle(title);
    pagesShown += 1;
    if (pagesShown > 1 && document.querySelector("dialog[open]") === null)
      heading.current?.focus({ preventScroll: true });
  }, [title]);
  return (
    <div className="mb-6">
      {props.crumbs === undefined ? null : <Breadcrumb crumbs={props.crumbs} here={title} />}
      <div className="flex flex-wrap items-center justify-between gap-3">
        <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1 max-sm:flex-1 max-sm:basis-40">
          <h1 ref={heading} tabIndex={-1} className="min-w-0 text-title font-semibold tracking-tight">
            <bdi>{title}</bdi>
          </h1>
          {props.mark}
        </div>
        {props.children ? (
          // On a phone the first action takes the full width, and a menu stands at the end of the line.
          <div className="flex flex-wrap items-center gap-2 max-sm:justify-end max-sm:has-[>:nth-child(2)]:w-full max-sm:*:first:not-last:grow">
            {props.children}
          </div>
        ) : null}
      </div>
      {props.about === undefined ? null : <p className="mt-1 max-w-2xl text-muted">{props.about}</p>}
    </div>
  );
}

function Breadcrumb({ crumbs, here }: { crumbs: readonly Crumb[]; here: string }) {
  return (
    <nav aria-label={t.ui.breadcrumb} className="mb-1">
      <ol className="flex flex-wrap items-center gap-1 text-small text-muted">
        {crumbs.map(({ label, to }) => (
          <li key={label} className="flex items-center gap-1">
            <Link
              to={to}
              // A parent page is not the current one, although its path is a prefix.
              activeOptions={{ exact: true }}
              className="text-muted no-underline hover:text-ink hover:underline"
            >
              {label}
            </Link>
            <Icon name="next" className="size-3.5" />
          </li>
        ))}
        <li aria-current="page" className="min-w-0 truncate">
          {here}
        </li>
      </ol>
    </nav>
  );
}

export function Card(props: { title?: string; id?: string; actions?: ReactNode; children: ReactNode }) {
  return (
    <section
      id={props.id}
      className="mb-6 rounded-card border border-line bg-card p-4 shadow-raised sm:p-6 dark:shadow-none"
    >
      {props.title ? (
        <div className="mb-4 flex flex-wrap items-center justify-between gap-3">
          <h2 className="text-part font-semibold">{props.title}</h2>
          {props.actions}
        </div>
      ) : null}
      {props.children}
    </section>
  );
}

/** Placeholder lines as high as the content, with a text for screen readers. */
export function Loading({ lines = 3, tall = false }: { lines?: number; tall?: boolean }) {
  return (
    <output className="block py-1">
      <span className="sr-only">{t.ui.loading}</span>
      <span aria-hidden="true" className="block space-y-3">
        {Array.from({ length: lines }, (_, line) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: they are all alike and never change places.
          <span key={line} className={`outline-block block ${tall ? "h-24" : "h-11"}`} />
        ))}
      </span>
    </output>
  );
}

/** Content that could not be loaded. After a lost network, the page loads it again on its own. */
export function ProblemNotice(props: { error: unknown; retry?: () => unknown }) {
  const online = useOnline();
  const problem = problemOf(props.error);
  const shown =
    problem.code !== "UNREACHABLE" || props.retry === undefined
      ? problem
      : online
        ? { ...problem, hint: t.ui.offline.checkConnection }
        : {
            ...problem,
            message: t.ui.offline.notLoaded,
            hint: t.ui.offline.loadsLater,
          };
  return (
    <Notice kind="bad" problem={shown}>
      {props.retry ? (
        <p className="pt-1">
          <Button small icon="refresh" onClick={() => void props.retry?.()}>
            {t.ui.tryAgain}
          </Button>
        </p>
      ) : null}
    </Notice>
  );
}

/** Shown until a resource is loaded. */
export function Loaded<T>(props: {
  query: { data: T | undefined; error: unknown; refetch: () => unknown };
  children: (data: T) => ReactNode;
  lines?: number;
}) {
  const { data, error, refetch } = props.query;
  if (data !== undefined) return <>{props.children(data)}</>;
  if (error !== null) return <ProblemNotice error={error} retry={refetch} />;
  return <Loading lines={props.lines ?? 3} />;
}

/** `narrow`: each name above its value, as beside a time line. */
export function Facts(props: { facts: readonly (readonly [string, ReactNode])[]; narrow?: boolean }) {
  return (
    <dl
      className={`grid gap-x-6 gap-y-2.5 ${props.narrow ? "" : "sm:grid-cols-[fit-content(12rem)_minmax(0,1fr)]"}`}
    >
      {props.facts.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className={`text-small text-muted ${props.narrow ? "" : "sm:pt-0.5"}`}>{name}</dt>
          <dd className={`min-w-0 ${props.narrow ? "-mt-2 mb-1" : "max-sm:-mt-1.5 max-sm:mb-1.5"}`}>
            {value}
          </dd>
        </div>
      ))}
    </dl>
  );
}

const badgeLooks = {
  good: "bg-good-soft text-good",
  bad: "bg-bad-soft text-bad",
  warn: "bg-warn-soft text-warn",
  plain: "bg-code text-ink",
} as const;
export type BadgeLook = keyof typeof badgeLooks;

export function Badge({ look, children }: { look: BadgeLook; children: ReactNode }) {
  return (
    <span
      className={`inline-flex items-center gap-1.5 rounded-full border border-transparent px-2.5 py-px text-small font-medium whitespace-nowrap ${badgeLooks[look]}`}
    >
      <span aria-hidden="true" className="size-1.5 rounded-full bg-current" />
      {children}
    </span>
  );
}
