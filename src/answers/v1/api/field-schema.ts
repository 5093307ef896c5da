import type { Field } from '../fields.js';

/** A field as a JSON Schema: its type, the values that it may have and what they mean. */
export function schemaOf(field: Field) {
  const { type, description } = field;
  return 'allowed' in field
    ? { type, description, enum: [...field.allowed] }
    : { type, description, minimum: field.minimum, maximum: field.maximum };
}
