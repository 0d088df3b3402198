import { type Command, CommandError, didYouMean } from "@assay/cli/command";
import type { Style } from "@assay/cli/style";
import { CallError } from "@assay/contract/client";
import { type RequirementName, requirementNames } from "@assay/contract/facts";
import {
  isWalletOutcome,
  walletOutcomeNames,
  walletOutcomes,
} from "@assay/credential/test-country/wallet-outcomes";
import { testPersonCamera } from "@assay/device/node/test-person";
import { type DeviceOutcome, describeOutcome, runDevice, stopSteps } from "@assay/device/run-device";
import {
  describeWalletOutcome,
  runWallet,
  type TestWallet,
  testWallets,
  type WalletRunOutcome,
} from "@assay/device/run-wallet";
import { DeviceError } from "@assay/device/verification-url";
import { virtualPassport } from "@assay/device/virtual-passport";
import { listTestDocuments, testDocument } from "@assay/emrtd/node/test-country/catalogue";
import { systemClock } from "../../platform/kernel/clock.ts";

type Outcome = DeviceOutcome | WalletRunOutcome;

const exitCodes: Readonly<Record<Outcome["kind"], number>> = {
  succeeded: 0,
  declined: 0,
  stopped: 0,
  face_elsewhere: 0,
  failed: 3,
  fault: 4,
  closed: 4,
};

export const simulateCommand: Command = {
  name: "simulate",
  about:
    "Run a whole sandbox verification without a person: agree, read a test document or answer with the test wallet, and wait for the outcome. It uses only HTTP and WebSocket, so it works against any installation.",
  examples: [
    "simulate https://id.example.com/verify/… --passport valid",
    "simulate URL --passport cloned --json",
    "simulate URL --wallet pid --outcome revoked",
  ],
  exitCodes: {
    0: "The verification succeeded, stopped at --stop-after, or the wallet declined as requested.",
    3: "The verification failed.",
    4: "The simulation could not run.",
  },
  positionals: "VERIFICATION_URL",
  options: {
    passport: {
      type: "string",
      about:
        "The test document; `assay virtual-document` lists them. The part after `passport-` is enough: `valid`, `expired`, `cloned`, …",
      placeholder: "ID",
    },
    wallet: {
      type: "string",
      about: `Use the test wallet with this credential instead of a passport: ${testWallets.join(", ")}.`,
      placeholder: "CREDENTIAL",
      values: testWallets,
    },
    outcome: {
      type: "string",
      about: `How the test wallet answers: ${walletOutcomeNames.join(", ")}. Default: valid.`,
      placeholder: "NAME",
    },
    require: {
      type: "string",
      about: `Fail unless the session has these requirements, comma separated: ${requirementNames.join(", ")}. Your test then notices a requirement that is no longer sent.`,
      placeholder: "REQUIREMENTS",
    },
    decline: {
      type: "string",
      about: "Optional fields that the person does not share, comma separated.",
      placeholder: "FIELDS",
    },
    "stop-after": {
      type: "string",
      about: `Stop after this step: ${stopSteps.join(", ")}.`,
      placeholder: "STEP",
      values: stopSteps,
    },
    camera: {
      type: "boolean",
      about:
        "Send a film of the test document's drawn person, and let the service judge the face as in a live session. Otherwise the test document decides.",
    },
    json: { type: "boolean", about: "Print the outcome as one line of JSON." },
  },
  run: async ({ options, positionals }, print, style) => {
    const [verificationUrl, ...more] = positionals;
    if (verificationUrl === undefined || more.length > 0)
      throw new CommandError("Name the verification_url of one session.");
    const demanded = listed(options.require).map((name) => {
      if (!isRequirement(name))
        throw new CommandError(
          `--require takes ${requirementNames.join(" and ")}, not ${name}.${didYouMean(name, requirementNames)}`,
        );
      return name;
    });
    const json = options.json === true;
    const shared = {
      verificationUrl,
      demanded,
      decline: listed(options.decline),
      ...(json ? {} : { onStep: printStep(print, style) }),
    };
    const simulated = options.wallet === undefined ? simulatePassport(options) : simulateWallet(options);
    try {
      const { outcome, inWords } = await simulated.run(shared);
      const { kind: result, ...rest } = outcome;
      if (json) print(JSON.stringify({ ...simulated.with, result, ...rest }));
      else {
        print(`${markOf(outcome, style)}${inWords}`);
        const link = dashboardLink(verificationUrl);
        if (style.width !== null && link !== null) print(`  ${style.paint("dim", link)}`);
      }
      return exitCodes[result];
    } catch (error) {
      if (error instanceof DeviceError || error instanceof CallError) throw new CommandError(error.message);
      throw error;
    }
  },
};

