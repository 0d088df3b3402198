import { hasRole, type Role } from "@assay/contract/route";

/** A requested change of a member: another role, or `null` to end the membership. */
type MemberChange = {
  actorRole: Role;
  isSelf: boolean;
  targetRole: Role;
  newRole: Role | null;
  ownerCount: number;
};

export type MemberRefusal = "not_admin" | "owner_only" | "last_owner";

/** Why a change of members is not allowed, or null. */
export function memberRefusal(change: MemberChange): MemberRefusal | null {
  const { actorRole, isSelf, targetRole, newRole, ownerCount } = change;
  const leaves = isSelf && newRole === null;
  if (!leaves && !hasRole(actorRole, "admin")) return "not_admin";
  if (!hasRole(actorRole, "owner") && (targetRole === "owner" || newRole === "owner")) return "owner_only";
  if (targetRole === "owner" && newRole !== "owner" && ownerCount <= 1) return "last_owner";
  return null;
}
