import { Organization } from "./organizations.ts";
import { routesOf } from "./route.ts";

/** A logo, wherever it comes from. SVG is not among them: it is a program, and it can load things. */
export const logoLimits = { bytes: 256 * 1024, sidePixels: 2000 } as const;
export const logoTypes = ["image/png", "image/jpeg", "image/webp"] as const;

const path = "/v1/auth/orgs/logo";
const route = routesOf("Organization");

export const uploadLogo = route(`PUT ${path}`, {
  id: "uploadLogo",
  summary: "Upload the logo of the active organization",
  description: `The body is the picture itself: a PNG, JPEG or WebP of at most ${logoLimits.bytes / 1024} KiB and ${logoLimits.sidePixels} pixels a side, recognised by its bytes. It replaces an earlier one and is shown instead of the picture at \`logo_url\`, while the organization holds an active verified domain.`,
  access: { role: "admin" },
  upload: logoTypes,
  maxBodyBytes: logoLimits.bytes,
  reply: { status: 200, data: Organization },
});

export const readLogo = route(`GET ${path}`, {
  id: "readLogo",
  summary: "Show the logo of the active organization",
  description:
    "The uploaded one, else the picture at `logo_url`, which the service fetches as for the person being verified.",
  access: { role: "member" },
  reply: { status: 200, picture: logoTypes, maxAgeSeconds: 0 },
  errors: ["LOGO_NOT_FOUND"],
});

export const deleteLogo = route(`DELETE ${path}`, {
  id: "deleteLogo",
  summary: "Remove the uploaded logo of the active organization",
  description: "The picture at `logo_url`, if there is one, is shown again.",
  access: { role: "admin" },
  reply: { status: 204 },
  errors: ["LOGO_NOT_FOUND"],
});

export const organizationLogoRoutes = route.declared;