type Options = Readonly<Record<string, unknown>>;
type Shared = Pick<Parameters<typeof runDevice>[0], "verificationUrl" | "demanded" | "decline" | "onStep">;
type Simulated = {
  /** What is simulated, for the JSON output. */
  with: Readonly<Record<string, string>>;
  run(shared: Shared): Promise<{ outcome: Outcome; inWords: string }>;
};

function simulatePassport(options: Options): Simulated {
  if (options.passport === undefined)
    throw new CommandError("Name what to simulate: --passport ID, or --wallet CREDENTIAL.");
  if (options.outcome !== undefined) throw new CommandError("--outcome goes with --wallet.");
  const documents = listTestDocuments();
  const id = String(options.passport);
  // A short name matches the first id that begins with it: `cloned` is the cloned chip with chip
  // authentication.
  const listed =
    documents.find((candidate) => candidate.id === id || candidate.id === `passport-${id}`) ??
    documents.find((candidate) => candidate.id.startsWith(`passport-${id}-`));
  const document = listed === undefined ? null : testDocument(listed.id, systemClock.now());
  if (document === null)
    throw new CommandError(
      `There is no test document ${id}.${didYouMean(id, shortNames(documents))} There are:\n${documents.map((each) => `  ${each.id}`).join("\n")}`,
    );
  const stopAfter = stopSteps.find((step) => step === options["stop-after"]);
  return {
    with: { document: document.id },
    run: async (shared) => {
      const outcome = await runDevice({
        ...shared,
        chip: virtualPassport(document),
        ...(options.camera === true ? { camera: testPersonCamera(document.holder) } : {}),
        ...(stopAfter === undefined ? {} : { stopAfter }),
      });
      return { outcome, inWords: describeOutcome(outcome) };
    },
  };
}

function simulateWallet(options: Options): Simulated {
  for (const other of ["passport", "camera", "stop-after"])
    if (options[other] !== undefined) throw new CommandError(`--${other} cannot be combined with --wallet.`);
  const wallet = options.wallet as TestWallet;
  const outcome = String(options.outcome ?? "valid");
  if (!isWalletOutcome(outcome))
    throw new CommandError(
      `There is no outcome ${outcome}.${didYouMean(outcome, walletOutcomeNames)} There are:\n${walletOutcomeNames.map((name) => `  ${name}: ${walletOutcomes[name].description}`).join("\n")}`,
    );
  return {
    with: { wallet, outcome },
    run: async (shared) => {
      const ended = await runWallet({ ...shared, wallet, outcome, now: () => systemClock.now() });
      return { outcome: ended, inWords: describeWalletOutcome(ended) };
    },
  };
}

/**
 * Prints a tick for each step on a terminal, elsewhere only the step. On a terminal a repeated step is
 * printed once.
 */
function printStep(print: (line: string) => void, style: Style): (step: string) => void {
  let last = "";
  return (step) => {
    if (style.width !== null && step === last) return;
    last = step;
    print(`${style.width === null ? "" : `${style.mark("ok")} `}${step.replaceAll("_", " ")}`);
  };
}

function markOf({ kind }: Outcome, style: Style): string {
  return style.width === null ? "" : `${style.mark(exitCodes[kind] === 0 ? "ok" : "problem")} `;
}

function dashboardLink(verificationUrl: string): string | null {
  const url = URL.parse(verificationUrl);
  const id = /\/verify\/(vs_[A-Za-z0-9]+)/.exec(url?.pathname ?? "")?.[1];
  return url === null || id === undefined ? null : `${url.origin}/dashboard/sessions/${id}`;
}

function listed(option: unknown): string[] {
  return typeof option === "string" ? option.split(",").filter((part) => part !== "") : [];
}

function isRequirement(name: string): name is RequirementName {
  return requirementNames.some((known) => known === name);
}

/** Each id with and without the common prefix. */
function shortNames(documents: readonly { id: string }[]): string[] {
  return documents.flatMap(({ id }) => [id, id.replace(/^passport-/, "")]);
}
