import { readGoLive } from "@assay/contract/go-live";
import { shownLink } from "@assay/contract/shown-domain";
import { createEndpoint, listEndpoints } from "@assay/contract/webhooks";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { callInLive } from "../api/call.ts";
import { queries, refresh } from "../api/queries.ts";
import { t } from "../i18n/words.ts";
import { useMay } from "../shell/organization-context.ts";
import { Button } from "../ui/button.tsx";
import { Choices } from "../ui/choices.tsx";
import { Copy } from "../ui/copy.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Form } from "../ui/form.tsx";
import { EndpointFields, EndpointStatus, endpointBody, RefusedAddress } from "../webhooks/endpoints-page.tsx";
import { RegisterKey } from "../webhooks/register-key.tsx";

export type Results = "webhooks" | "poll_only";

const ways: readonly Results[] = ["webhooks", "poll_only"];

const queryKey = ["liveEndpoints"];

/** How results reach the organization in live. Its endpoint is set up here: live is not open yet. */
export function LiveResults(props: { value: Results; onChange: (value: Results) => void }) {
  const mayChange = useMay("admin");
  return (
    <div className="mt-3 space-y-3">
      <Choices
        legend={t.organization.results.how}
        options={ways.map((value) => ({ value, ...t.organization.results.ways[value] }))}
        value={props.value}
        onChange={props.onChange}
      />
      {props.value === "webhooks" && mayChange ? <LiveEndpoints /> : null}
    </div>
  );
}

function LiveEndpoints() {
  const endpoints = useQuery({
    queryKey,
    queryFn: ({ signal }) => callInLive(listEndpoints, { query: { limit: 25 }, signal }),
  });
  const [creating, setCreating] = useState(false);
  const [keyFor, setKeyFor] = useState<string | null>(null);
  const reread = () => Promise.all([queries.invalidateQueries({ queryKey }), refresh(readGoLive)]);
  return (
    <>
      <ul className="space-y-2 text-small">
        {(endpoints.data?.data ?? []).map((endpoint) => (
          <li key={endpoint.id} className="flex flex-wrap items-center gap-3">
            <bdi className="break-all">{shownLink(endpoint.url)}</bdi>
            <EndpointStatus endpoint={endpoint} />
            {endpoint.has_active_key ? null : (
              <Button small onClick={() => setKeyFor(endpoint.id)}>
                {t.organization.results.registerKey}
              </Button>
            )}
          </li>
        ))}
      </ul>
      <Button small onClick={() => setCreating(true)}>
        {t.organization.results.addEndpoint}
      </Button>
      {creating ? (
        <CreateLiveEndpoint
          onClose={(createdId) => {
            setCreating(false);
            setKeyFor(createdId);
          }}
          onCreated={reread}
        />
      ) : null}
      {keyFor === null ? null : (
        <RegisterKey
          endpointId={keyFor}
          send={callInLive}
          onClose={() => {
            setKeyFor(null);
            void reread();
          }}
        />
      )}
    </>
  );
}

function CreateLiveEndpoint(props: {
  /** With the endpoint that needs a key next, if there is one. */
  onClose: (createdId: string | null) => void;
  onCreated: () => Promise<unknown>;
}) {
  const [created, setCreated] = useState<{ id: string; secret: string } | null>(null);
  if (created !== null)
    return (
      <Dialog title={t.organization.results.added} onClose={() => props.onClose(null)}>
        <p className="mb-3">{t.organization.results.verify}</p>
        <Copy label={t.ui.signingSecret} value={created.secret} />
        <div className="mt-4">
          <Button look="primary" onClick={() => props.onClose(created.id)}>
            {t.organization.results.registerKey}
          </Button>
        </div>
      </Dialog>
    );
  return (
    <Dialog title={t.organization.results.addEndpoint} onClose={() => props.onClose(null)}>
      <Form
        submit={t.ui.add}
        onSubmit={async (values) => {
          const { data } = await callInLive(createEndpoint, { body: endpointBody(values) });
          setCreated({ id: data.endpoint.id, secret: data.signing_secret });
          await props.onCreated();
        }}
        onProblem={(problem) => <RefusedAddress problem={problem} />}
      >
        <EndpointFields />
      </Form>
    </Dialog>
  );
}
