/** Builders of JSON Schema, for what an answer of version 2 consists of. */

export type Schema = Readonly<Record<string, unknown>>;

/** An object with these members and no others. A name that ends with "?" is that of a member that may be absent. */
export function object(
  description: string,
  members: Readonly<Record<string, Schema>>,
  example?: object,
): Schema {
  const entries = Object.entries(members);
  return {
    type: 'object',
    description,
    additionalProperties: false,
    required: entries.map(([name]) => name).filter((name) => !name.endsWith('?')),
    properties: Object.fromEntries(entries.map(([name, schema]) => [name.replace(/\?$/, ''), schema])),
    ...(example !== undefined && { examples: [example] }),
  };
}

/** An object whose members have names that are not known beforehand. */
export function mapOf(description: string, values: Schema): Schema {
  return { type: 'object', description, additionalProperties: values };
}

export function listOf(description: string, items: Schema): Schema {
  return { type: 'array', description, items };
}

export function text(description: string, more: Schema = {}): Schema {
  return { type: 'string', description, ...more };
}

export function count(description: string, minimum = 0): Schema {
  return { type: 'integer', minimum, description };
}

export function number(description: string, more: Schema = {}): Schema {
  return { type: 'number', description, ...more };
}

export function ref(name: string, description?: string): Schema {
  return { $ref: `#/components/schemas/${name}`, ...(description !== undefined && { description }) };
}

/** A value of this schema, or null. */
export function orNull(description: string, schema: Schema): Schema {
  return { description, oneOf: [schema, { type: 'null' }] };
}
