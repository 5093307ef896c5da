import {
  applyDecorators,
  type ArgumentMetadata,
  Injectable,
  type PipeTransform,
  type Type,
} from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { CodedError, describeValue } from '../../errors.js';
import { allowedBy, isAllowedBy } from '../../schema/allowed-values.js';
import { isObject } from '../../schema/forms.js';
import { published, type Schema, type Static } from '../../schema/json-schema.js';
import { getOrInsert } from '../../get-or-insert.js';

type Fields = Readonly<Record<string, Schema>>;

/** Schemas of the fields of a DTO, by its prototype. */
const schemas = new Map<object, Map<string, Schema>>();

/**
 * An optional field of a body or a query: its place in the OpenAPI description, its rule and its message. Only a field
 * that is absent is left out; null is a value, and a wrong one.
 */
export function OptionalField(schema: Schema): PropertyDecorator {
  const { examples, ...others } = published(schema);
  const [example] = examples as readonly unknown[];
  return applyDecorators(
    ApiProperty({ ...others, example, required: false } as ApiPropertyOptions),
    (dto: object, name: string | symbol) =>
      void getOrInsert(schemas, dto, () => new Map()).set(String(name), schema),
  );
}

/** Makes a DTO of the schemas of its fields, all of which are optional. */
export function dtoOf<const F extends Fields>(
  fields: F,
): new () => { readonly [Name in keyof F]?: Static<F[Name]> } {
  const absent = Object.fromEntries(Object.keys(fields).map((name) => [name, undefined]));
  class Dto {
    /** Members stand in the order of the fields, whatever order they are sent in. */
    constructor() {
      Object.assign(this, absent);
    }
  }
  for (const [name, schema] of Object.entries(fields)) OptionalField(schema)(Dto.prototype, name);
  return Dto as ReturnType<typeof dtoOf<F>>;
}

/**
 * Turns a body or a query into its DTO. Stricter than the pipe of Nest: types are not converted, and only a plain
 * object with fields of the DTO is accepted (names of a prototype are unknown fields). Nothing sent means that every
 * field takes its default.
 */
@Injectable()
export class StrictValidationPipe implements PipeTransform {
  transform(value: unknown, { metatype, type }: ArgumentMetadata): unknown {
    if (metatype === undefined || (type !== 'body' && type !== 'query')) return value;
    const sent = value === undefined ? {} : value;
    if (!isObject(sent)) throw invalid(`The ${type} must be a JSON object, got ${describeValue(sent)}.`);
    const fields = getOrInsert(fieldsOfDtos, metatype, () => new Map(fieldsOf(metatype.prototype as object)));
    for (const field of Object.keys(sent)) {
      if (!fields.has(field)) {
        const what = type === 'body' ? 'field' : 'query parameter';
        const allowed = [...fields.keys()];
        throw invalid(`${describeValue(field)} is not a ${what}; allowed: ${allowed.join(', ') || 'none'}.`);
      }
    }
    const dto: Record<string, unknown> = Object.assign(new (metatype as Type<object>)(), sent);
    for (const [name, schema] of fields) {
      const got = dto[name];
      if (got !== undefined && !isAllowedBy(schema, got)) {
        throw invalid(`${name} must be ${allowedBy(schema)}, got ${describeValue(got)}.`);
      }
    }
    return dto;
  }
}

const fieldsOfDtos = new Map<object, ReadonlyMap<string, Schema>>();

/** Those of the DTO itself, then those that it inherits. */
function fieldsOf(prototype: object | null): [string, Schema][] {
  if (prototype === null) return [];
  return [...(schemas.get(prototype) ?? []), ...fieldsOf(Object.getPrototypeOf(prototype) as object | null)];
}

function invalid(message: string): CodedError {
  return new CodedError('INVALID_PARAMETER', message);
}
