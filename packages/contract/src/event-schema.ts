import type { TSchema } from "typebox";
import { sampleEvent } from "./event-samples.ts";
import { type EventType, eventPayloads } from "./events.ts";
import type { Json, JsonObject } from "./openapi-components.ts";

/** The address of an event's schema. It is stable, and the schema grows with the event. */
export function eventSchemaPath(type: EventType): string {
  return `/schemas/events/${type}.json`;
}

/** The JSON Schema of a decrypted event, complete in itself. */
export function describeEvent(type: EventType, baseUrl: string): JsonObject {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: `${baseUrl}${eventSchemaPath(type)}`,
    ...(plainSchema(eventPayloads[type]) as JsonObject),
    examples: [sampleEvent(type) as unknown as Json],
  };
}

/** A schema without the marks of the schema library. */
export function plainSchema(schema: TSchema): Json {
  return JSON.parse(JSON.stringify(schema)) as Json;
}
