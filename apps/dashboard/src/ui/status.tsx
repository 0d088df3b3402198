import type { AttemptStatus, SessionStatus } from "@assay/contract/sessions";
import type { WebhookDelivery } from "@assay/contract/webhooks";
import type { Static } from "typebox";
import { Badge, type BadgeLook } from "./page.tsx";

/**
 * How things stand, in one place: what is open is neutral, amber is a warning, red is lost or failed, green is done.
 * Words begin with a capital letter.
 */
type Shown = { label: string; look: BadgeLook };

const ends: Record<SessionStatus | AttemptStatus, Shown> = {
  created: { label: "Created", look: "plain" },
  in_progress: { label: "In progress", look: "plain" },
  succeeded: { label: "Succeeded", look: "good" },
  failed: { label: "Failed", look: "bad" },
  expired: { label: "Expired", look: "plain" },
  cancelled: { label: "Cancelled", look: "plain" },
};

/** Of a session or an attempt. */
export function Status({ of }: { of: SessionStatus | AttemptStatus }) {
  const { label, look } = ends[of];
  return <Badge look={look}>{label}</Badge>;
}

type Delivery = Pick<Static<typeof WebhookDelivery>, "status" | "attempt_count">;

/** One that waits for its first attempt is under way; one that waits for another has failed at least once. */
export function deliveryShown({ status, attempt_count: attempts }: Delivery): Shown {
  switch (status) {
    case "pending":
      return attempts === 0 ? { label: "Pending", look: "plain" } : { label: "Retrying", look: "warn" };
    case "delivering":
      return { label: "Sending", look: "plain" };
    case "succeeded":
      return { label: "Delivered", look: "good" };
    case "failed":
      return { label: "Failed", look: "bad" };
  }
}

export function DeliveryStatus({ of }: { of: Delivery }) {
  const { label, look } = deliveryShown(of);
  return <Badge look={look}>{label}</Badge>;
}
