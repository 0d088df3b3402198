// The modules that decide, each with its tests. Tests with a browser or with other processes are left out,
// because a mutant is active in one process only.
export type Module = { mutate: readonly string[]; tests: readonly string[] };

const server = "apps/server/src";
const api = "apps/server/test";
export const modules: Readonly<Record<string, Module>> = {
  sessions: {
    mutate: [`${server}/verification/sessions/**/*.ts`],
    tests: [
      `${server}/verification/sessions/*.test.ts`,
      `${api}/*/*/{sessions,session-flow,session-lists,session-expiry,session-steps,session-storm,return-code,requirements,analytics,search,organization-limits,withdrawal,go-live}.test.ts`,
      `${api}/*/*/{verify-{decline,events,handoff},wallet-{identity,live}}.test.ts`,
    ],
  },
  attempts: {
    mutate: [`${server}/verification/attempts/**/*.ts`],
    tests: [
      `${server}/verification/attempts/*.test.ts`,
      `${api}/*/*/verify-{face-limits,socket,device,century,faults,hostile,simulate,silence,memory,events}.test.ts`,
      `${api}/*/*/{attempt-run,chip-turns,requirements,session-steps,trust-policy}.test.ts`,
    ],
  },
  evidence: {
    mutate: [`${server}/verification/evidence/**/*.ts`],
    tests: [
      `${server}/verification/{evidence,attempts}/**/*.test.ts`,
      `${server}/verification/sessions/share-contract.test.ts`,
      `${api}/*/*/requirements.test.ts`,
    ],
  },
  webhooks: {
    mutate: [`${server}/delivery/webhooks/**/*.ts`],
    tests: [
      `${server}/delivery/webhooks/*.test.ts`,
      `${api}/*/*/webhook-{answers,deliveries,endpoints,events,listeners,safety,workers}.test.ts`,
      `${api}/*/*/{delivery-worker,verify-events,withdrawal,round-robin,analytics,organization-limits,organization-mails,history-lists,audit-events,poison-rows}.test.ts`,
    ],
  },
  trust: {
    mutate: [`${server}/verification/trust/**/*.ts`],
    tests: [
      `${server}/verification/trust/*.test.ts`,
      `${api}/*/*/{trust-{command,sources,deviations,policy,versions},wallet-trust}.test.ts`,
    ],
  },
  accounts: {
    mutate: [`${server}/tenants/accounts/**/*.ts`],
    tests: [
      `${server}/tenants/accounts/*.test.ts`,
      `${api}/*/*/accounts-*.test.ts`,
      `${api}/*/*/{sign-up,email-addresses,mail-requests,mail-language,user-commands,invitations,audit-events,poison-rows}.test.ts`,
    ],
  },
  organizations: {
    mutate: [`${server}/tenants/organizations/**/*.ts`],
    tests: [
      `${server}/tenants/organizations/*.test.ts`,
      `${api}/*/*/organization{s,-deletion,-limits,-mails}.test.ts`,
      `${api}/faults/deleted-is-gone.test.ts`,
      `${api}/*/*/{invitations,go-live,looks,verify-logo,search,email-addresses,audit-events,poison-rows}.test.ts`,
    ],
  },
  domains: {
    mutate: [`${server}/tenants/domains/**/*.ts`],
    tests: [`${server}/tenants/domains/*.test.ts`, `${api}/*/*/{domains,audit-events}.test.ts`],
  },
  "key-ring": {
    mutate: [`${server}/platform/key-ring/*.ts`, `${server}/platform/lib/key-ring.ts`],
    tests: [
      `${server}/platform/key-ring/*.test.ts`,
      `${server}/platform/lib/key-ring.test.ts`,
      `${api}/*/*/{key-ring,verify-consent}.test.ts`,
    ],
  },
  http: {
    mutate: [`${server}/platform/http/**/*.ts`],
    tests: [
      `${server}/platform/http/*.test.ts`,
      // The module's own tests check this sooner than the matrices over all routes.
      `${api}/*/*/{compression,connections,draining,envelope,hostile-bodies,http-manners,idempotency,mcp,missing-pages,overload,page-weight,precedence,readiness,reader-apps,telemetry,well-known}.test.ts`,
    ],
  },
  emrtd: {
    mutate: ["packages/emrtd/src/verify/*.ts"],
    tests: ["packages/emrtd/src/{verify,trust,chip-authentication-mapping}/*.test.ts"],
  },
  credential: {
    // The verifying part: issuing, presenting and the wallet are for tests and simulations.
    mutate: [
      "packages/credential/src/{attributes,cbor,jws,lote,vical}/*.ts",
      "packages/credential/src/cose/{cose-key,headers,mac0,sign1}.ts",
      "packages/credential/src/mdoc/{device-authentication,judge-mdoc,mobile-security-object,read-device-response,session-transcript}.ts",
      "packages/credential/src/sd-jwt/{apply-disclosures,digest-name,judge-sd-jwt}.ts",
      "packages/credential/src/status-list/{read-cwt-status-list,read-status-list,status-list}.ts",
      "packages/credential/src/x509/{certificate,chain}.ts",
      "packages/credential/src/openid4vp/answer.ts",
      "packages/credential/src/annex-c/*.ts",
      "packages/credential/src/dcql/{kept-claims,query}.ts",
      "packages/credential/src/{base64url,bytes,json,verdict}.ts",
    ],
    tests: ["packages/credential/src/**/*.test.ts"],
  },
  "webhook-package": {
    mutate: ["packages/webhook/src/*.ts"],
    tests: ["packages/webhook/src/{unusual-deliveries,webhook}.test.ts"],
  },
  device: {
    // Its folder `node` draws the people and plays the readers of tests and simulations, and decides nothing.
    mutate: ["packages/device/src/*.ts"],
    tests: ["packages/device/src/*.test.ts", `${server}/verification/attempts/both-ends.test.ts`],
  },
};
