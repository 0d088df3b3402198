/** How a mail ends, and why the reader gets it: sentences that many mails share. */
type Kind = {
  places: readonly string[];
  /** Whether the mail asks for one action. */
  button: boolean;
  closing: "ignore" | "notYou" | null;
  because:
    | "asked"
    | "address"
    | "account"
    | "formerAccount"
    | "invited"
    | "owner"
    | "formerOwner"
    | "operator";
};

const link = { places: [], button: true, closing: "ignore", because: "asked" } as const satisfies Kind;
const notice = { places: [], button: false, closing: "notYou", because: "account" } as const satisfies Kind;
const toOwners = { button: true, closing: null, because: "owner" } as const satisfies Omit<Kind, "places">;
const toOperator = { button: false, closing: null, because: "operator" } as const satisfies Omit<
  Kind,
  "places"
>;

/**
 * Every mail that the service sends. The texts are in `texts/mails` of the server, one file per language. A
 * paragraph there that is only a placeholder (`{code}`) is shown as something to copy.
 */
export const letterKinds = {
  magic_link: link,
  reset_password: link,
  verify_email: { ...link, closing: null, because: "address" },
  change_email: { ...link, because: "address" },
  account_exists: { ...link, places: ["reset"], because: "address" },
  email_taken: { ...link, button: false, because: "address" },
  email_change_requested: { ...notice, places: ["email"] },
  email_changed: { ...notice, places: ["email"] },
  password_changed: notice,
  password_reset: notice,
  email_verified: notice,
  passkey_added: { ...notice, places: ["name"] },
  passkey_deleted: { ...notice, places: ["name"] },
  second_factor_on: notice,
  second_factor_off: notice,
  account_deleted: { ...notice, closing: null, because: "formerAccount" },
  invitation: {
    places: ["inviter", "email", "organization", "role"],
    button: true,
    closing: "ignore",
    because: "invited",
  },
  deletion_code: { places: ["organization", "code"], button: false, closing: null, because: "asked" },
  deletion_scheduled: { ...toOwners, places: ["person", "email", "organization", "at"] },
  deletion_cancelled: { ...toOwners, places: ["person", "email", "organization"] },
  organization_deleted: {
    places: ["organization", "at", "receipt", "keys"],
    button: false,
    closing: null,
    because: "formerOwner",
  },
  domain_missing: { ...toOwners, places: ["domain", "record"] },
  domain_back: { ...toOwners, places: ["domain"] },
  domain_lost: { ...toOwners, places: ["domain", "organization"] },
  no_active_key: { ...toOwners, places: ["endpoint"] },
  endpoint_gone: { ...toOwners, places: ["endpoint"] },
  endpoint_failing: { ...toOwners, places: ["endpoint"] },
  member_keys: { ...toOwners, places: ["person", "email", "disabled", "active"] },
  endpoint_added: { ...toOwners, places: ["endpoint", "actor"] },
  endpoint_moved: { ...toOwners, places: ["endpoint", "actor"] },
  key_added: { ...toOwners, places: ["endpoint", "key", "actor"] },
  signer_revoked: { ...toOperator, places: ["signer", "list", "remove"] },
  authorities_leave: { ...toOperator, places: ["count", "address", "at", "names", "keep", "remove"] },
} as const satisfies Record<string, Kind>;
export type LetterKind = keyof typeof letterKinds;

/** What was removed together with the reported change. */
export type Removed = { what: "passkeys"; names: string } | { what: "second_factor" };

type Kinds = typeof letterKinds;
export type Letter = {
  [K in LetterKind]: {
    kind: K;
    /** A time is formatted in the reader's language. */
    fill: Readonly<Record<Kinds[K]["places"][number], string | Date>>;
    removed?: readonly Removed[];
  } & (Kinds[K]["button"] extends true ? { url: string } : object);
}[LetterKind];
