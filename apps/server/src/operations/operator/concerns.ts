import { describeSchemaProblem, schemaProblem } from "../../platform/db/schema-version.ts";
import { dayMs, hourMs, minuteMs, secondMs } from "../../platform/kernel/clock.ts";
import { about, onlyAlarm, problem, type Subject, warning } from "./concern.ts";
import type { Facts, Work } from "./facts.ts";

const minNodeMajor = 24;
const minPostgresMajor = 15;
const gigabyte = 1e9;
const webhooksWaitMs = 2 * minuteMs;
const mailsWaitMs = 10 * minuteMs;
const backupDays = 7;
/**
 * States publish new signers every few weeks, and revocation lists at least every 90 days (ICAO Doc 9303-12).
 */
const trustDays = 90;
const silentSourceDays = 3;
/** Authorities take weeks to certify a key. */
const renewalDays = 30;

const clockTodo = "Synchronize the clocks of both machines with NTP, the database's first.";
const dnsTodo =
  "Check DNS_RESOLVERS, and that the firewall lets UDP and TCP port 53 out. Domains, webhooks and logos need DNS.";
const renewTodo = "Renew the certificate of the mail server.";
const migrateTodo = "Run `assay migrate` or start the service: either creates the tables.";
const certificateTodo = ({ certificate }: Facts["publicAddress"]) => certificate?.todo ?? "";
const lostTodo =
  "Check that DATABASE_URL and DATA_DIR belong to this installation, or restore a backup. If the database is new on purpose, run `assay migrate`.";

/**
 * What can be wrong with an installation. The doctor prints it, and the operator's page lists what has
 * `says`. `npm run generate` writes the rules for Prometheus and the texts of the page from it.
 */
