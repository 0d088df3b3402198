import type { ReactNode } from "react";
import { t } from "../i18n/words.ts";
import { Code } from "./code.tsx";
import { copyText } from "./copy.tsx";
import { useFilters } from "./filters.tsx";
import { Menu, type MenuItem } from "./menu.tsx";
import { type Crumb, Facts, Heading, Loading, ProblemNotice } from "./page.tsx";
import { Tabs } from "./tabs.tsx";

/** One object: status and actions in the header, events on the left, facts on the right, and its JSON. */
export function ObjectPage(props: {
  crumb: Crumb;
  title: string;
  status?: ReactNode;
  about?: ReactNode;
  /** The main action. */
  primary?: ReactNode;
  menu?: readonly MenuItem[];
  facts: readonly (readonly [string, ReactNode])[];
  /** As the API returns it. */
  object: { id: string };
  /** Further views, between the first and the JSON. */
  views?: readonly { value: string; label: string; content: ReactNode }[];
  /** Sections of the left side. */
  children: ReactNode;
}) {
  const { values, set } = useFilters(["view"]);
  const views = props.views ?? [];
  const view = values.view ?? "";
  const other = views.find(({ value }) => value === view);
  const { id } = props.object;
  return (
    <>
      <Heading title={props.title} crumbs={[props.crumb]} mark={props.status} about={props.about}>
        {props.primary}
        <Menu
          label={t.ui.moreActions}
          items={[{ label: t.ui.copyId, icon: "copy", run: () => void copyText(id) }, ...(props.menu ?? [])]}
        />
      </Heading>
      <Tabs
        label={t.ui.view}
        value={other === undefined && view !== "json" ? "" : view}
        tabs={[{ value: "", label: t.ui.overview }, ...views, { value: "json", label: "JSON" }]}
        onChange={(value) => set({ view: value })}
      />
      {view === "json" ? (
        <Panel>
          <Section>
            <Code label="JSON" text={JSON.stringify(props.object, null, 2)} />
          </Section>
        </Panel>
      ) : other !== undefined ? (
        <Panel>{other.content}</Panel>
      ) : (
        <div className="grid items-start gap-x-8 gap-y-6 lg:grid-cols-[minmax(0,1fr)_19rem]">
          <Panel>{props.children}</Panel>
          <section className="min-w-0 max-lg:px-4">
            <h2 className="mb-4 text-part font-semibold">{t.ui.details}</h2>
            <Facts narrow facts={props.facts} />
          </section>
        </div>
      )}
    </>
  );
}

function Panel({ children }: { children: ReactNode }) {
  return (
    <div className="min-w-0 divide-y divide-line rounded-card border border-line bg-card shadow-raised dark:shadow-none">
      {children}
    </div>
  );
}

/** A part of the left side, or of a view. */
export function Section(props: { title?: string; id?: string; actions?: ReactNode; children: ReactNode }) {
  return (
    <section id={props.id} className="p-4 sm:p-6">
      {props.title === undefined ? null : (
        <div className="mb-4 flex flex-wrap items-center justify-between gap-3">
          <h2 className="text-part font-semibold">{props.title}</h2>
          {props.actions}
        </div>
      )}
      {props.children}
    </section>
  );
}

/** Shown while the object loads: the page with the name of its kind. */
export function LoadedObject<T>(props: {
  crumb: Crumb;
  kind: string;
  query: { data: { data: T } | undefined; error: unknown; refetch: () => unknown };
  children: (object: T) => ReactNode;
}) {
  const { data, error, refetch } = props.query;
  if (data !== undefined) return <>{props.children(data.data)}</>;
  return (
    <>
      <Heading title={props.kind} crumbs={[props.crumb]} />
      {error === null ? <Loading lines={6} /> : <ProblemNotice error={error} retry={refetch} />}
    </>
  );
}
