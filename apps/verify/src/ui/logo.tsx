import { useState } from "react";
import { type Details, logoPath } from "../session/api.ts";

/**
 * The host of a logo would see the viewer before consent, so the picture comes through this service. The
 * first letter replaces it until it is loaded, or if it fails. Both fill the same square.
 */
export function Logo({
  details: { id, organization },
  src = null,
}: {
  details: Pick<Details, "id" | "organization">;
  /** Another place than the service's own. */
  src?: string | null;
}) {
  const [state, setState] = useState<"loading" | "shown" | "failed">("loading");
  const shown = state === "shown";
  return (
    <span className="relative size-10 flex-none">
      {!shown && (
        <span
          aria-hidden="true"
          className="absolute inset-0 grid place-items-center rounded-control bg-fill text-lg font-bold text-on-fill"
        >
          {/[^\p{Cf}]/u.exec(organization.name)?.[0].toLocaleUpperCase()}
        </span>
      )}
      {organization.logo_url !== null && state !== "failed" && (
        <img
          src={src ?? logoPath(id)}
          alt=""
          onLoad={() => setState("shown")}
          onError={() => setState("failed")}
          // Drawn for a white ground, most logos would be lost on a dark page.
          className={`absolute inset-0 size-full rounded-control border border-line bg-white object-contain p-1 ${shown ? "" : "opacity-0"}`}
        />
      )}
    </span>
  );
}

/** The sign of the service itself, where it is not yet known who asks. */
export function OwnSign() {
  return (
    <svg aria-hidden="true" viewBox="0 0 32 32" className="size-10 flex-none">
      <rect width="32" height="32" rx="8" fill="#1f4d3a" />
      <path
        d="M9 22.5 16 8l7 14.5M12 17.5h8"
        fill="none"
        stroke="#f3e9c9"
        strokeWidth="2.6"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  );
}
