import { type ReactNode, useEffect, useState } from "react";
import { hasRedirect } from "../embed/way-back.ts";
import { useWords } from "../i18n/language.ts";
import type { Details } from "../session/api.ts";
import { takesWallets } from "../session/offers.ts";
import type { Session } from "../session/use-session.ts";
import { Loading } from "../ui/connection.tsx";
import { Screen } from "../ui/screen.tsx";

/**
 * Wraps the consent screen: requests the code that this browser brings back to the partner. Pages that only
 * lead elsewhere do not request it, so that the browser in which the person continues is the first one.
 */
export function OpenHere({
  session: { api, kept },
  details,
  children,
}: {
  session: Session;
  details: Details;
  children: ReactNode;
}) {
  const isBound = details.requirements.binding === "required";
  const needsCode = isBound || takesWallets(details) || hasRedirect(details);
  const [asked, setAsked] = useState(kept.returnCode !== null || !needsCode);
  useEffect(() => {
    if (asked) return;
    let left = false;
    api.open().then(
      (code) => {
        if (code !== null) kept.returnCode = code;
        if (!left) setAsked(true);
      },
      // Without an answer the person can still agree; if one browser is required, the service refuses.
      () => {
        if (!left) setAsked(true);
      },
    );
    return () => {
      left = true;
    };
  }, [api, kept, asked]);
  if (!isBound) return children;
  if (!asked) return <Loading />;
  return kept.returnCode === null ? <OtherBrowserScreen name={details.organization.name} /> : children;
}

/** The partner allows no other browser or device, so the person cannot continue here. */
export function OtherBrowserScreen({ name }: { name: string }) {
  const { t } = useWords();
  return <Screen title={t.bound.title} lead={t.bound.text(name)} icon="link" />;
}
