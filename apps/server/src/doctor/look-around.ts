import { accessSync, constants, statSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import { checkServerIdentity } from "node:tls";
import { type Check, type Found, ok, problem, warning } from "@assay/cli/checks";
import { judgeCertificate, lookAtCertificate } from "@assay/cli/look-at-certificate";
import type { Config } from "../config.ts";
import { faceJudgeSettings } from "../face/face-settings.ts";
import { FaceWorkerPool } from "../face/face-worker-pool.ts";
import { keyRingPath } from "../installation/key-ring-file.ts";
import type { Clock } from "../kernel/clock.ts";
import { createDns, DnsError } from "../lib/dns.ts";
import type { Log } from "../lib/log.ts";
import { withoutNetwork } from "../lib/network-namespace.ts";
import {
  judgeAttestation,
  judgeDisk,
  judgeFaceWorker,
  judgeFolder,
  judgeNode,
  judgeOpenFiles,
  judgePublicUrl,
  judgeReading,
} from "./judge-installation.ts";

type Surroundings = { config: Config; clock: Clock; log: Log };

/** What can be looked at without a database. */
export function checksAround({ config, clock, log }: Surroundings): Check[] {
  return [
    { name: "Node", look: async () => judgeNode(process.version) },
    { name: "Data folder", look: async () => lookAtFolder(config) },
    { name: "Disk", look: () => lookAtDisk(config.dataDir) },
    { name: "Open files", look: async () => judgeOpenFiles(openFilesLimit()) },
    { name: "Public address", look: () => lookAtPublicUrl(config, clock) },
    { name: "Mail", look: () => lookAtMail(config, clock) },
    { name: "Reading devices", look: async () => lookAtReading(config) },
    { name: "DNS", look: () => lookAtResolvers(config) },
    ...(config.readerAppAndroid === null && config.attestationRoots === ""
      ? []
      : [{ name: "Attestation", look: async () => judgeAttestation(config.attestationRevoked) }]),
    { name: "Face", withinMs: 60_000, look: () => lookAtFace(config, log) },
  ];
}

function lookAtFolder({ dataDir, secretKeys }: Config): Found {
  const modeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.mode ?? null;
  const mode = modeOf(dataDir);
  let isWritable = true;
  try {
    if (mode !== null) accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    isWritable = false;
  }
  const ringMode = secretKeys === "" && isWritable ? modeOf(keyRingPath(dataDir)) : null;
  return judgeFolder({ path: dataDir, mode, isWritable, ringMode });
}

/** Of the folder, or of the nearest one above it that is there. */
async function lookAtDisk(folder: string): Promise<Found> {
  let path = join(folder);
  while (statSync(path, { throwIfNoEntry: false }) === undefined && dirname(path) !== path)
    path = dirname(path);
  const { bavail, blocks, bsize } = await statfs(path);
  return judgeDisk({ free: bavail * bsize, size: blocks * bsize });
}

function lookAtReading({ readerAppAndroid, readerAppIos, deskReaders }: Config): Found {
  const apps = [
    ...(readerAppAndroid === null ? [] : ["the Android app"]),
    ...(readerAppIos === null ? [] : ["the iPhone app"]),
  ];
  return judgeReading({ apps, desks: deskReaders });
}

function openFilesLimit(): number | "unlimited" | null {
  const report = process.report.getReport() as { userLimits?: { open_files?: { soft?: number | string } } };
  const soft = report.userLimits?.open_files?.soft;
  return soft === "unlimited" ? soft : typeof soft === "number" ? soft : null;
}

/** Whether the service itself answers there, as seen from this machine. */
async function lookAtPublicUrl(config: Config, clock: Clock): Promise<Found> {
  const judged = judgePublicUrl(config.publicUrl);
  if (judged.state === "problem") return judged;
  const base = config.publicUrl || `http://127.0.0.1:${config.port}`;
  const { protocol, hostname, port } = new URL(base);
  const reached = await reach(base);
  if (protocol === "https:" && reached.state !== "warning") {
    const certificate = await lookAtCertificate(hostname, Number(port || 443), clock.now());
    if (certificate.state !== "ok") return certificate;
  }
  return reached.state !== "ok" ? reached : judged.state !== "ok" ? judged : ok(`${base} answers.`);
}

async function reach(base: string): Promise<Found> {
  try {
    const response = await fetch(`${base}/healthz`, {
      redirect: "manual",
      signal: AbortSignal.timeout(8_000),
    });
    const text = await response.text();
    return response.ok && text.includes('"ok"')
      ? ok(`${base} answers.`)
      : problem(
          `At ${base} somebody else answers (${response.status}).`,
          "Check PUBLIC_URL, PORT and the proxy in front.",
        );
  } catch (error) {
    const { cause, message } = error as Error & { cause?: { code?: string } };
    const code = cause?.code ?? message;
    if (/CERT|TLS|SSL|SIGNATURE|ALTNAME/.test(code))
      return problem(`${base}: ${code}.`, "Give the proxy a certificate for this name.");
    return code === "ENOTFOUND"
      ? problem(`${base}: the name does not exist.`, "Publish it in DNS, or check PUBLIC_URL.")
      : warning(
          `${base} does not answer from here: ${code}.`,
          "Start the service. Where it runs, see whether others reach it: some networks have no way back in from inside.",
        );
  }
}

/** Connects, greets, and signs in where SMTP_URL has a name and a password. No mail is sent. */
async function lookAtMail({ smtpUrl, dataDir }: Config, clock: Clock): Promise<Found> {
  if (smtpUrl === "")
    return warning(
      `SMTP_URL is not set: mails are written to ${join(dataDir, "mail")}, and no e-mail address is verified.`,
      "Fine for trying out. Otherwise name your mail server in SMTP_URL and the sender in MAIL_FROM.",
    );
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
    const { code, message } = error as Error & { code?: string };
    return problem(
      `The mail server ${host} does not take us: ${code ?? ""} ${message}.`,
      code === "EAUTH"
        ? "Check the name and the password in SMTP_URL."
        : "Check SMTP_URL, and whether this machine may connect there.",
    );
  } finally {
    transport.close();
  }
  if (validTo === null) return ok(`${host} answers, without TLS.`);
  const certificate = judgeCertificate(hostname, new Date(validTo), clock.now());
  return certificate.state === "ok" ? ok(`${host} answers. ${certificate.found}`) : certificate;
}

