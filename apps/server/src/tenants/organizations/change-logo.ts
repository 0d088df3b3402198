import { logoLimits } from "@assay/contract/organization-logo";
import { recordAct } from "../../platform/audit/audit.store.ts";
import type { Core } from "../../platform/core.ts";
import { ApiError } from "../../platform/kernel/api-error.ts";
import type { MemberCaller } from "../../platform/kernel/caller.ts";
import { putLogo, removeLogo } from "./logo.store.ts";
import { type LogoProblem, readLogo } from "./logo-picture.ts";
import { ownOrganization } from "./manage-organization.ts";
import { type OwnOrganizationRow, updateOrganization } from "./organization.store.ts";

const problems: Readonly<Record<LogoProblem, string>> = {
  not_a_picture: "The body is not a PNG, JPEG or WebP picture.",
  no_image_data: "The picture is incomplete or has no image data.",
  animated: "The picture is animated. Use a still picture: it is shown on the consent page.",
  too_much_inside: "The picture has a colour profile or a text that is too large or unreadable.",
  too_many_pixels: `The picture has more than ${logoLimits.sidePixels} pixels on a side.`,
};

export async function uploadLogo(
  { db, clock }: Pick<Core, "db" | "clock">,
  caller: MemberCaller,
  bytes: Uint8Array,
): Promise<OwnOrganizationRow> {
  const logo = readLogo(Buffer.from(bytes));
  if (typeof logo === "string")
    throw new ApiError("BAD_REQUEST", {
      message: problems[logo],
      hint: "Send the picture as the body, with `Content-Type: image/png`, `image/jpeg` or `image/webp`.",
    });
  const now = clock.now();
  const { organizationId } = caller;
  return await db.transaction(async (tx) => {
    // Locks the row of the organization first, as every change of it does.
    await updateOrganization(tx, organizationId, {}, now);
    await putLogo(tx, organizationId, logo, now);
    await recordAct(tx, now, caller, {
      event: "organization.updated",
      targetId: organizationId,
      details: { logo: "uploaded", content_type: logo.contentType, bytes: logo.bytes.length },
    });
    return ownOrganization(tx, organizationId, caller.userId);
  });
}

export async function deleteLogo(
  { db, clock }: Pick<Core, "db" | "clock">,
  caller: MemberCaller,
): Promise<void> {
  const now = clock.now();
  const { organizationId } = caller;
  await db.transaction(async (tx) => {
    await updateOrganization(tx, organizationId, {}, now);
    if (!(await removeLogo(tx, organizationId))) throw new ApiError("LOGO_NOT_FOUND");
    await recordAct(tx, now, caller, {
      event: "organization.updated",
      targetId: organizationId,
      details: { logo: "removed" },
    });
  });
}
