import type { Counted } from "../../apps/server/test/support/tally.ts";

export type Part = {
  name: string;
  promise: string;
  /** The arguments of `npm run`, without the `--`. */
  command: readonly [script: string, ...args: string[]];
  /** Minimum counts. `tests passed` is read from the runner's last line. */
  minimum: Readonly<Partial<Record<Counted | "tests passed", number>>>;
};

/** Two at once, and with time: a report must not depend on what else the machine does. */
const tests = (...files: string[]): Part["command"] => [
  ...(["test", "--lanes=2", "--file-seconds=1200"] as const),
  ...files.map((file) => `${file}.test.ts`),
];

/** About 80 % of what a run does; for counts that depend on speed, what the slowest machine achieves. */
export const partsOf = (seed: number, from: string): readonly Part[] => [
  {
    name: "machines",
    promise:
      "Two api processes, a worker, a primary with its replica and a pooler: each is killed under load, the primary fails over, a release is replaced by the next. Nothing acknowledged is lost, no event is missing or doubled.",
    command: ["prove", "machines", "--minutes", "5", "--seed", String(seed), "--from", from],
    minimum: {
      "faults struck": 9,
      "sessions acknowledged": 100,
      "verifications succeeded": 20,
      "webhook events received": 50,
    },
  },
  {
    name: "kills",
    promise:
      "Processes and the embedded database are killed at random moments, and lose no session and no event. A process that ends is replaced, keys rotate under kills, and a full disk or a silent database ends no process.",
    command: tests(
      ...["webhook-crash", "webhook-crash-embedded", "lost-process", "listener-crash", "key-rotation"].map(
        (name) => `test/faults/${name}`,
      ),
      ...["lost-connections", "silent-database", "full-disk", "failover", "rolling-update"].map(
        (name) => `test/faults/${name}`,
      ),
    ),
    minimum: { "processes killed": 28, "tests passed": 14 },
  },
  {
    name: "upgrade",
    promise:
      "The previous release works on this schema, this release works on a half-migrated database, and both orders of migrations end with the same schema.",
    command: [
      ...(["prove", "upgrade", "--from", from, "--parts"] as const),
      [
        ...[
          "sessions/sessions",
          "sessions/session-lists",
          "sessions/session-expiry",
          "sessions/session-steps",
        ],
        ...[
          "sessions/requirements",
          "webhooks/webhook-",
          "tenants/organizations",
          "tenants/api-keys",
          "platform/db",
        ],
      ].join(","),
    ],
    minimum: { "tests of the release before": 250, "tests of this release on its schema": 250 },
  },
  {
    name: "canaries",
    promise:
      "After successes, failures and hostile messages, nothing of a person is in any table, file, log line, metric or trace, for chips, faces and wallets. What is deleted is gone.",
    command: tests(
      "verification/attempts/verify-canary",
      "verification/wallet/wallet-canary",
      "faults/deleted-is-gone",
    ),
    minimum: { "bytes searched for canaries": 250_000, "tests passed": 4 },
  },
  {
    name: "tenants",
    promise:
      "Every route refuses everybody whom the organization did not let in, shows nothing of it and changes nothing in it. Every route admits exactly the roles and scopes that its access names.",
    command: tests("http/tenant-matrix", "http/access-matrix"),
    minimum: {
      "requests from outside the organization": 1_500,
      "requests checked against access rules": 1_500,
      "tests passed": 280,
    },
  },
  {
    name: "urls",
    promise:
      "No hostile URL, address, alias or name that changes its address makes the service connect inside its network.",
    command: tests(
      "webhooks/webhook-safety",
      "lib/public-address",
      "lib/safe-fetch",
      "platform/lib/dns",
      "verify/verify-logo",
    ),
    minimum: { "hostile URLs refused": 100, "tests passed": 30 },
  },
  {
    name: "slow",
    promise:
      "Clients that send slowly, send nothing or read nothing are ended, and every request of another tenant is served meanwhile. Devices that send garbage or say nothing cost nothing.",
    command: tests(
      "faults/slow-connections",
      "http/connections",
      "lib/outbound-waits",
      "http/hostile-bodies",
      "device-socket/verify-hostile",
    ),
    minimum: { "slow connections ended": 520, "tests passed": 25 },
  },
  {
    name: "wallets",
    promise:
      "A wallet that answers wrongly, late, twice, for another request or in another browser gets nowhere and leaves nothing behind.",
    command: tests(
      "wallet/foreign-wallet",
      "wallet/wallet-requests",
      "wallet/wallet-live",
      "wallet-status/wallet-status",
    ),
    minimum: { "wallet presentations refused": 20, "tests passed": 60 },
  },
  {
    name: "fuzz-http",
    promise:
      "No request, valid or bent, is answered with 5xx, outside of the published document, or with something of another organization.",
    command: ["fuzz", "http", "--requests", "20000", "--seed", String(seed)],
    minimum: { "hostile requests": 20_000 },
  },
  ...(["chip", "wallet", "mrz"] as const).map((target) => ({
    name: `fuzz-${target}`,
    promise: `Hostile bytes to every reader of ${{ chip: "the passport chip", wallet: "wallet credentials", mrz: "the printed lines" }[target]} are refused with a code, in bounded time and memory.`,
    // The networks that read the printed lines get one input in 500.
    command: ["fuzz", target, "--inputs", "200000", "--seed", String(seed)] as const,
    minimum: { "hostile inputs": target === "mrz" ? 400 : 200_000 },
  })),
];
