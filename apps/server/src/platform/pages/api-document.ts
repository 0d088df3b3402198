/** The parts of the OpenAPI document that the reference shows. */
export type Schema = {
  $ref?: string;
  type?: string | string[];
  enum?: (string | number)[];
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  description?: string;
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  maxItems?: number;
  default?: unknown;
  contentSchema?: Schema;
};
export type Parameter = {
  $ref?: string;
  name: string;
  in: string;
  required: boolean;
  description?: string;
  schema: Schema;
};
type Content = Record<
  string,
  { schema: Schema; example?: unknown; examples?: Record<string, { $ref: string }> }
>;
export type Operation = {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  security: object[];
  parameters?: Parameter[];
  requestBody?: { description?: string; required: boolean; content: Content };
  responses: Record<string, { description: string; content?: Content }>;
};
export type ApiDocument = {
  info: { version: string; description: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: Operation }>;
  components: {
    schemas: Record<string, Schema>;
    parameters: Record<string, Parameter>;
    examples: Record<string, { summary: string }>;
  };
};
export type Entry = { method: string; path: string; operation: Operation };