export const concerns: { readonly [S in keyof Facts]: Subject<Facts[S]> } = {
  self: about(null, () => "The process that answered is ready.", {
    not_ready: problem(
      ({ problem }) => problem,
      "`/readyz` gives the reason: the database is unreachable, read-only, full or has another schema, or the key ring does not match.",
      "The process that answered is not ready",
      `AssayNotReady page 2m database-gone
      min by (instance) (assay_ready) == 0
      {{ $labels.instance }} answers /readyz with 503, so it gets no requests.`,
    ),
    requests_fail: onlyAlarm(`AssayErrors page 5m database-gone
      sum(rate(assay_http_request_seconds_count{status=~"500|503"}[5m])) / sum(rate(assay_http_request_seconds_count[5m])) > 0.02
      {{ $value | humanizePercentage }} of the requests are answered with 500 or 503.
      Read the lines “request failed” in the log. For 503 look at the database and at [overload](scale.md#overload).`),
    requests_slow: onlyAlarm(`AssaySlow ticket 10m overload
      histogram_quantile(0.99, sum by (le) (rate(assay_http_request_seconds_bucket{route!~"stream.*"}[5m]))) > 2.5
      One request in a hundred takes more than {{ $value | humanizeDuration }}.
      The dashboard names the slowest routes; traces show where the time goes.`),
    event_loop_held_up: onlyAlarm(`AssayEventLoopHeldUp ticket 10m overload
      nodejs_eventloop_lag_p99_seconds > 0.2 and on (instance, job) assay_build_info
      Single tasks block {{ $labels.instance }} for {{ $value | humanizeDuration }} at a time.
      A task blocks the event loop. Look at the processor of the machine, at very large lists and at LOG_LEVEL.`),
  }),

  configuration: about("Configuration", () => "Every setting is valid.", {
    configuration_unreadable: problem(({ problem }) => problem, "docs/configuration.md lists every setting."),
  }),

  node: about("Node", ({ version }) => `Node ${version.replace(/^v/, "")}.`, {
    node_old: problem(
      ({ version }) =>
        Number.parseInt(version.replace(/^v/, ""), 10) < minNodeMajor &&
        `Node ${version.replace(/^v/, "")} is too old: the service needs ${minNodeMajor}.`,
      "Start the service with `npm start`, which brings its own Node, or update Node.",
    ),
  }),

  folder: about("Data folder", ({ path }) => `Only this account can read ${path}.`, {
    folder_missing: warning(
      ({ path, mode }) => mode === null && `${path} does not exist yet.`,
      "The first start creates it. If it should exist already, check DATA_DIR.",
    ),
    folder_unwritable: problem(
      ({ path, isWritable }) => !isWritable && `This account cannot write to ${path}.`,
      "Run this command as the account that runs the service, or change the owner of the folder with chown.",
    ),
    ring_readable: problem(
      ({ path, ringMode }) =>
        ringMode !== null && (ringMode & 0o077) !== 0 && `Other accounts can read the key ring in ${path}.`,
      ({ path }) => `chmod 600 ${path}/secret-keys`,
    ),
    // Execute permission is allowed: if root starts the service, the database runs under another account.
    folder_open: warning(
      ({ path, mode }) => ((mode ?? 0) & 0o066) !== 0 && `Other accounts can list or write ${path}.`,
      ({ path }) => `chmod 700 ${path}`,
    ),
  }),

  disk: about("Disk", diskText, {
    disk_fills: problem(
      (disk) => disk.free < gigabyte / 4 && diskText(disk),
      "Free space or enlarge the disk. With the built-in database a full disk stops every write.",
      null,
      `AssayDiskFills page 5m disk-full
      assay_data_dir_free_bytes / assay_data_dir_size_bytes < 0.1 or assay_data_dir_free_bytes / assay_data_dir_size_bytes and assay_data_dir_free_bytes < 250e+06
      The disk of DATA_DIR of {{ $labels.instance }} has {{ $value | humanizePercentage }} of its space left.`,
    ),
    disk_short: warning(
      (disk) => disk.free < 2 * gigabyte && diskText(disk),
      "Free space before the disk is full.",
    ),
  }),

  openFiles: about("Open files", filesText, {
    files_few: problem(
      (files) => fewerFiles(files, 1024) && filesText(files),
      "Raise the limit to 65536 (`ulimit -n`, LimitNOFILE of systemd).",
    ),
    // Each connection is an open file. A process with a thousand clients needs some hundred files more.
    files_short: warning(
      (files) => fewerFiles(files, 4096) && filesText(files),
      "Raise the limit to 65536 (`ulimit -n`, LimitNOFILE of systemd) before many clients connect at once.",
    ),
    files_run_out: onlyAlarm(`AssayFilesRunOut page 5m overload
      process_open_fds / process_max_fds > 0.8 and on (instance, job) assay_build_info
      {{ $labels.instance }} has {{ $value | humanizePercentage }} of its files and connections in use.
      Raise the limit of open files, or lower HTTP_MAX_CONNECTIONS.`),
  }),

  publicAddress: about("Public address", ({ base }) => `${base} answers.`, {
    // Browsers allow camera, chip reader and passkeys only over https and on localhost.
    address_insecure: problem(
      ({ url }) =>
        url !== "" &&
        !url.startsWith("https:") &&
        !isLocal(url) &&
        `${url} is not https: browsers allow neither camera nor passkeys, and secrets are sent unencrypted.`,
      "Put a proxy with a certificate in front of the service, and set PUBLIC_URL to its https address.",
    ),
    address_certificate_bad: problem(
      ({ certificate }) => certificate?.state === "problem" && certificate.found,
      certificateTodo,
    ),
    address_foreign: problem(
      ({ answer, base, detail }) => answer === "foreign" && `Another program answers at ${base} (${detail}).`,
      "Check PUBLIC_URL, PORT and the proxy.",
    ),
    address_untrusted: problem(
      ({ answer, base, detail }) => answer === "untrusted" && `${base}: ${detail}.`,
      "Give the proxy a certificate for this name.",
    ),
    address_unknown: problem(
      ({ answer, base }) => answer === "unknown_name" && `${base}: the name does not exist.`,
      "Publish the name in DNS, or check PUBLIC_URL.",
    ),
    address_certificate_ends: warning(
      ({ certificate }) => certificate?.state === "warning" && certificate.found,
      certificateTodo,
    ),
    // The proxy terminates TLS, so the blackbox exporter checks it from outside
    // (deploy/prometheus/scrape.yaml).
    address_certificate_ends_soon: onlyAlarm(`AssayAddressCertificateEnds ticket 1h certificates
      min by (instance) (probe_ssl_earliest_cert_expiry{job="assay-address"}) - time() < 14 * 86400
      The certificate of {{ $labels.instance }} ends in {{ $value | humanizeDuration }}.
      Renew it where TLS ends, which is your proxy: [certificates](runbooks/certificates.md).`),
    address_silent: warning(
      ({ answer, base, detail }) => answer === "none" && `${base} does not answer from here: ${detail}.`,
      "Start the service. If it runs, check from outside: some networks cannot reach their own public address.",
    ),
    address_unset: warning(
      ({ url }) => url === "" && "PUBLIC_URL is not set: links lead to this machine only.",
      "This is fine for a trial. Otherwise set it to the https address under which people reach the service.",
    ),
  }),

  mail: about(
    "Mail",
    (mail) =>
      mail.kind === "answers"
        ? `${mail.host} answers${mail.certificate === null ? ", without TLS." : `. ${mail.certificate.found}`}`
        : "",
    {
      mail_refused: problem(
        (mail) =>
          mail.kind === "refused" &&
          `The mail server ${mail.host} refuses the connection: ${mail.code} ${mail.message}.`,
        (mail) =>
          mail.kind === "refused" && mail.code === "EAUTH"
            ? "Check the name and the password in SMTP_URL."
            : "Check SMTP_URL, and whether this machine may connect there.",
      ),
      mail_certificate_over: problem((mail) => certificateText(mail, "problem"), renewTodo),
      mail_certificate_ends: warning(
        (mail) => certificateText(mail, "warning"),
        renewTodo,
        null,
        `AssayMailCertificateEnds ticket 1h certificates
      min(assay_mail_certificate_expiry_timestamp_seconds) - time() < 14 * 86400
      The certificate of the mail server ends in {{ $value | humanizeDuration }}.`,
      ),
      mail_unset: warning(
        (mail) =>
          mail.kind === "files" &&
          `SMTP_URL is not set: mails are written to ${mail.folder}, and no e-mail address is verified.`,
        "This is fine for a trial. Otherwise set SMTP_URL to your mail server and MAIL_FROM to the sender.",
      ),
    },
  ),

  readingDevices: about(
    "Reading devices",
    ({ apps, desks }) => `Real documents are read by: ${[...apps, ...(desks ? ["desks"] : [])].join(", ")}.`,
    {
      nothing_reads: warning(
        ({ apps, desks }) =>
          apps.length === 0 && !desks && "Nothing reads real documents, so live sessions are refused.",
        "Configure READER_APP_ANDROID or READER_APP_IOS, or set DESK_READERS=true if staff read documents at desks.",
      ),
    },
  ),

  dns: about(
    "DNS",
    ({ resolvers }) =>
      `${resolvers === 0 ? "The system's resolvers answer" : `${resolvers} resolvers answer`}.`,
    {
      dns_silent: problem(
        ({ resolvers, silent }) =>
          silent.length > 0 && silent.length >= resolvers && `No answer from ${silent.join(", ")}.`,
        dnsTodo,
      ),
      dns_partly_silent: warning(
        ({ silent }) => silent.length > 0 && `No answer from ${silent.join(", ")}.`,
        dnsTodo,
      ),
    },
  ),

  attestation: about("Attestation", ({ revokedFile }) => `Revoked keys are read from ${revokedFile}.`, {
    revoked_keys_unknown: warning(
      ({ revokedFile }) =>
        revokedFile === "" &&
        "Phones attest their pictures, but the service knows no revoked keys: it accepts a leaked key.",
      "Fetch https://android.googleapis.com/attestation/status regularly into a file, and name it in ATTESTATION_REVOKED.",
    ),
  }),

  face: about("Face", () => "The models load on this machine.", {
    face_fails: problem(
      ({ failure }) => failure !== null && `The worker that compares faces does not start: ${failure}.`,
      "See that 300 MB of memory are free, and that FACE_MODELS_FILE, where it is set, can be read.",
    ),
    face_has_network: warning(
      ({ hasNetwork }) =>
        hasNetwork && "The models load on this machine. The face workers can reach the network.",
      "Allow the account of the service to create user namespaces. docs/face-models.md describes the protection without them.",
    ),
    face_queue_long: onlyAlarm(`AssayFaceQueueLong ticket 5m overload
      max by (instance) (assay_face_queue) > 4
      {{ $value }} people wait on {{ $labels.instance }} for their face to be judged.
      Add processes, or raise FACE_WORKERS.`),
  }),

  database: about(
    "Database",
    (database) => (database.kind === "answers" ? `PostgreSQL ${database.version} answers.` : ""),
    {
      database_unreadable: problem(
        (database) => database.kind === "unreadable" && database.problem,
        "Check DATABASE_URL and that the server runs. The checks that need the database were skipped.",
      ),
      database_lost: problem(
        (database) => database.kind === "empty" && lostText("There is no database yet", database.earlierUse),
        lostTodo,
      ),
      database_missing: warning(
        (database) => database.kind === "empty" && "There is no database yet.",
        migrateTodo,
      ),
      database_read_only: problem(
        (database) =>
          database.kind === "answers" &&
          !database.takesWrites &&
          `PostgreSQL ${database.version} is read-only.`,
        "Point DATABASE_URL at the primary, and remove what made the server read-only.",
      ),
      database_old: problem(
        (database) =>
          database.kind === "answers" &&
          Number.parseInt(database.version, 10) < minPostgresMajor &&
          `PostgreSQL ${database.version} is too old.`,
        `Update it to ${minPostgresMajor} or later.`,
      ),
      pool_waits: onlyAlarm(`AssayPoolWaits page 0m database-gone
      min_over_time(assay_db_pool_waiting[5m]) > 0
      Requests of {{ $labels.instance }} constantly wait for a database connection.
      Look at the database before you raise DATABASE_POOL_SIZE.`),
      listener_lost: onlyAlarm(`AssayListenerLost ticket 5m database-gone
      assay_db_listener_connected == 0
      {{ $labels.instance }} gets no notifications from the database; events arrive seconds late.
      Look for a pooler or firewall in between: notifications need a direct session.`),
      horizon_old: onlyAlarm(`AssayHorizonOld ticket 5m database-gone
      max by (holder) (assay_db_horizon_seconds) > 3600
      A transaction ({{ $labels.holder }}) is {{ $value | humanizeDuration }} old; rows deleted since then stay in the files.
      End the transaction: [What was deleted](database.md#what-was-deleted) has the query. Until then deleted rows stay in the files.`),
      horizon_far: onlyAlarm(`AssayHorizonFar ticket 15m disk-full
      max by (holder) (assay_db_horizon_transactions{holder=~"slot|standby"}) > 5e+06
      A {{ $labels.holder }} delays vacuum by {{ $value | humanize }} transactions.
      Drop the slot, or repair the standby: [What was deleted](database.md#what-was-deleted) has the query.`),
    },
  ),

  pooler: about(
    "Pooler",
    ({ pooler }) =>
      pooler === "none"
        ? "There is none between the service and the database."
        : pooler === "session"
          ? "A pooler in session mode is in front of the database."
          : "A pooler is in front of the database, and DATABASE_DIRECT_URL bypasses it.",
    {
      // Such a pooler loses locks and notifications silently.
      pooler_lends_transactions: problem(
        ({ pooler, direct }) =>
          (direct ?? pooler) === "transaction" &&
          `${direct === null ? "DATABASE_URL" : "DATABASE_DIRECT_URL"} leads through a pooler in transaction mode.`,
        "Set DATABASE_DIRECT_URL to the address of PostgreSQL itself.",
      ),
      pooler_mixes_names: problem(
        ({ preparedStatements, supportsPreparedStatements }) =>
          preparedStatements === "named" &&
          !supportsPreparedStatements &&
          "The pooler does not support prepared statements.",
        "Set DATABASE_PREPARED_STATEMENTS=off, or update PgBouncer to 1.21 and set max_prepared_statements.",
      ),
    },
  ),

  schema: about(
    "Schema",
    ({ known }) =>
      `${known.at(-1)?.name ?? "nothing"} is the newest of ${known.length} migrations, as this version needs.`,
    {
      schema_lost: problem(
        ({ applied, earlierUse }) => applied === null && lostText("The database is empty", earlierUse),
        lostTodo,
      ),
      schema_missing: warning(({ applied }) => applied === null && "The database is empty.", migrateTodo),
      schema_edited: problem(({ known, applied }) => {
        const has = new Map(applied?.map(({ name, checksum }) => [name, checksum]));
        const edited = known.filter(({ name, checksum }) => has.has(name) && has.get(name) !== checksum);
        return edited.length === 0
          ? null
          : `The text of these applied migrations differs from this version: ${namesOf(edited)}.`;
      }, "This database belongs to another edition of the service. Run the edition that created it."),
      schema_too_new: problem(({ known, applied }) => {
        const trouble = schemaProblem(known, applied ?? []);
        return trouble?.kind === "too_new" && `${describeSchemaProblem(trouble).replace(/^t/, "T")}.`;
      }, "Run a newer release. To go back to this one, restore a backup from before the upgrade."),
      schema_too_old: problem((schema) => {
        const isUsable = schemaProblem(schema.known, schema.applied ?? []) === null;
        return isUsable ? null : `Missing: ${namesOf(unapplied(schema))}.`;
      }, "Run `assay migrate`, or start the service."),
      schema_left_for_later: warning(
        (schema) => unapplied(schema).length > 0 && `Left for later: ${namesOf(unapplied(schema))}.`,
        "Run `assay migrate` once no process of an older release runs.",
      ),
      schema_differs: warning(
        ({ known, applied }) => {
          const later = (applied ?? []).filter(({ name }) => !known.some((own) => own.name === name));
          return later.length === 0
            ? null
            : `The database has migrations that this version does not know: ${namesOf(later)}.`;
        },
        "Finish the update on every process. Until then you can still go back one version.",
        null,
        `AssaySchemaDiffers ticket 1h database-gone
      max(assay_schema_version{of="database"}) != max(assay_schema_version{of="code"}) or max(assay_schema_version{of="code"}) != min(assay_schema_version{of="code"})
      Database and processes have had different schema versions for an hour.`,
      ),
    },
  ),

  clock: about("Clock", skewText, {
    // Leases, links and signatures depend on the clock.
    clock_apart: problem(
      (clock) => Math.abs(clock.skewMs) >= 5 * secondMs && skewText(clock),
      clockTodo,
      null,
      `AssayClockApart ticket 10m clock
      abs(assay_clock_ahead_seconds) > 5
      The clock of {{ $labels.instance }} differs from the database's by {{ $value | humanizeDuration }}.`,
    ),
    clock_drifts: warning((clock) => Math.abs(clock.skewMs) >= secondMs && skewText(clock), clockTodo),
  }),

  keyRing: about(
    "Key ring",
    ({ knownKeys }) =>
      knownKeys === 0 ? "The database knows no key yet." : "Every key that stored data needs is there.",
    {
      ring_lost: problem(
        ({ isLoaded, knownKeys }) =>
          !isLoaded && knownKeys > 0 && "There is no key ring, and the database has data that needs one.",
        "Restore DATA_DIR/secret-keys from your backup, or set SECRET_KEYS. Without the key ring, sealed data cannot be read.",
      ),
      ring_missing: warning(
        ({ isLoaded }) => !isLoaded && "There is no key ring yet.",
        "The first start creates one in DATA_DIR. Copy it to a safe place.",
      ),
      ring_misfits: problem(
        ({ mismatches }) => mismatches.length > 0 && mismatches.join(" "),
        "Use the ring that the other processes have (SECRET_KEYS, or DATA_DIR/secret-keys).",
      ),
    },
  ),

  mailFiles: about(
    "Mail files",
    ({ smtpUrl }) =>
      smtpUrl === "" ? "Mails are written as files on this machine." : "Mails go to the mail server.",
    {
      mail_files_scattered: warning(
        ({ smtpUrl, machines }) =>
          smtpUrl === "" &&
          machines.length > 1 &&
          `Mails are written as files, each on the machine that sends it: ${machines.join(", ")}.`,
        "Set SMTP_URL to the same value on all of them.",
      ),
    },
  ),

  trust: about("Trust", (trust) => `${validText(trust)}.`, {
    nothing_trusted: warning(
      ({ authorities }) =>
        authorities === 0 &&
        "Nothing is trusted: test documents pass in the sandbox, no live document can be accepted.",
      "Import a master list with `assay trust import`, or name sources in TRUST_SOURCES.",
      "No issuing authority is trusted, so only sandbox sessions can succeed",
    ),
    trust_over: problem(
      ({ validAuthorities }) => validAuthorities === 0 && "Every trusted authority has expired.",
      "Import a newer master list with `assay trust import`.",
    ),
    authorities_lost: onlyAlarm(`AssayAuthoritiesLost ticket 1h stale-list
      max by (country) (assay_trust_authorities) == 0 and max by (country) (max_over_time(assay_trust_authorities[7d])) > 0
      No authority of {{ $labels.country }} is valid any more, and its documents are refused.
      All authorities of a country have expired: import its new master list.`),
    trust_source_silent: problem(
      (trust, now) =>
        sourcesText(trust, ({ failures, succeededAt }) => {
          const isFresh = succeededAt !== null && ageDays(succeededAt, now) < silentSourceDays;
          return failures > 0 && !isFresh;
        }),
      "`assay trust status` shows why the source fails. Until it is repaired, revoked signers may still be trusted.",
      null,
      `AssayTrustSourceOld ticket 1h stale-list
      max by (source) (assay_trust_source_age_seconds) > 86400 or max by (source) (assay_trust_source_age_seconds) == -1
      The trust source number {{ $labels.source }} has not answered for a day.`,
    ),
    trust_source_failing: warning(
      (trust) => sourcesText(trust, ({ failures }) => failures > 0),
      "`assay trust status` shows the reason. The service retries by itself.",
      "A trust source fails",
    ),
    trust_old: warning(
      (trust, now) =>
        trust.sources.length === 0 &&
        ageDays(trust.changedAt, now) > trustDays &&
        `${validText(trust)}, but nothing was imported for ${ageDays(trust.changedAt, now)} days.`,
      "Import the newest lists, or let the service fetch them: TRUST_SOURCES.",
    ),
    revocation_lists_old: warning(
      (trust) => {
        const stale = trust.revocationLists.find(({ state }) => state === "stale")?.countries ?? 0;
        return stale === 0
          ? null
          : `${validText(trust)}; the list of revoked signers has expired for ${stale}.`;
      },
      "Import newer revocation lists, or let the service fetch them: `TRUST_SOURCES=distribution-points`. `assay trust audit` names the countries.",
      null,
      `AssayRevocationListOld ticket 1h stale-list
      max by (country) (assay_trust_revocation_list_age_seconds) > ${trustDays} * 86400
      The revocation list of {{ $labels.country }} is {{ $value | humanizeDuration }} old.`,
    ),
  }),

  wallet: about("Wallets", walletText, {
    wallet_key_wrong: problem(
      ({ identity }) =>
        identity?.isKeyOfLeaf === false &&
        "No request can be signed: the key of the identity in use does not match its certificate, or the key ring does not open it.",
      "Create a new identity with `assay wallet identity new`, and retire this one.",
    ),
    wallet_identity_missing: problem(
      ({ offered, identity }) =>
        identity === null &&
        offered.some((purpose) => purpose !== "age") &&
        "WALLET_METHODS offers wallets, but there is no valid certificate to sign their requests.",
      "`assay wallet identity list` shows the identities; `assay wallet identity new` starts a new one.",
      "Wallets are offered, but there is no valid certificate to sign their requests",
    ),
    wallet_list_over: problem(
      ({ staleLists }) =>
        listsText(
          staleLists.filter(({ isOver }) => isOver),
          "counts no longer",
        ),
      "Import a newer list with `assay trust import --purpose`, or let the service fetch it: WALLET_TRUST_SOURCES. `assay trust status` shows why a source fails.",
      "A list of wallet issuers is too old and is no longer trusted",
    ),
    wallet_nothing_trusted: warning(({ offered, anchors }) => {
      const bare = offered.filter((purpose) => anchors[purpose] === 0);
      return bare.length > 0 && `WALLET_METHODS offers ${bare.join(", ")}, but no issuer for it is trusted.`;
    }, "Import a list with `assay trust import --purpose`, or name sources in WALLET_TRUST_SOURCES."),
    wallet_anchor_in_chain: warning(
      ({ identity }) =>
        identity?.hasAnchorInChain === true &&
        "The chain of the identity in use holds a self-signed certificate, which wallets refuse.",
      "Import the chain again with `assay wallet identity import`, which leaves the root out.",
    ),
    wallet_identity_ends: warning(
      ({ identity }, now) =>
        identity !== null &&
        endsSoon(identity.notAfter, now) &&
        `The certificate that signs requests to wallets ends on ${identity.notAfter.toISOString().slice(0, 10)}.`,
      "Renew it: run `assay wallet identity new`, have the request certified, run `assay wallet identity import`. Both certificates work side by side.",
      "The certificate that signs requests to wallets ends within 30 days",
      `AssayWalletIdentityEnds ticket 1h certificates
      min(assay_wallet_identity_left_seconds) < ${renewalDays} * 86400
      The certificate that signs requests to wallets ends in {{ $value | humanizeDuration }}.`,
    ),
    wallet_registration_foreign: warning(
      ({ identity }) =>
        (identity?.registrations ?? []).some(({ isOfLeaf }) => !isOfLeaf) &&
        "A registration certificate has another identifier than the certificate that signs requests.",
      "Have the registration, or the certificate, issued again with the same identifier.",
    ),
    wallet_registration_ends: warning(
      ({ identity }, now) =>
        (identity?.registrations ?? []).some(
          ({ expiresAt }) => expiresAt !== null && endsSoon(expiresAt, now),
        ) && "A registration certificate ends within 30 days, or has ended.",
      "Ask the register to renew it, and import it with `assay wallet registration import`.",
    ),
    wallet_address_other: warning(
      ({ identity }) =>
        identity?.isOfAddress === false &&
        "The certificate that signs requests to wallets does not name the host of PUBLIC_URL.",
      "Set PUBLIC_URL to the registered address, or have the certificate issued for this one.",
    ),
    wallet_registration_short: warning(({ identity }) => {
      const [first, ...others] = identity?.unregistered ?? [];
      if (first === undefined) return null;
      const more = others.length === 0 ? "" : `, and ${others.length} more`;
      return `The registration does not cover ${first.field} for ${first.purpose}, which the preset “${first.preset}” requires${more}.`;
    }, "Sessions that require it cannot list the method. Ask the register to add what your partners need, and import its certificate."),
    wallet_list_stale: warning(
      ({ staleLists, listGraceDays }) =>
        listsText(
          staleLists.filter(({ isOver }) => !isOver),
          `is past its next update, and is trusted for ${listGraceDays} days after it`,
        ),
      "`assay trust status` shows why the source fails. Without a source, import the newest list.",
      "A list of wallet issuers is past its next update",
      `AssayWalletListStale ticket 1h stale-list
      max by (purpose) (assay_wallet_list_overdue_seconds) > 0
      The list of issuers for {{ $labels.purpose }} is {{ $value | humanizeDuration }} past its next update. It is no longer trusted after WALLET_LIST_GRACE_DAYS.`,
    ),
  }),

  work: about(
    "Jobs",
    (work) => {
      const count = running(work).length;
      return `${count} ${count === 1 ? "process runs" : "processes run"}, no row is quarantined.`;
    },
    {
      not_started: warning(
        (work) => !work.hasRun && running(work).length === 0 && "No process of the service runs.",
        "Start it with `npm start`.",
      ),
      down: onlyAlarm(`AssayDown page 2m missing-process
      absent(assay_build_info)
      Prometheus cannot scrape any process of Assay.
      Look at the processes, then at the targets of Prometheus.`),
      no_worker: problem(
        (work) =>
          running(work).some(({ role }) => role !== "api")
            ? null
            : running(work).length === 0
              ? "No process of the service runs."
              : "No process does the background work.",
        "Start one with `assay worker`, or `assay start` without a role. The log of the last one says why it ended. Processes on other machines need the same DATABASE_URL.",
        "No process does the background work",
        `AssayNoWorker page 5m missing-process
      absent(assay_measured_seconds_ago)
      No process does the background work, so nothing is sent, expired or deleted.`,
      ),
      figures_old: onlyAlarm(`AssayFiguresOld page 2m database-gone
      min(assay_measured_seconds_ago) > 120
      No worker has reached the database for {{ $value | humanizeDuration }}; the other alarms about queues cannot fire.
      Check the connection from the workers to the database; their log gives the reason.`),
      mails_wait: problem(
        ({ mails: { oldestAt } }, now) =>
          waits(oldestAt, now) > mailsWaitMs &&
          `The oldest mail has waited for ${agoText(waits(oldestAt, now))}.`,
        "The mail server refuses it or is unreachable: see the lines “a mail could not be sent” in the log of the workers.",
        "A mail has been waiting for more than ten minutes",
        `AssayMailsWait page 5m missing-process
      max by (queue) (assay_oldest_due_seconds{queue=~"mails|mail_requests"}) > ${mailsWaitMs / secondMs}
      The oldest mail ({{ $labels.queue }}) has waited for {{ $value | humanizeDuration }}.`,
      ),
      process_not_ready: problem(
        (work) =>
          namesText(
            running(work).filter(({ report }) => (report?.problem ?? null) !== null),
            "are not ready",
          ),
        "Give it the ring that the other processes have (SECRET_KEYS, or DATA_DIR/secret-keys).",
        "A process has a key ring that does not match the others",
      ),
      process_restarts: onlyAlarm(`AssayRestarts page 0m missing-process
      changes(process_start_time_seconds[30m]) > 3 and on (instance, job) assay_build_info
      {{ $labels.instance }} has started {{ $value }} times within half an hour.
      Read the end of its log, and check its memory limit.`),
      overloaded: warning(
        (work) =>
          namesText(
            running(work).filter(({ report }) => report?.isOverloaded === true),
            "are out of capacity and reject requests",
          ),
        "Add a process, or look at the database: docs/scale.md, “Overload”.",
        "Requests are being rejected: out of capacity",
        `AssayOverloaded page 5m overload
      max by (instance) (assay_admission_overloaded) == 1
      {{ $labels.instance }} rejects requests: out of capacity.`,
      ),
      // Targets that were a process of Assay within the last day. If a target disappears with its process, as
      // in Kubernetes, this alarm does not fire.
      process_silent: warning(
        ({ processes }) =>
          namesText(
            processes.filter(({ isSilent }) => isSilent),
            "are silent",
          ),
        "Read the end of its log, and check its machine or pod.",
        "A process has crashed or hangs",
        `AssayProcessGone ticket 5m missing-process
      up == 0 and on (instance, job) max_over_time(assay_build_info[1d])
      Prometheus cannot scrape {{ $labels.instance }}; the other processes take its load.`,
      ),
      versions_differ: warning(
        (work) => {
          const versions = new Set(running(work).map(({ version }) => version));
          return versions.size > 1 && `Processes of different versions run: ${[...versions].join(", ")}.`;
        },
        "Finish the update on every process.",
        "Processes of different versions run",
        `AssayVersionsDiffer ticket 1h missing-process
      count(count by (version) (assay_build_info)) > 1
      {{ $value }} versions have been running at the same time for an hour.`,
      ),
      jobs_failing: warning(
        ({ jobs }) =>
          namesText(
            jobs.filter(({ state }) => state === "failing"),
            "fail and are repeated",
          ),
        "See the lines “background job failed” in the log.",
        "A background job fails and is repeated",
        `AssayJobFails ticket 5m missing-process
      sum by (exported_job) (increase(assay_job_failures_total[15m])) > 3
      The background job {{ $labels.exported_job }} fails again and again; the log says why.`,
      ),
      jobs_late: warning(
        ({ jobs }) =>
          namesText(
            jobs.filter(({ state }) => state === "late"),
            "should have run",
          ),
        "A worker is missing or busy: check its processor and its log.",
        "A background job is overdue",
      ),
      rows_set_aside: warning(
        ({ quarantined: { groups } }) =>
          groups.length > 0
            ? `Quarantined, because a job cannot process them: ${groups.map(({ job, count }) => `${count} of ${job}`).join(", ")}.`
            : null,
        "`assay jobs` shows the reasons. Jobs retry the rows by themselves, or at once with `assay jobs retry`.",
        "Jobs have quarantined rows that they cannot process",
        `AssayRowsSetAside ticket 15m missing-process
      max by (exported_job) (assay_job_rows_set_aside) > 0
      The background job {{ $labels.exported_job }} has quarantined {{ $value }} rows.`,
      ),
      expiries_wait: onlyAlarm(`AssayExpiriesWait ticket 5m missing-process
      max(assay_oldest_due_seconds{queue="expiries"}) > 120
      A session expired {{ $value | humanizeDuration }} ago, and its partner has not been notified.
      There are too few workers, or they are stuck: check their processor and their log.`),
      deletions_wait: onlyAlarm(`AssayDeletionsWait ticket 5m missing-process
      max(assay_deletions_waiting_seconds) > 3600
      A deleted organization has waited {{ $value | humanizeDuration }} for its receipt.
      The log gives the reason: [What was deleted](database.md#what-was-deleted).`),
    },
  ),

  webhooks: about("Webhooks", () => "Nothing is late.", {
    webhooks_wait: problem(
      ({ oldestSendableAt }, now) =>
        waits(oldestSendableAt, now) > webhooksWaitMs &&
        `The oldest delivery that could be sent has been due for ${agoText(waits(oldestSendableAt, now))}.`,
      "Workers are missing, too few or stuck: check their processor, `assay_webhook_endpoints_waiting` and their log.",
      "Webhooks have been due for more than two minutes",
      `AssayWebhooksWait page 5m missing-process
      max(assay_oldest_due_seconds{queue="webhooks"}) > ${webhooksWaitMs / secondMs}
      The oldest webhook has been due for {{ $value | humanizeDuration }}, and is not being sent.`,
    ),
    endpoints_failing: warning(
      ({ endpointsFailing: count }) =>
        count > 0 && `${count} endpoints of partners fail now; the service retries their deliveries.`,
      "Nothing to do, unless all of them fail: then check whether this machine can reach the internet.",
    ),
  }),

  backup: about(
    "Backup",
    ({ lastAt, isEmbedded }, now) =>
      isEmbedded
        ? `The last backup was made ${agoText(waits(lastAt, now))} ago.`
        : "Not known here: back up your PostgreSQL with its own tools, and SECRET_KEYS separately.",
    {
      backup_old: warning(
        ({ lastAt, isEmbedded }, now) =>
          !isEmbedded || (lastAt !== null && waits(lastAt, now) <= backupDays * dayMs)
            ? null
            : lastAt === null
              ? "No backup with `assay backup` is recorded."
              : `The last backup was made ${agoText(waits(lastAt, now))} ago.`,
        "Run `assay backup FILE`, best every night by a timer, and keep the file on another machine.",
        null,
        `AssayBackupOld ticket 1h restore-drill
      max by (instance) (assay_backup_age_seconds) > ${backupDays} * 86400 or max by (instance) (assay_backup_age_seconds) == -1
      The built-in database of {{ $labels.instance }} has no backup of the last seven days.`,
      ),
      backup_job_old: onlyAlarm(`AssayBackupJobOld ticket 1h restore-drill
      time() - max by (namespace, cronjob) (kube_cronjob_status_last_successful_time{cronjob=~".*assay.*-backup"}) > 2 * 86400
      The CronJob {{ $labels.cronjob }} has not succeeded for {{ $value | humanizeDuration }}.
      \`kubectl logs\` of its last Job shows the reason: [restore drill](runbooks/restore-drill.md).`),
    },
  ),
};

