import type { TSchema } from "typebox";
import { apiVersion } from "./openapi.ts";
import {
  artifactHeaderBytes,
  chipFileLimits,
  verifyCloseCodes,
  verifyFaultCodes,
  verifySocketLimits,
  verifySubprotocol,
} from "./verify-protocol.ts";
import { deviceMessages, serviceMessages } from "./verify-socket.ts";

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
type JsonObject = { [name: string]: Json };

export const messageSummaries: Readonly<
  Record<keyof typeof deviceMessages | keyof typeof serviceMessages, string>
> = {
  hello: "The first message of a device: the token from the claim.",
  chip_file: "Announces a file of the chip; its bytes follow in binary frames.",
  chip_done: "Every file that the chip has was sent whole.",
  chip_answer: "What the chip answered to a `chip_command`.",
  chip_lost: "The chip left the field during its proof. A fresh exchange begins; no try is used.",
  chip_restart: "Begin the chip step anew; no try is used.",
  face_start: "Begin a face try.",
  face_frame: "Announces a camera frame; its bytes follow in binary frames.",
  face_done: "Every camera frame was sent whole.",
  welcome: "The device is known: the phase, the tries left, and how the face is checked.",
  checking: "The service works on what was sent.",
  chip_command: "Commands that the device passes on to the chip.",
  step_result: "A try was judged and counted.",
  face_challenge: "The movements to make, fresh for each try.",
  fault: "Something failed on the service's side; no try was used.",
  outcome: "The session has ended.",
  closing: "Why the service closes the socket.",
};

/** The AsyncAPI 3 document of the socket. Everything in it comes from the schemas that both ends use. */
export function describeSocket(): JsonObject {
  const address = "/v1/verify/session/{session_id}";
  const refer = (name: string): JsonObject => ({ $ref: `#/channels/verify/messages/${name}` });
  const all = { ...deviceMessages, ...serviceMessages };
  const messages: JsonObject = Object.fromEntries(
    Object.keys(all).map((name) => [name, { $ref: `#/components/messages/${name}` }]),
  );
  messages.artifact = { $ref: "#/components/messages/artifact" };
  return {
    asyncapi: "3.0.0",
    info: {
      title: "Assay verify socket",
      version: apiVersion,
      description: [
        `The socket between a reading device and the service, sub-protocol \`${verifySubprotocol}\`. Text frames are JSON messages; binary frames carry parts of artifacts. The service handles the messages of a socket strictly one after another.`,
        describeLimits(),
        describeCloses(),
        describeFaults(),
      ].join("\n\n"),
      license: { name: "Apache-2.0" },
    },
    defaultContentType: "application/json",
    channels: {
      verify: {
        address,
        title: "Verify socket",
        parameters: { session_id: { description: "Identifier of a verification session." } },
        messages,
        bindings: {
          ws: {
            method: "GET",
            headers: {
              type: "object",
              required: ["Sec-WebSocket-Protocol"],
              properties: { "Sec-WebSocket-Protocol": { type: "string", const: verifySubprotocol } },
            },
            bindingVersion: "0.1.0",
          },
        },
      },
    },
    operations: {
      fromDevice: {
        action: "receive",
        channel: { $ref: "#/channels/verify" },
        summary: "What a reading device sends.",
        messages: [...Object.keys(deviceMessages), "artifact"].map(refer),
      },
      toDevice: {
        action: "send",
        channel: { $ref: "#/channels/verify" },
        summary: "What the service sends.",
        messages: Object.keys(serviceMessages).map(refer),
      },
    },
    components: {
      messages: {
        ...Object.fromEntries(
          Object.entries(all).map(([name, schema]) => [
            name,
            {
              name,
              title: titleOf(schema),
              summary: messageSummaries[name as keyof typeof messageSummaries],
              contentType: "application/json",
              payload: { $ref: `#/components/schemas/${titleOf(schema)}` },
            },
          ]),
        ),
        artifact: {
          name: "artifact",
          title: "Part of an artifact",
          summary: "A binary frame with the next bytes of an announced artifact.",
          contentType: "application/octet-stream",
          description: `${artifactHeaderBytes} bytes of header, big endian: version (1 byte, 1), artifact (4 bytes), offset (4 bytes), total size (4 bytes); then 1 to ${verifySocketLimits.frameBytes} bytes. The parts of an artifact follow each other without a gap.`,
          payload: { type: "string", format: "binary" },
        },
      },
      schemas: Object.fromEntries(Object.values(all).map((schema) => [titleOf(schema), plain(schema)])),
    },
  };
}

function titleOf(schema: TSchema): string {
  const { title } = schema as { title?: string };
  if (title === undefined) throw new Error("a message without a name");
  return title;
}

function plain(schema: TSchema): Json {
  return JSON.parse(JSON.stringify(schema)) as Json;
}

function describeLimits(): string {
  const files = Object.entries(chipFileLimits).map(([file, bytes]) => `${file} ${bytes}`);
  const limits = Object.entries(verifySocketLimits).map(([name, value]) => `- \`${name}\`: ${value}`);
  return ["Limits:", "", ...limits, "", `Bytes of a chip file: ${files.join(", ")}.`].join("\n");
}

function describeCloses(): string {
  const codes = Object.entries(verifyCloseCodes).map(
    ([code, { status, about }]) => `- ${status} \`${code}\`: ${about}`,
  );
  return ["The reason of a close frame is one of:", "", ...codes].join("\n");
}

function describeFaults(): string {
  const codes = Object.entries(verifyFaultCodes).map(([code, about]) => `- \`${code}\`: ${about}`);
  return ["Faults of the service, which use up no try:", "", ...codes].join("\n");
}
