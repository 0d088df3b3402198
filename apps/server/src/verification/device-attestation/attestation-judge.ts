import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { framesToSign } from "@assay/contract/verify-protocol";
import { createNodeSignatureChecker } from "@assay/emrtd/node/signature-checker";
import type { Core } from "../../platform/core.ts";
import { describeError } from "../../platform/lib/log.ts";
import { ConfigError } from "../../settings/config-error.ts";
import { readRevokedSerials, readRootKeys } from "./attestation-files.ts";
import { type AttestationProblem, attestationProblem } from "./verify-attestation.ts";

const googleRoots = new URL("./google-roots.pem", import.meta.url);

/** An attestation of frames, as the phone sent it. */
export type SentAttestation = { certificates: readonly string[]; signature: string };

/** Judges whether secure hardware attests the origin of frames. Works offline, with files only. */
export class AttestationJudge {
  readonly #core: Pick<Core, "config" | "clock" | "log" | "metrics">;
  readonly #checker = createNodeSignatureChecker();
  readonly #roots: readonly Uint8Array[];
  readonly #count: (labels: { result: AttestationProblem | "attested" }) => void;
  #revoked: { readonly serials: ReadonlySet<string>; readonly changedAtMs: number };

  constructor(core: Pick<Core, "config" | "clock" | "log" | "metrics">) {
    this.#core = core;
    this.#roots = [...readRootKeys(readFileSync(googleRoots, "utf8")), ...furtherRoots(core.config)];
    this.#revoked = { serials: new Set(), changedAtMs: 0 };
    this.#count = core.metrics.counter(
      "assay_device_attestations_total",
      "Attestations by phones of the frames that they sent, by result.",
    );
  }

  /** Null when it holds. */
  judge(
    sent: SentAttestation,
    nonce: string,
    frames: readonly Uint8Array[],
  ): AttestationProblem | "no_app" | null {
    const { config, clock, log } = this.#core;
    const app = config.readerAppAndroid;
    if (app === null) return "no_app";
    const challenge = Buffer.from(nonce, "base64");
    const digests = frames.map((frame) => createHash("sha256").update(frame).digest());
    const problem = attestationProblem(
      {
        certificates: sent.certificates.map((certificate) => Buffer.from(certificate, "base64")),
        signature: Buffer.from(sent.signature, "base64"),
      },
      {
        roots: this.#roots,
        revokedSerials: this.#revokedSerials(),
        app,
        challenge,
        message: framesToSign(challenge, digests),
        now: clock.now(),
      },
      this.#checker,
    );
    this.#count({ result: problem ?? "attested" });
    if (problem !== null) log.info("the attestation of a phone does not hold", { reason: problem });
    return problem;
  }

  /** Checks the file each time, so that a newer list counts without a restart. */
  #revokedSerials(): ReadonlySet<string> {
    const { config, log } = this.#core;
    if (config.attestationRevoked === "") return this.#revoked.serials;
    try {
      const { mtimeMs } = statSync(config.attestationRevoked);
      if (mtimeMs !== this.#revoked.changedAtMs)
        this.#revoked = {
          serials: readRevokedSerials(readFileSync(config.attestationRevoked, "utf8")),
          changedAtMs: mtimeMs,
        };
    } catch (error) {
      log.error(
        "could not read the list of revoked attestation keys; the last one that was read still counts",
        {
          file: config.attestationRevoked,
          ...describeError(error),
        },
      );
    }
    return this.#revoked.serials;
  }
}

function furtherRoots({ attestationRoots: file }: Pick<Core["config"], "attestationRoots">): Uint8Array[] {
  if (file === "") return [];
  try {
    const keys = readRootKeys(readFileSync(file, "utf8"));
    if (keys.length > 0) return keys;
  } catch (error) {
    throw new ConfigError([
      `ATTESTATION_ROOTS names a file that cannot be used: ${(error as Error).message}`,
    ]);
  }
  throw new ConfigError(["ATTESTATION_ROOTS names a file without a certificate"]);
}