function diskText({ free, size }: Facts["disk"]): string {
  return `${(free / gigabyte).toFixed(1)} GB of ${(size / gigabyte).toFixed(0)} GB are free.`;
}

function filesText({ limit }: Facts["openFiles"]): string {
  return limit === null ? "The system does not name a limit." : `${limit} files may be open at once.`;
}

function fewerFiles({ limit }: Facts["openFiles"], than: number): boolean {
  return typeof limit === "number" && limit < than;
}

function isLocal(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === "localhost" || hostname === "[::1]" || /^127\./.test(hostname);
}

function certificateText(mail: Facts["mail"], state: "problem" | "warning"): string | false {
  return mail.kind === "answers" && mail.certificate?.state === state && mail.certificate.found;
}

/** Before the first start an empty database is fine. Later it means lost data, or a wrong DATABASE_URL. */
function lostText(found: string, earlierUse: readonly string[]): string | null {
  return earlierUse.length === 0
    ? null
    : `${found}, although this installation has run before: ${earlierUse.join(", ")}.`;
}

function unapplied({ known, applied }: Facts["schema"]) {
  return known.filter(({ name }) => !(applied ?? []).some((row) => row.name === name));
}

function namesOf(named: readonly { name: string }[]): string {
  return named.map(({ name }) => name).join(", ");
}

