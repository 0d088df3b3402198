import { useSyncExternalStore } from "react";
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

/** Over everything while the device has no network: what is shown may be old, and nothing can be saved. */
export function OfflineBanner() {
  const online = useOnline();
  return (
    <div role="status" className="sticky top-0 z-20">
      {online ? null : (
        <p className="flex items-center justify-center gap-2 border-b border-warn/30 bg-warn-soft px-4 py-2 text-small text-warn">
          <Icon name="offline" className="size-4" />
          You are offline. What you see may be old, and nothing can be saved until you are back.
        </p>
      )}
    </div>
  );
}