/** A name that does not exist is an answer as well; only silence and errors are not. */
async function lookAtResolvers({ dnsResolvers }: Config): Promise<Found> {
  const asked = dnsResolvers.length === 0 ? [null] : dnsResolvers;
  const silent: string[] = [];
  for (const resolver of asked) {
    const dns = createDns({
      resolvers: resolver === null ? [] : [resolver],
      timeoutMs: 2_000,
    });
    try {
      await dns.resolveTxt("example.com");
    } catch (error) {
      if (!(error instanceof DnsError)) throw error;
      silent.push(`${resolver ?? "the system's"} (${error.kind})`);
    }
  }
  if (silent.length === 0)
    return ok(
      `${dnsResolvers.length === 0 ? "The system's resolvers answer" : `${asked.length} resolvers answer`}.`,
    );
  const found = `No answer from ${silent.join(", ")}.`;
  const todo =
    "Check DNS_RESOLVERS and whether UDP and TCP port 53 get out. Domains, webhooks and logos need it.";
  return silent.length < asked.length ? warning(found, todo) : problem(found, todo);
}

/** Starts a worker with the models, as the first face does, and gives it a picture that is none. */
async function lookAtFace(config: Config, log: Log): Promise<Found> {
  const pool = new FaceWorkerPool({ log, ...faceJudgeSettings(config).pool, workers: 1 });
  try {
    await pool.run({ frames: [], portrait: new Uint8Array(16) }, { sandbox: false });
    return judgeFaceWorker({ hasNetwork: withoutNetwork() === null });
  } catch (error) {
    return problem(
      `The worker that compares faces does not start: ${(error as Error).message}.`,
      "See that 300 MB of memory are free, and that FACE_MODELS_FILE, where it is set, can be read.",
    );
  } finally {
    await pool.close();
  }
}