function namesText(named: readonly { name: string }[], what: string): string | null {
  return named.length === 0 ? null : `These ${what}: ${namesOf(named)}.`;
}

function skewText({ skewMs }: Facts["clock"]): string {
  const apart = Math.abs(skewMs);
  return `This machine and the database differ by ${apart < secondMs ? `${Math.round(apart)} ms` : `${(apart / secondMs).toFixed(1)} s`}.`;
}

function validText({ validAuthorities, countries }: Facts["trust"]): string {
  return `${validAuthorities} authorities of ${countries} countries are valid`;
}

function walletText({ offered, anchors, identity }: Facts["wallet"]): string {
  if (offered.length === 0) return "No live session may list a wallet method (WALLET_METHODS).";
  const issuers = offered.map((purpose) => `${anchors[purpose]} issuers for ${purpose}`).join(", ");
  return identity === null
    ? `${issuers}.`
    : `${issuers}; requests are signed until ${identity.notAfter.toISOString().slice(0, 10)}.`;
}

function listsText(lists: Facts["wallet"]["staleLists"], what: string): string | null {
  return lists.length === 0 ? null : `${lists.map(({ label }) => label).join(", ")} ${what}.`;
}

function endsSoon(at: Date, now: Date): boolean {
  return at.getTime() - now.getTime() < renewalDays * dayMs;
}

function ageDays(then: Date, now: Date): number {
  return Math.floor((now.getTime() - then.getTime()) / dayMs);
}

type Source = Facts["trust"]["sources"][number];

function sourcesText(trust: Facts["trust"], isMeant: (source: Source) => boolean): string | null {
  const meant = trust.sources.filter(isMeant);
  const names = meant.map(({ address, problem }) => `${address} (${problem})`).join(", ");
  return meant.length === 0
    ? null
    : `${validText(trust)}, but ${meant.length} of ${trust.sources.length} sources fail: ${names}.`;
}

function running({ processes }: Work) {
  return processes.filter(({ isSilent }) => !isSilent);
}

/** Milliseconds since then; 0 if nothing waits. */
function waits(since: Date | null, now: Date): number {
  return since === null ? 0 : now.getTime() - since.getTime();
}

function agoText(milliseconds: number): string {
  const [count, unit] =
    milliseconds < hourMs
      ? [Math.round(milliseconds / minuteMs), "minute"]
      : milliseconds < 2 * dayMs
        ? [Math.round(milliseconds / hourMs), "hour"]
        : [Math.round(milliseconds / dayMs), "day"];
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}
