type Shape = {
  properties?: Record<string, Shape>;
  required?: readonly string[];
  items?: Shape;
  additionalProperties?: boolean | Shape;
};

/** Bodies in which one optional field is null, with the minimum of required fields around it. */
export function* withOneNull(schema: object): Generator<{ field: string; body: unknown }> {
  const { properties = {}, required = [], items, additionalProperties } = schema as Shape;
  if (items !== undefined)
    for (const { field, body } of withOneNull(items)) yield { field: `0.${field}`, body: [body] };
  if (typeof additionalProperties === "object")
    for (const { field, body } of withOneNull(additionalProperties))
      yield { field: `x.${field}`, body: { x: body } };
  for (const [name, inner] of Object.entries(properties)) {
    if (!required.includes(name)) yield { field: name, body: { [name]: null } };
    for (const { field, body } of withOneNull(inner))
      yield { field: `${name}.${field}`, body: { [name]: body } };
  }
}
