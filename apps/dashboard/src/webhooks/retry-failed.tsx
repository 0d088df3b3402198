import { getDelivery, listDeliveries, retryFailed } from "@assay/contract/webhooks";
import { useState } from "react";
import { call } from "../api/call.ts";
import { PageProblem } from "../api/page-problem.ts";
import { refresh } from "../api/queries.ts";
import { t } from "../i18n/words.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Field } from "../ui/field.tsx";
import { Form } from "../ui/form.tsx";
import { toast } from "../ui/toasts.tsx";

const dayMs = 24 * 60 * 60 * 1000;

export function RetryFailed({ endpointId }: { endpointId: string }) {
  const [asking, setAsking] = useState(false);
  return (
    <>
      <Button icon="refresh" onClick={() => setAsking(true)}>
        {t.webhooks.retryFailedShort}
      </Button>
      {asking ? <RetryFailedDialog endpointId={endpointId} onClose={() => setAsking(false)} /> : null}
    </>
  );
}

/** The value of a field for local times: `2026-03-01T09:30`. */
function fieldTime(at: Date): string {
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** Retries what an endpoint missed, such as during an outage. */
export function RetryFailedDialog(props: { endpointId: string; onClose: () => void }) {
  const [now] = useState(() => new Date());
  return (
    <Dialog title={t.webhooks.retryFailed} onClose={props.onClose}>
      <Form
        submit={t.webhooks.retry}
        onSubmit={async (values) => {
          const from = new Date(values.raw("from"));
          // The field has minutes; the range includes all of the last one.
          const to = new Date(new Date(values.raw("to")).getTime() + 59_999);
          if (from > to) throw new PageProblem(t.webhooks.fromBeforeTo);
          const retried = await retryAll(props.endpointId, from, to);
          await refresh(listDeliveries, getDelivery);
          props.onClose();
          toast(
            retried === 0 ? t.webhooks.noneToRetry : t.webhooks.retrying(retried),
            retried === 0 ? "warn" : "good",
          );
        }}
      >
        <p>{t.webhooks.retryFailedText}</p>
        <Field
          label={t.webhooks.from}
          name="from"
          type="datetime-local"
          defaultValue={fieldTime(new Date(now.getTime() - dayMs))}
        />
        <Field label={t.webhooks.to} name="to" type="datetime-local" defaultValue={fieldTime(now)} />
      </Form>
    </Dialog>
  );
}

async function retryAll(endpointId: string, from: Date, to: Date): Promise<number> {
  let retried = 0;
  for (;;) {
    const { data } = await call(retryFailed, {
      params: { endpoint_id: endpointId },
      body: { created_from: from.toISOString(), created_to: to.toISOString() },
    });
    retried += data.retried;
    if (!data.has_more) return retried;
  }
}
