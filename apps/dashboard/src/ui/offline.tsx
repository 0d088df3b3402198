import { useRouter } from "@tanstack/react-router";
import { type ReactNode, useSyncExternalStore } from "react";
import { useUnopened } from "../api/fetch-page.ts";
import { t } from "../i18n/words.ts";
import { Button } from "./button.tsx";
import { Icon } from "./icon.tsx";

export function useOnline(): boolean {
  return useSyncExternalStore(
    (listener) => {
      window.addEventListener("online", listener);
      window.addEventListener("offline", listener);
      return () => {
        window.removeEventListener("online", listener);
        window.removeEventListener("offline", listener);
      };
    },
    () => navigator.onLine,
  );
}

/**
 * Shown while the device has no network: data may be old, and nothing can be saved. If a page could not be
 * opened, the notice says so.
 */
export function OfflineBanner() {
  const online = useOnline();
  const unopened = useUnopened();
  const router = useRouter();
  return (
    <div role="status" className="sticky top-0 z-20">
      {unopened !== null ? (
        <Line>
          <span>{online ? t.ui.offline.notOpened : t.ui.offline.notOpenedOffline}</span>
          <Button small icon="refresh" onClick={() => router.history.push(unopened)}>
            {t.ui.tryAgain}
          </Button>
        </Line>
      ) : online ? null : (
        <Line>{t.ui.offline.banner}</Line>
      )}
    </div>
  );
}

function Line({ children }: { children: ReactNode }) {
  return (
    <div className="flex flex-wrap items-center justify-center gap-x-3 gap-y-1 border-b border-warn/30 bg-warn-soft px-4 py-2 text-small text-warn">
      <Icon name="offline" className="size-4" />
      {children}
    </div>
  );
}
