import {
  applyDecorators,
  type ArgumentMetadata,
  Injectable,
  type PipeTransform,
  type Type,
} from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { CodedError, describeValue } from '../../errors.js';
import { allowedBy } from '../../schema/allowed-values.js';
import { isObject } from '../../schema/forms.js';
import { published, type Schema } from '../../schema/json-schema.js';
import { getOrInsert } from '../../get-or-insert.js';

interface FieldRule {
  readonly schema: Schema;
  readonly accepts: (value: unknown) => boolean;
}

/** Rules of the fields of a DTO, by its prototype. */
const rules = new Map<object, Map<string, FieldRule>>();

/**
 * An optional field of a body or a query: its place in the OpenAPI description, its message, and its rule, as the values
 * of a query are texts. Only a field that is absent is left out; null is a value, and a wrong one.
 */
export function OptionalField(schema: Schema, accepts: FieldRule['accepts']): PropertyDecorator {
  const { examples, ...others } = published(schema);
  const [example] = examples as readonly unknown[];
  return applyDecorators(
    ApiProperty({ ...others, example, required: false } as ApiPropertyOptions),
    (dto: object, name: string | symbol) =>
      void getOrInsert(rules, dto, () => new Map()).set(String(name), { schema, accepts }),
  );
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
    for (const [name, { schema, accepts }] of fields) {
      const got = dto[name];
      if (got !== undefined && !accepts(got)) {
        throw invalid(`${name} must be ${allowedBy(schema)}, got ${describeValue(got)}.`);
      }
    }
    return dto;
  }
}

const fieldsOfDtos = new Map<object, ReadonlyMap<string, FieldRule>>();

/** Those of the DTO itself, then those that it inherits. */
function fieldsOf(prototype: object | null): [string, FieldRule][] {
  if (prototype === null) return [];
  return [...(rules.get(prototype) ?? []), ...fieldsOf(Object.getPrototypeOf(prototype) as object | null)];
}

function invalid(message: string): CodedError {
  return new CodedError('INVALID_PARAMETER', message);
}
