import { templatesPerEnvironment } from "@assay/contract/facts";
import { listTemplates } from "@assay/contract/templates";
import { Link } from "@tanstack/react-router";
import { useList } from "../api/queries.ts";
import { t } from "../i18n/words.ts";
import { fieldsText } from "../sessions/template-summary.tsx";
import { useMay } from "../shell/organization-context.ts";
import { LinkButton } from "../ui/button.tsx";
import { Card, Heading } from "../ui/page.tsx";
import { ListTable } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";

export function TemplatesPage() {
  const mayChange = useMay("admin");
  const templates = useList(listTemplates);
  const create = mayChange ? (
    <LinkButton look="primary" icon="plus" to="/dashboard/templates/new">
      {t.templates.create}
    </LinkButton>
  ) : null;
  return (
    <>
      <Heading title={t.shell.pages.templates} about={t.templates.about(templatesPerEnvironment)}>
        {create}
      </Heading>
      <Card>
        <ListTable
          caption={t.templates.caption}
          list={templates}
          rowKey={({ id }) => id}
          emptyIcon="document"
          emptyAction={create}
          empty={t.templates.empty}
          columns={[
            {
              header: t.ui.name,
              cell: ({ id, name }) => (
                <Link to="/dashboard/templates/$templateId" params={{ templateId: id }}>
                  <bdi className="font-medium">{name}</bdi>
                </Link>
              ),
            },
            { header: t.sessions.requested, cell: fieldsText },
            { header: t.templates.updated, cell: (template) => <Time at={template.updated_at} /> },
            {
              header: t.ui.actions,
              cell: ({ id }) =>
                mayChange ? (
                  <div className="flex flex-wrap gap-2">
                    <LinkButton small to="/dashboard/sessions/new" search={{ template: id }}>
                      {t.templates.newSession}
                    </LinkButton>
                  </div>
                ) : null,
            },
          ]}
        />
      </Card>
    </>
  );
}
