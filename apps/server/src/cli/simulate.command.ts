import { type Command, CommandError } from "@assay/cli/command";
import { CallError } from "@assay/contract/client";
import { type RequirementName, requirementNames } from "@assay/contract/facts";
import { testPersonCamera } from "@assay/device/node/test-person";
import {
  type DeviceOutcome,
  describeOutcome,
  runDevice,
  type StopStep,
  stopSteps,
} from "@assay/device/run-device";
import { DeviceError } from "@assay/device/verification-url";
import { virtualPassport } from "@assay/device/virtual-passport";
import { testDocuments } from "@assay/emrtd/node/test-country/catalogue";
import { systemClock } from "../kernel/clock.ts";

const exitCodes: Readonly<Record<DeviceOutcome["result"], number>> = {
  succeeded: 0,
  stopped: 0,
  face_elsewhere: 0,
  failed: 3,
  fault: 4,
  closed: 4,
};

export const simulateCommand: Command = {
  name: "simulate",
  about:
    "Run a whole sandbox verification without a person: agree, read a test document, and go on to the outcome. It speaks HTTP and WebSocket only, so it works against any installation. Ends with 0 on success or a stop, with 3 when the verification failed, with 4 when it could not be carried out.",
  positionals: "VERIFICATION_URL",
  options: {
    passport: {
      type: "string",
      about:
        "The test document; `assay virtual-document` lists them. The part after `passport-` is enough: `valid`, `expired`, `cloned`, …",
      placeholder: "ID",
      required: true,
    },
    require: {
      type: "string",
      about: `Go on only with a session that requires this of the document, comma separated: ${requirementNames.join(", ")}. A test of yours then notices when the requirement is no longer sent.`,
      placeholder: "REQUIREMENTS",
    },
    decline: {
      type: "string",
      about: "Optional fields that are not shared, comma separated.",
      placeholder: "FIELDS",
    },
    "stop-after": {
      type: "string",
      about: `Leave after this step: ${stopSteps.join(", ")}.`,
      placeholder: "STEP",
    },
    camera: {
      type: "boolean",
      about:
        "Film the drawn person of the test document and have the service judge the face as in a live session. Without it the test document decides.",
    },
    json: { type: "boolean", about: "Print the outcome as one line of JSON." },
  },
  run: async ({ options, positionals }, print) => {
    const [verificationUrl, ...more] = positionals;
    if (verificationUrl === undefined || more.length > 0)
      throw new CommandError("Name the verification_url of one session.");
    const documents = testDocuments(systemClock.now());
    const id = String(options.passport);
    // A short name means the first that begins with it: `cloned` is the cloned chip with chip authentication.
    const document =
      documents.find((candidate) => candidate.id === id || candidate.id === `passport-${id}`) ??
      documents.find((candidate) => candidate.id.startsWith(`passport-${id}-`));
    if (document === undefined)
      throw new CommandError(
        `There is no test document ${id}. There are: ${documents.map((each) => each.id).join(", ")}.`,
      );
    const stopAfter = options["stop-after"];
    if (stopAfter !== undefined && !isStopStep(stopAfter))
      throw new CommandError(`--stop-after must be one of: ${stopSteps.join(", ")}.`);
    const demanded = listed(options.require).map((name) => {
      if (!isRequirement(name))
        throw new CommandError(`--require takes ${requirementNames.join(" and ")}, not ${name}.`);
      return name;
    });
    const json = options.json === true;
    try {
      const outcome = await runDevice({
        verificationUrl,
        chip: virtualPassport(document),
        ...(options.camera === true ? { camera: testPersonCamera(document.holder) } : {}),
        demanded,
        decline: listed(options.decline),
        ...(stopAfter === undefined ? {} : { stopAfter }),
        ...(json ? {} : { onStep: (step: string) => print(step.replaceAll("_", " ")) }),
      });
      print(json ? JSON.stringify({ document: document.id, ...outcome }) : describeOutcome(outcome));
      return exitCodes[outcome.result];
    } catch (error) {
      if (error instanceof DeviceError || error instanceof CallError) throw new CommandError(error.message);
      throw error;
    }
  },
};

function listed(option: unknown): string[] {
  return typeof option === "string" ? option.split(",").filter((part) => part !== "") : [];
}

function isRequirement(name: string): name is RequirementName {
  return requirementNames.some((known) => known === name);
}

function isStopStep(value: unknown): value is StopStep {
  return stopSteps.some((step) => step === value);
}
