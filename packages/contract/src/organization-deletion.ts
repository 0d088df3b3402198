import { Type } from "typebox";
import { Email } from "./accounts.ts";
import type { OrganizationId } from "./ids.ts";
import { receiptKeys } from "./receipt-keys.ts";
import { routesOf } from "./route.ts";
import { closed, open, Timestamp, UuidOf } from "./schema.ts";

const route = routesOf("Organization");

export const requestOrganizationDeletion = route("POST /v1/auth/orgs/request-delete", {
  id: "requestOrganizationDeletion",
  summary: "Ask for a code to delete the organization",
  description:
    "Mails a code of 8 characters to the caller. It is valid for 24 hours and replaces an earlier one.",
  access: { role: "owner", organization: "body" },
  body: closed({ organizationId: UuidOf<OrganizationId>() }),
  reply: {
    status: 202,
    data: open("OrganizationDeletionRequested", { sentTo: Email }),
  },
  errors: ["NOT_FOUND"],
});

export const confirmOrganizationDeletion = route("POST /v1/auth/orgs/confirm-delete", {
  id: "confirmOrganizationDeletion",
  summary: "Schedule the organization for deletion",
  description:
    "The organization freezes at once and is deleted for good 48 hours later. The code works for the caller only, and stops working after 5 wrong tries.",
  access: { role: "owner", organization: "body" },
  body: closed({
    organizationId: UuidOf<OrganizationId>(),
    code: Type.String({ minLength: 8, maxLength: 8, examples: ["K7WQM3XA"] }),
  }),
  reply: {
    status: 200,
    data: open("OrganizationDeletionScheduled", { pendingDeletionAt: Timestamp }),
  },
  errors: ["NOT_FOUND", "DELETION_CODE_INVALID", "DELETION_CODE_EXPIRED"],
});

export const cancelOrganizationDeletion = route("POST /v1/auth/orgs/cancel-delete", {
  id: "cancelOrganizationDeletion",
  summary: "Cancel the deletion of the organization",
  description: "Everything works again at once, API keys included.",
  access: { role: "admin", organization: "body", whileFrozen: "allowed" },
  body: closed({ organizationId: UuidOf<OrganizationId>() }),
  reply: { status: 200, data: open("OrganizationDeletionCancelled", { ok: Type.Boolean() }) },
  errors: ["NOT_FOUND", "NO_DELETION_SCHEDULED"],
});

export const listDeletionReceiptKeys = route("GET /v1/auth/deletion-receipt-keys", {
  id: "listDeletionReceiptKeys",
  summary: "Show the public keys that verify deletion receipts",
  description:
    "A receipt is a compact JWS signed with Ed25519 (`EdDSA`); its `kid` names one of these keys. They outlive the organizations.",
  access: { public: true },
  reply: {
    status: 200,
    data: receiptKeys("DeletionReceipt"),
  },
});

export const organizationDeletionRoutes = route.declared;
