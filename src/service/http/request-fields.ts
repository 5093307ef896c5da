import {
  applyDecorators,
  type ArgumentMetadata,
  Injectable,
  type PipeTransform,
  type Type,
} from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { getMetadataStorage, ValidateBy, ValidateIf, validateSync } from 'class-validator';
import { CodedError, describeValue } from '../../errors.js';
import { allowedBy, isAllowedBy } from '../../schema/allowed-values.js';
import { isObject } from '../../schema/forms.js';
import { published, type Schema, type Static } from '../../schema/json-schema.js';
import { getOrInsert } from '../../get-or-insert.js';

type Fields = Readonly<Record<string, Schema>>;

/** Name of the rule of a field in class-validator. */
const ALLOWED = 'allowed';

/**
 * An optional field of a body or a query: its place in the OpenAPI description, its rule and its message. Only
 * undefined counts as absent; null is a value, and a wrong one.
 */
export function OptionalField(schema: Schema): PropertyDecorator {
  const { examples, ...others } = published(schema);
  const [example] = examples as readonly unknown[];
  return applyDecorators(
    ApiProperty({ ...others, example, required: false } as ApiPropertyOptions),
    ValidateIf((_, value) => value !== undefined),
    // The value is no part of the message: class-validator replaces placeholders in messages, also those that came with it.
    ValidateBy(
      { name: ALLOWED, validator: { validate: (value) => isAllowedBy(schema, value) } },
      { message: allowedBy(schema)! },
    ),
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
    const allowed = fieldsOf(metatype as Type);
    for (const field of Object.keys(sent)) {
      if (!allowed.includes(field)) {
        const what = type === 'body' ? 'field' : 'query parameter';
        throw invalid(`${describeValue(field)} is not a ${what}; allowed: ${allowed.join(', ') || 'none'}.`);
      }
    }
    // The fields of a DTO are plain values. class-transformer would look into what was sent in their place, as deep as
    // it goes and whatever its `constructor` is.
    const dto: object = Object.assign(new (metatype as Type<object>)(), sent);
    const [problem] = validateSync(dto, { stopAtFirstError: true });
    if (problem !== undefined) {
      const { property, value: got, constraints } = problem;
      throw invalid(`${property} must be ${constraints![ALLOWED]}, got ${describeValue(got)}.`);
    }
    return dto;
  }
}

const fieldsOfDtos = new Map<Type, readonly string[]>();

/** A DTO's fields are those that it validates; there is no other list. */
function fieldsOf(dto: Type): readonly string[] {
  return getOrInsert(fieldsOfDtos, dto, () => {
    const rules = getMetadataStorage().getTargetValidationMetadatas(dto, '', true, false);
    return [...new Set(rules.map(({ propertyName }) => propertyName))];
  });
}

function invalid(message: string): CodedError {
  return new CodedError('INVALID_PARAMETER', message);
}
