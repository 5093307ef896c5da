import {
  applyDecorators,
  type ArgumentMetadata,
  Injectable,
  type PipeTransform,
  type Type,
} from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { CodedError, describeValue } from '../../errors.js';
import { isObject } from '../../schema/forms.js';
import { getOrInsert } from '../../get-or-insert.js';

export interface FieldRule {
  readonly accepts: (value: unknown) => boolean;
  /** Completes "FIELD must be ...". */
  readonly allowed: string;
}

/** Rules of the fields of a DTO, by its prototype. */
const rules = new Map<object, Map<string, FieldRule>>();

/**
 * An optional field of a body or a query: its rule, its message and its place in the OpenAPI description. Only a field
 * that is absent is left out; null is a value, and a wrong one.
 */
export function OptionalField(rule: FieldRule, schema: ApiPropertyOptions): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ ...schema, required: false } as ApiPropertyOptions),
    (dto: object, name: string | symbol) =>
      void getOrInsert(rules, dto, () => new Map()).set(String(name), rule),
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
    const kind = type === 'body' ? 'body' : 'query';
    const sent = value === undefined ? {} : value;
    if (!isObject(sent)) {
      throw invalid(`The ${kind} must be a JSON object, got ${describeValue(sent)}.`);
    }
    const fields = fieldsOf(metatype as Type);
    for (const field of Object.keys(sent)) {
      if (!fields.has(field)) {
        const what = kind === 'body' ? 'field' : 'query parameter';
        const allowed = [...fields.keys()];
        throw invalid(`${describeValue(field)} is not a ${what}; allowed: ${allowed.join(', ') || 'none'}.`);
      }
    }
    const dto: Record<string, unknown> = Object.assign(new (metatype as Type<object>)(), sent);
    for (const [name, { accepts, allowed }] of fields) {
      const got = dto[name];
      if (got !== undefined && !accepts(got)) {
        throw invalid(`${name} must be ${allowed}, got ${describeValue(got)}.`);
      }
    }
    return dto;
  }
}

const fieldsOfDtos = new Map<Type, ReadonlyMap<string, FieldRule>>();

/** Those of the DTO itself, then those that it inherits. */
function fieldsOf(dto: Type): ReadonlyMap<string, FieldRule> {
  return getOrInsert(fieldsOfDtos, dto, () => {
    const fields: [string, FieldRule][] = [];
    for (
      let each = dto.prototype as object | null;
      each !== null;
      each = Object.getPrototypeOf(each) as object | null
    )
      fields.push(...(rules.get(each) ?? []));
    return new Map(fields);
  });
}

function invalid(message: string): CodedError {
  return new CodedError('INVALID_PARAMETER', message);
}
