import type { TSchema } from "typebox";
import { sampleEvent } from "./event-samples.ts";
import { eventSchemaPath, plainSchema } from "./event-schema.ts";
import { webhookDescriptions } from "./events.ts";
import { apiVersion, deliveryHeaders } from "./openapi.ts";
import type { Json, JsonObject } from "./openapi-components.ts";
import {
  artifactHeaderBytes,
  chipFileLimits,
  verifyCloseCodes,
  verifyFaultCodes,
  verifySocketLimits,
  verifySubprotocol,
} from "./verify-protocol.ts";
import { deviceMessages, serviceMessages } from "./verify-socket.ts";

export const messageSummaries: Readonly<
  Record<keyof typeof deviceMessages | keyof typeof serviceMessages, string>
> = {
  hello: "The first message of a device: the token from the claim.",
  chip_file: "Announces a file of the chip; its bytes follow in binary frames.",
  chip_done: "Every file that the chip has was sent whole.",
  chip_answer: "What the chip answered to a `chip_command`.",
  chip_lost: "The chip left the field during its proof. A fresh exchange begins; no try is used.",
  chip_restart: "Restarts the chip step; no try is used.",
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

/** The AsyncAPI 3 document of the socket and of the events, made from the schemas that both ends use. */
export function describeMessages(): JsonObject {
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
      title: "Assay: verify socket and events",
      version: apiVersion,
      description: [
        `The socket between a reading device and the service, sub-protocol \`${verifySubprotocol}\`. Text frames are JSON messages; binary frames carry parts of artifacts. The service handles the messages of a socket strictly one after another.`,
        describeLimits(),
        describeCloses(),
        describeFaults(),
        "Events go to the webhook endpoints of partners, as a POST whose body is a compact JWE (`application/jose`) encrypted to the endpoint's key. Their payloads here are what is in it. The JSON Schema of each is at the address in its description.",
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
      events: eventChannel,
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
      toEndpoint: {
        action: "send",
        channel: { $ref: "#/channels/events" },
        summary: "What the service delivers. Any 2xx counts as received; everything else is retried.",
        bindings: { http: { method: "POST", bindingVersion: "0.3.0" } },
        messages: webhookDescriptions.map(({ type }) => ({ $ref: `#/channels/events/messages/${type}` })),
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
        ...eventMessages(),
      },
      schemas: Object.fromEntries(
        [...Object.values(all), ...webhookDescriptions.map(({ schema }) => schema)].map((schema) => [
          titleOf(schema),
          plainSchema(schema),
        ]),
      ),
    },
  };
}

const eventChannel: JsonObject = {
  address: null,
  title: "Webhook endpoint of a partner",
  description: "The address is the `url` of the endpoint.",
  messages: Object.fromEntries(
    webhookDescriptions.map(({ type }) => [type, { $ref: `#/components/messages/${type}` }]),
  ),
};

function eventMessages(): JsonObject {
  const headers = {
    type: "object",
    required: deliveryHeaders.map(({ name }) => name),
    properties: Object.fromEntries(
      deliveryHeaders.map(({ name, description, schema }) => [name, { ...schema, description }]),
    ),
  };
  return Object.fromEntries(
    webhookDescriptions.map(({ type, summary, schema }) => [
      type,
      {
        name: type,
        title: titleOf(schema),
        summary: `${summary}.`,
        description: `Once decrypted. JSON Schema: \`${eventSchemaPath(type)}\`.`,
        contentType: "application/json",
        headers,
        payload: { $ref: `#/components/schemas/${titleOf(schema)}` },
        examples: [{ payload: sampleEvent(type) as unknown as Json }],
      },
    ]),
  );
}

function titleOf(schema: TSchema): string {
  const { title } = schema as { title?: string };
  if (title === undefined) throw new Error("a message without a name");
  return title;
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
