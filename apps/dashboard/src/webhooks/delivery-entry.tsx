import type { WebhookDelivery } from "@assay/contract/webhooks";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Static } from "typebox";
import { t } from "../i18n/words.ts";
import { deliveryShown } from "../ui/status.tsx";
import { Entry, type EntryState } from "../ui/timeline.tsx";
import { EndpointLink } from "./delivery-page.tsx";
import { answerText } from "./delivery-words.ts";

const states: Record<ReturnType<typeof deliveryShown>["look"], EntryState> = {
  good: "done",
  bad: "failed",
  warn: "warn",
  plain: "now",
};

/** A delivery in the time line of its session or event. */
export function DeliveryEntry(props: { delivery: Static<typeof WebhookDelivery>; name: ReactNode }) {
  const { delivery } = props;
  const { last_status_code: code, last_error: error } = delivery;
  return (
    <Entry
      name={props.name}
      state={states[deliveryShown(delivery).look]}
      at={delivery.last_attempt_at ?? delivery.created_at}
      note={
        <>
          <EndpointLink endpointId={delivery.webhook_endpoint_id} />
          {code === null && error === null ? null : ` · ${answerText(code, error)}`}
          {" · "}
          <Link to="/dashboard/deliveries/$deliveryId" params={{ deliveryId: delivery.id }}>
            {t.webhooks.viewDelivery}
          </Link>
        </>
      }
    />
  );
}
