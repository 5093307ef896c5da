import { hasMember, isObject, meantForm } from './forms.js';
import type { JsonPath } from './json-path.js';
import { type Definitions, nameOfRef, type Schema } from './json-schema.js';

/** Is told of each value that a named schema describes, before it is completed. @param depth such schemas around it, with its own */
export type Visit = (name: string, value: unknown, path: JsonPath, depth: number) => void;

/**
 * Completes a value that nobody has checked: defaults are written out, members stand in the order of the schema, and a
 * number that is calculated is the multiple that it means. What is not as the schema says stays as it is.
 * @param visit may throw, so that nothing is completed that is nested too deeply
 */
export function completed(schema: Schema, value: unknown, visit: Visit = () => {}): unknown {
  return new Completion(schema.$defs ?? {}, visit).of(schema, value, [], 0);
}

class Completion {
  constructor(
    private readonly definitions: Definitions,
    private readonly visit: Visit,
  ) {}

  of(schema: Schema, value: unknown, path: JsonPath, depth: number): unknown {
    const name = nameOfRef(schema);
    if (name !== undefined) {
      this.visit(name, value, path, depth + 1);
      return this.of(this.definitions[name]!, value, path, depth + 1);
    }
    const { anyOf: forms, items, properties = {}, additionalProperties: others } = schema;
    if (forms !== undefined) {
      const { form } = meantForm(forms, value, this.definitions);
      return form === undefined ? value : this.of(form, value, path, depth);
    }
    // -0 and 0 are the same.
    if (typeof value === 'number') return nearestMultiple(value, schema.multipleOf) + 0;
    if (Array.isArray(value) && items !== undefined) {
      return value.map((item, i) => this.of(items, item, [...path, i], depth));
    }
    if (!isObject(value)) return value;
    const complete: [string, unknown][] = [];
    for (const [member, own] of Object.entries(properties)) {
      if (hasMember(value, member)) {
        complete.push([member, this.of(own, value[member], [...path, member], depth)]);
      } else if ('default' in own) complete.push([member, structuredClone(own['default'])]);
    }
    for (const [member, each] of Object.entries(value)) {
      if (each === undefined || Object.hasOwn(properties, member)) continue;
      complete.push([member, isObject(others) ? this.of(others, each, [...path, member], depth) : each]);
    }
    return Object.fromEntries(complete);
  }
}

/** 0.1 * 3 is not 0.3, but means it: so near a multiple, a number is that multiple. */
function nearestMultiple(value: number, multipleOf: number | undefined): number {
  if (multipleOf === undefined) return value;
  const perUnit = Math.round(1 / multipleOf);
  const multiple = Math.round(value * perUnit);
  return Math.abs(value * perUnit - multiple) < 1e-6 ? multiple / perUnit : value;
}
