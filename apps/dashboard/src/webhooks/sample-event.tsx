import type { EventType } from "@assay/contract/events";
import { useQuery } from "@tanstack/react-query";
import { t } from "../i18n/words.ts";
import { Code } from "../ui/code.tsx";
import { Loading } from "../ui/page.tsx";

/** The decrypted content of an event type. The samples are a separate script, because few pages need them. */
export function SampleEvent({ type }: { type: EventType }) {
  const sample = useQuery({
    queryKey: ["sample", type],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => {
      const { sampleEvent } = await import("@assay/contract/event-samples");
      return JSON.stringify(sampleEvent(type), null, 2);
    },
  });
  return sample.data === undefined ? <Loading /> : <Code label={t.webhooks.sample} text={sample.data} />;
}
