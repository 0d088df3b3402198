import { accessSync, constants, statSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import { checkServerIdentity } from "node:tls";
import type { Check } from "@assay/cli/checks";
import { judgeCertificate, lookAtCertificate } from "@assay/cli/look-at-certificate";
import type { Config } from "../../config.ts";
import { keyRingPath } from "../../platform/installation/key-ring-file.ts";
import type { Clock } from "../../platform/kernel/clock.ts";
import { createDns, DnsError } from "../../platform/lib/dns.ts";
import type { Log } from "../../platform/lib/log.ts";
import { withoutNetwork } from "../../platform/lib/network-namespace.ts";
import { faceJudgeSettings } from "../../verification/face/face-settings.ts";
import { FaceWorkerPool } from "../../verification/face/face-worker-pool.ts";
import { concerns } from "../operator/concerns.ts";
import type { Facts } from "../operator/facts.ts";
import { judge } from "../operator/judge-concerns.ts";

/** A check of the doctor: reads one fact and judges it. */
export function checkOf<S extends keyof Facts>(
  of: S,
  clock: Clock,
  look: () => Facts[S] | Promise<Facts[S]>,
  withinMs?: number,
): Check {
  return {
    name: concerns[of].check ?? of,
    look: async () => judge(of, await look(), clock.now()),
    ...(withinMs === undefined ? {} : { withinMs }),
  };
}

/** The checks that need no database. */
export function checksAround({ config, clock, log }: { config: Config; clock: Clock; log: Log }): Check[] {
  const { readerAppAndroid, attestationRoots, attestationRevoked } = config;
  const vouches = readerAppAndroid !== null || attestationRoots !== "";
  return [
    checkOf("node", clock, () => ({ version: process.version })),
    checkOf("folder", clock, () => lookAtFolder(config)),
    checkOf("disk", clock, () => lookAtDisk(config.dataDir)),
    checkOf("openFiles", clock, () => ({ limit: openFilesLimit() })),
    checkOf("publicAddress", clock, () => lookAtPublicAddress(config, clock)),
    checkOf("mail", clock, () => lookAtMail(config, clock)),
    checkOf("readingDevices", clock, () => lookAtReadingDevices(config)),
    checkOf("dns", clock, () => lookAtResolvers(config)),
    ...(vouches ? [checkOf("attestation", clock, () => ({ revokedFile: attestationRevoked }))] : []),
    checkOf("face", clock, () => lookAtFace(config, log), 60_000),
  ];
}

function lookAtFolder({ dataDir, secretKeys }: Config): Facts["folder"] {
  const modeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.mode ?? null;
  const mode = modeOf(dataDir);
  let isWritable = true;
  try {
    if (mode !== null) accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    isWritable = false;
  }
  const ringMode = secretKeys === "" && isWritable ? modeOf(keyRingPath(dataDir)) : null;
  return { path: dataDir, mode, isWritable, ringMode };
}

/** Disk of the folder, or of its nearest existing parent. */
async function lookAtDisk(folder: string): Promise<Facts["disk"]> {
  let path = join(folder);
  while (statSync(path, { throwIfNoEntry: false }) === undefined && dirname(path) !== path)
    path = dirname(path);
  const { bavail, blocks, bsize } = await statfs(path);
  return { free: bavail * bsize, size: blocks * bsize };
}

function lookAtReadingDevices({
  readerAppAndroid,
  readerAppIos,
  deskReaders,
}: Config): Facts["readingDevices"] {
  const apps = [
    ...(readerAppAndroid === null ? [] : ["the Android app"]),
    ...(readerAppIos === null ? [] : ["the iPhone app"]),
  ];
  return { apps, desks: deskReaders };
}

function openFilesLimit(): number | "unlimited" | null {
  const report = process.report.getReport() as { userLimits?: { open_files?: { soft?: number | string } } };
  const soft = report.userLimits?.open_files?.soft;
  return soft === "unlimited" ? soft : typeof soft === "number" ? soft : null;
}

/** Whether the service answers there, as seen from this machine. */
async function lookAtPublicAddress(config: Config, clock: Clock): Promise<Facts["publicAddress"]> {
  const url = config.publicUrl;
  const base = url || `http://127.0.0.1:${config.port}`;
  const { protocol, hostname, port } = new URL(base);
  const unasked = { url, base, answer: "not_asked", detail: "", certificate: null } as const;
  if (judge("publicAddress", unasked, clock.now()).state === "problem") return unasked;
  const reached = await reach(base);
  const certificate =
    protocol === "https:" && reached.answer !== "none"
      ? await lookAtCertificate(hostname, Number(port || 443), clock.now())
      : null;
  return { url, base, ...reached, certificate };
}

async function reach(base: string): Promise<Pick<Facts["publicAddress"], "answer" | "detail">> {
  try {
    const response = await fetch(`${base}/healthz`, {
      redirect: "manual",
      signal: AbortSignal.timeout(8_000),
    });
    const isOurs = response.ok && (await response.text()).includes('"ok"');
    return { answer: isOurs ? "ours" : "foreign", detail: String(response.status) };
  } catch (error) {
    const { cause, message } = error as Error & { cause?: { code?: string } };
    const detail = cause?.code ?? message;
    if (/CERT|TLS|SSL|SIGNATURE|ALTNAME/.test(detail)) return { answer: "untrusted", detail };
    return { answer: detail === "ENOTFOUND" ? "unknown_name" : "none", detail };
  }
}

/** Connects, greets, and signs in if SMTP_URL has credentials. Sends no mail. */
async function lookAtMail({ smtpUrl, dataDir }: Config, clock: Clock): Promise<Facts["mail"]> {
  if (smtpUrl === "") return { kind: "files", folder: join(dataDir, "mail") };
  const { createTransport } = await import("nodemailer");
  let validTo: string | null = null;
  const { hostname, host } = new URL(smtpUrl);
  const transport = createTransport({
    url: smtpUrl,
    connectionTimeout: 8_000,
    greetingTimeout: 8_000,
    socketTimeout: 8_000,
    tls: {
      checkServerIdentity: (name, certificate) => {
        validTo = certificate.valid_to;
        return checkServerIdentity(name, certificate);
      },
    },
  });
  try {
    await transport.verify();
  } catch (error) {
    const { code = "", message } = error as Error & { code?: string };
    return { kind: "refused", host, code, message };
  } finally {
    transport.close();
  }
  const certificate = validTo === null ? null : judgeCertificate(hostname, new Date(validTo), clock.now());
  return { kind: "answers", host, certificate };
}

/** A name that does not exist is an answer as well. Only timeouts and errors count as failures. */
async function lookAtResolvers({ dnsResolvers }: Config): Promise<Facts["dns"]> {
  const silent: string[] = [];
  for (const resolver of dnsResolvers.length === 0 ? [null] : dnsResolvers) {
    const dns = createDns({ resolvers: resolver === null ? [] : [resolver], timeoutMs: 2_000 });
    try {
      await dns.resolveTxt("example.com");
    } catch (error) {
      if (!(error instanceof DnsError)) throw error;
      silent.push(`${resolver ?? "the system's"} (${error.kind})`);
    }
  }
  return { resolvers: dnsResolvers.length, silent };
}

/** Starts a worker with the models, as the first face does, and sends it an invalid picture. */
async function lookAtFace(config: Config, log: Log): Promise<Facts["face"]> {
  const pool = new FaceWorkerPool({ log, ...faceJudgeSettings(config).pool, workers: 1 });
  try {
    await pool.run({ frames: [], portrait: new Uint8Array(16) }, { sandbox: false });
    return { failure: null, hasNetwork: withoutNetwork() === null };
  } catch (error) {
    return { failure: (error as Error).message, hasNetwork: false };
  } finally {
    await pool.close();
  }
}
