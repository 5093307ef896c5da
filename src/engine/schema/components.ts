/**
 * Published forms of schemas. A schema with a `component` becomes a component of OpenAPI, to which others refer, so it
 * has a name in generated clients.
 */
import { mapped } from '../mapped.js';
import { isObject, sortedMembers } from './forms.js';
import { type Definitions, ref, type Schema } from './json-schema.js';

const WITH_LISTS = ['anyOf', 'oneOf'];
const WITH_MAPS = ['properties', 'dependentSchemas'];
const WITH_SCHEMA = ['items', 'additionalProperties'];

/** Moves named schemas out of others. */
export function withComponents(schemas: Definitions): Definitions {
  return moved(schemas, (schema) => schema);
}

/**
 * The schemas of requests. Defaults stand in descriptions, because generators of types require a member that has one.
 */
export function ofRequests(schemas: Definitions): Definitions {
  return moved(schemas, (schema) =>
    withMembers(schema, ({ default: usual, ...member }) => {
      if (usual === undefined) return member;
      const sentences = [member.description, `Default: ${JSON.stringify(usual)}.`];
      return { ...member, description: sentences.filter(Boolean).join(' ') };
    }),
  );
}

/**
 * The schemas of complete values, which have every member that has a default.
 * @param requests from `ofRequests`. A component that is the same there keeps its name, others begin with "Complete".
 */
export function ofCompleteValues(schemas: Definitions, requests: Definitions): Definitions {
  const complete = (schema: Schema): Schema => {
    const { properties = {}, required = [] } = schema;
    const always = Object.keys(properties).filter(
      (name) => required.includes(name) || 'default' in properties[name]!,
    );
    const whole = withMembers(schema, withoutDefault);
    return always.length === 0 ? whole : { ...whole, required: always };
  };
  const nameOf = (name: string, schema: Schema) =>
    textOf(schema) === textOf(requests[name]) ? name : `Complete${name}`;
  const all = Object.entries(moved(schemas, complete, nameOf));
  return Object.fromEntries(all.filter(([name]) => !Object.hasOwn(requests, name)));
}

/** @param nameOf the name of a component, if it differs from that in its schema */
function moved(
  schemas: Definitions,
  change: (schema: Schema) => Schema,
  nameOf = (name: string, _schema: Schema) => name,
): Definitions {
  const components: Record<string, Schema> = {};
  const move = (given: Schema): Schema => {
    const { component, ...schema } = change(given);
    if (component === undefined) return schema;
    const name = nameOf(component, schema);
    components[name] = schema;
    return ref(name);
  };
  return { ...mapped(schemas, (schema) => changed(schema, move)), ...components };
}

/** Changes the members of an object. A form of `anyOf` has no default, because it is not the member itself. */
function withMembers(schema: Schema, change: (member: Schema) => Schema): Schema {
  const { properties, anyOf: forms } = schema;
  return {
    ...schema,
    ...(properties && { properties: mapped(properties, change) }),
    ...(forms && { anyOf: forms.map(withoutDefault) }),
  };
}

function withoutDefault(schema: Schema): Schema {
  const { default: _, ...rest } = schema;
  return rest;
}

/** Copies a schema and changes it and all schemas inside it, the inner ones first. */
function changed(schema: Schema, change: (schema: Schema) => Schema): Schema {
  const inner = (value: unknown) => (isObject(value) ? changed(value as Schema, change) : value);
  const keywords = Object.entries(schema).map(([keyword, value]): [string, unknown] => {
    if (WITH_LISTS.includes(keyword)) return [keyword, (value as readonly Schema[]).map(inner)];
    if (WITH_MAPS.includes(keyword)) return [keyword, mapped(value as Definitions, inner)];
    return [keyword, WITH_SCHEMA.includes(keyword) ? inner(value) : value];
  });
  return change(Object.fromEntries(keywords));
}

/** A text that is the same for equal schemas, whatever the order of their keywords. */
function textOf(schema: Schema | undefined): string {
  return JSON.stringify(schema, sortedMembers);
}
