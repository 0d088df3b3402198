import { templatesPerEnvironment } from "@assay/contract/facts";
import { listTemplates } from "@assay/contract/templates";
import { Link } from "@tanstack/react-router";
import { useList } from "../api/queries.ts";
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
      Create template
    </LinkButton>
  ) : null;
  return (
    <>
      <Heading
        title="Templates"
        about={`Save what sessions have in common, and create them with one field. Up to ${templatesPerEnvironment} in each environment.`}
      >
        {create}
      </Heading>
      <Card>
        <ListTable
          caption="Templates, the latest first"
          list={templates}
          rowKey={({ id }) => id}
          emptyIcon="document"
          emptyAction={create}
          empty="A template holds requested data, reasons in several languages, methods, requirements and the return URL."
          columns={[
            {
              header: "Name",
              cell: ({ id, name }) => (
                <Link to="/dashboard/templates/$templateId" params={{ templateId: id }}>
                  <bdi className="font-medium">{name}</bdi>
                </Link>
              ),
            },
            { header: "Requested data", cell: fieldsText },
            { header: "Updated", cell: (template) => <Time at={template.updated_at} /> },
            {
              header: "Actions",
              cell: ({ id }) =>
                mayChange ? (
                  <div className="flex flex-wrap gap-2">
                    <LinkButton small to="/dashboard/sessions/new" search={{ template: id } as never}>
                      New session
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
