import type { AttemptStatus, SessionStatus } from "@assay/contract/sessions";
import type { WebhookDelivery } from "@assay/contract/webhooks";
import type { Static } from "typebox";
import { t } from "../i18n/words.ts";
import { Badge, type BadgeLook } from "./page.tsx";

/**
 * The colours of every status: neutral is open, amber is a warning, red is lost or failed, green is done.
 * Labels begin with a capital letter.
 */
const ends: Record<SessionStatus | AttemptStatus, BadgeLook> = {
  created: "plain",
  in_progress: "plain",
  succeeded: "good",
  failed: "bad",
  expired: "plain",
  cancelled: "plain",
};

/** The status of a session or an attempt. */
export function Status({ of }: { of: SessionStatus | AttemptStatus }) {
  return <Badge look={ends[of]}>{t.ui.sessionStatus[of]}</Badge>;
}

type Delivery = Pick<Static<typeof WebhookDelivery>, "status" | "attempt_count">;

/** A pending delivery with an attempt behind it has failed at least once. */
export function deliveryShown({ status, attempt_count: attempts }: Delivery): {
  label: string;
  look: BadgeLook;
} {
  const words = t.ui.deliveryStatus;
  switch (status) {
    case "pending":
      return attempts === 0
        ? { label: words.pending, look: "plain" }
        : { label: words.retrying, look: "warn" };
    case "delivering":
      return { label: words.sending, look: "plain" };
    case "succeeded":
      return { label: words.delivered, look: "good" };
    case "failed":
      return { label: words.failed, look: "bad" };
  }
}

export function DeliveryStatus({ of }: { of: Delivery }) {
  const { label, look } = deliveryShown(of);
  return <Badge look={look}>{label}</Badge>;
}
