import { readGoLive } from "@assay/contract/go-live";
import { shownLink } from "@assay/contract/shown-domain";
import { listEndpoints } from "@assay/contract/webhooks";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { callInLive } from "../api/call.ts";
import { queries, refresh } from "../api/queries.ts";
import { t } from "../i18n/words.ts";
import { useMay } from "../shell/organization-context.ts";
import { Button } from "../ui/button.tsx";
import { Choices } from "../ui/choices.tsx";
import { CreateEndpoint, EndpointStatus } from "../webhooks/endpoints-page.tsx";
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
                {t.ui.registerKey}
              </Button>
            )}
          </li>
        ))}
      </ul>
      <Button small onClick={() => setCreating(true)}>
        {t.organization.results.addEndpoint}
      </Button>
      {creating ? (
        <CreateEndpoint
          title={t.organization.results.addEndpoint}
          send={callInLive}
          onCreated={reread}
          onClose={() => setCreating(false)}
          next={(endpointId) => (
            <Button
              look="primary"
              onClick={() => {
                setCreating(false);
                setKeyFor(endpointId);
              }}
            >
              {t.ui.registerKey}
            </Button>
          )}
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
