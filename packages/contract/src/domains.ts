import { Type } from "typebox";
import type { ChallengeId, DomainId, OrganizationId, RedirectUriId } from "./ids.ts";
import { pageQuery } from "./page.ts";
import { routesOf } from "./route.ts";
import { closed, Nullable, OneOf, open, Timestamp, UuidOf } from "./schema.ts";

const route = routesOf("Domains");

const ApexDomain = Type.String({
  description: "The registrable domain in its ASCII form.",
  examples: ["xn--mller-kva.example"],
});
const ApexDomainUnicode = Type.String({
  description:
    "The domain for display: in Unicode, or in its ASCII form where Unicode could be taken for another name.",
  examples: ["müller.example"],
});
const method = OneOf(["dns_txt"]);
const record = {
  recordName: Type.String({
    description: "Where the TXT record belongs.",
    examples: ["_service-verification.example.com"],
  }),
  recordValue: Nullable(
    Type.String({
      description:
        "Content of the TXT record. It is no secret: give it to your DNS administrator. Null for challenges of earlier versions.",
      examples: ["service-verification=EXAMPLEexampleEXAMPLEexampleEXAMPLEexample1"],
    }),
  ),
};

export const VerifiedDomain = open("VerifiedDomain", {
  id: UuidOf<DomainId>(),
  apexDomain: ApexDomain,
  apexDomainUnicode: ApexDomainUnicode,
  verifiedAt: Timestamp,
  verifiedVia: method,
  ...record,
  lastCheckedAt: Nullable(Timestamp),
  downgradedAt: Nullable(
    Type.String({
      format: "date-time",
      description:
        "Since when the record has been missing. Live redirects to the domain are refused until it is back.",
    }),
  ),
});

export const DomainChallenge = open("DomainChallenge", {
  id: UuidOf<ChallengeId>(),
  apexDomain: ApexDomain,
  apexDomainUnicode: ApexDomainUnicode,
  method,
  ...record,
  expiresAt: Timestamp,
  createdAt: Timestamp,
});

export const listDomains = route("GET /v1/auth/orgs/domains", {
  id: "listDomains",
  summary: "List verified domains and active challenges",
  access: { role: "owner", whileFrozen: "refused" },
  reply: {
    status: 200,
    data: open("Domains", { domains: Type.Array(VerifiedDomain), challenges: Type.Array(DomainChallenge) }),
  },
});

export const startDomainChallenge = route("POST /v1/auth/orgs/domains/challenges/dns", {
  id: "startDomainChallenge",
  summary: "Begin to verify a domain",
  description:
    "Answers with the TXT record to publish. Any name below a domain stands for the registrable domain above it; internationalized names are taken in both forms. The list of domains has the record as well. `conflict` names the organization that holds the domain, and is null when none does. 409 `DOMAIN_CHALLENGE_LIMIT_REACHED` with too many open challenges, or too many of one person in a day; the hint names the limit.",
  access: { role: "owner" },
  body: closed({ apex_domain: Type.String({ minLength: 3, maxLength: 253, examples: ["example.com"] }) }),
  reply: {
    status: 201,
    data: open("StartedDomainChallenge", {
      challenge_id: UuidOf<ChallengeId>(),
      apex_domain: ApexDomain,
      apex_domain_unicode: ApexDomainUnicode,
      record_name: Type.String({ examples: ["_service-verification.example.com"] }),
      record_value: Type.String({
        examples: ["service-verification=EXAMPLEexampleEXAMPLEexampleEXAMPLEexample1"],
      }),
      expires_at: Timestamp,
      conflict: Nullable(open("DomainConflict", { organization_name: Type.String() })),
    }),
  },
  errors: ["DOMAIN_CHALLENGE_LIMIT_REACHED", "APEX_INVALID"],
});

export const verifyDomain = route("POST /v1/auth/orgs/domains/challenges/dns/verify", {
  id: "verifyDomain",
  summary: "Verify a domain by its TXT record",
  description:
    "Looks the record up now. A domain that another organization holds is taken over only with `acknowledge_takeover`; its owners get a mail.",
  access: { role: "owner" },
  body: closed({
    challenge_id: UuidOf<ChallengeId>(),
    acknowledge_takeover: Type.Optional(Type.Boolean({ default: false })),
  }),
  reply: {
    status: 200,
    data: open("DomainVerification", {
      domain_id: UuidOf<DomainId>(),
      apex_domain: ApexDomain,
      apex_domain_unicode: ApexDomainUnicode,
      takeover_from: Nullable(
        open("DomainTakeover", {
          organization_id: UuidOf<OrganizationId>(),
          organization_name: Type.String(),
        }),
      ),
    }),
  },
  errors: [
    "CHALLENGE_NOT_FOUND",
    "CHALLENGE_EXPIRED",
    "DNS_NOT_PROPAGATED",
    "APEX_TAKEOVER_REQUIRED",
    "UPSTREAM_ERROR",
    "UPSTREAM_UNAVAILABLE",
  ],
});

export const removeDomain = route("DELETE /v1/auth/orgs/domains/:id", {
  id: "removeDomain",
  summary: "Give up a verified domain",
  description: "Its redirect URIs go with it.",
  access: { role: "owner" },
  params: closed({ id: UuidOf<DomainId>() }),
  reply: { status: 204 },
  errors: ["NOT_FOUND"],
});

export const RedirectUri = open("RedirectUri", {
  id: UuidOf<RedirectUriId>(),
  verifiedDomainId: UuidOf<DomainId>(),
  apexDomain: ApexDomain,
  pattern: Type.String({ examples: ["https://www.example.com/verified"] }),
  createdAt: Timestamp,
});

export const createRedirectUri = route("POST /v1/auth/orgs/redirect-uris", {
  id: "createRedirectUri",
  summary: "Allow a redirect URI",
  description:
    "`https://host/path`. The host matches exactly; `*.` in front stands for exactly one more label. The path matches itself and everything below it, segment by segment. No port, query, fragment or credentials. A pattern that exists already is answered with 200.",
  access: { role: "admin" },
  body: closed({
    pattern: Type.String({
      minLength: 1,
      maxLength: 2048,
      examples: ["https://www.example.com/verified"],
    }),
  }),
  reply: { status: 201, data: RedirectUri, also: 200 },
  errors: ["DOMAIN_NOT_VERIFIED"],
});

export const listRedirectUris = route("GET /v1/auth/orgs/redirect-uris", {
  id: "listRedirectUris",
  summary: "List the allowed redirect URIs",
  access: { role: "member" },
  query: pageQuery(UuidOf<RedirectUriId>(), {}),
  reply: { status: 200, list: RedirectUri },
});

export const deleteRedirectUri = route("DELETE /v1/auth/orgs/redirect-uris/:id", {
  id: "deleteRedirectUri",
  summary: "Remove an allowed redirect URI",
  access: { role: "admin" },
  params: closed({ id: UuidOf<RedirectUriId>() }),
  reply: { status: 204 },
  errors: ["NOT_FOUND"],
});

export const domainRoutes = route.declared;
