import { hasMember, isObject, meantForm } from './forms.js';
import type { JsonPath } from './json-path.js';
import { nameOfRef, type Schema } from './json-schema.js';

/**
 * Called for each value that a named schema describes, before the value is completed.
 * @param depth the number of named schemas around the value, including its own
 */
export type Visit = (name: string, value: unknown, path: JsonPath, depth: number) => void;

/**
 * Completes an unchecked value. It adds defaults, puts members in the order of the schema, and rounds numbers to the
 * multiples that they mean. Parts that do not match the schema stay unchanged.
 * @param visit may throw to stop, for example if a value is nested too deeply
 */
export function completed(schema: Schema, value: unknown, visit: Visit = () => {}): unknown {
  const definitions = schema.$defs ?? {};
  const complete = (schema: Schema, value: unknown, path: JsonPath, depth: number): unknown => {
    const name = nameOfRef(schema);
    if (name !== undefined) {
      visit(name, value, path, depth + 1);
      return complete(definitions[name]!, value, path, depth + 1);
    }
    const { anyOf: forms, items, properties = {}, additionalProperties: others } = schema;
    if (forms !== undefined) {
      const { form } = meantForm(forms, value, definitions);
      return form === undefined ? value : complete(form, value, path, depth);
    }
    // Adding 0 turns -0 into 0.
    if (typeof value === 'number') {
      const { multipleOf } = schema;
      return (multipleOf === undefined ? value : (multipleMeant(value, multipleOf) ?? value)) + 0;
    }
    if (Array.isArray(value) && items !== undefined) {
      return value.map((item, i) => complete(items, item, [...path, i], depth));
    }
    if (!isObject(value)) return value;
    const members: [string, unknown][] = [];
    for (const [member, own] of Object.entries(properties)) {
      if (hasMember(value, member)) {
        members.push([member, complete(own, value[member], [...path, member], depth)]);
      } else if ('default' in own) members.push([member, structuredClone(own['default'])]);
    }
    for (const [member, each] of Object.entries(value)) {
      if (each === undefined || Object.hasOwn(properties, member)) continue;
      members.push([member, isObject(others) ? complete(others, each, [...path, member], depth) : each]);
    }
    return Object.fromEntries(members);
  };
  return complete(schema, value, [], 0);
}

/**
 * @returns the multiple that a number means, within the rounding error of doubles: 0.3 for 0.1 * 3; undefined if none
 */
export function multipleMeant(value: number, multipleOf: number): number | undefined {
  const perUnit = Math.round(1 / multipleOf);
  const multiple = Math.round(value * perUnit);
  const tolerance = 1e-12 * Math.max(1, Math.abs(multiple));
  return Math.abs(value * perUnit - multiple) < tolerance ? multiple / perUnit : undefined;
}
