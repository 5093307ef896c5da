import {
  applyDecorators,
  type ArgumentMetadata,
  Injectable,
  type PipeTransform,
  type Type,
} from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { ValidateBy, ValidateIf, validateSync } from 'class-validator';
import { BODY, notAllowed, notObject, QUERY, unknownField } from '../../engine/schema/checked-fields.js';
import { allowedBy, isAllowedBy } from '../../engine/schema/allowed-values.js';
import { isObject } from '../../engine/schema/forms.js';
import { published, type Schema, type Static } from '../../engine/schema/json-schema.js';

type Fields = Readonly<Record<string, Schema>>;

/** The rule's name in class-validator. */
const ALLOWED = 'allowed';

/**
 * Declares an optional field of a body or query: its OpenAPI description, its rule and its message. Only undefined
 * counts as absent; null is a wrong value.
 */
export function OptionalField(schema: Schema): PropertyDecorator {
  const { examples = [], ...others } = published(schema);
  const [example] = examples as readonly unknown[];
  return applyDecorators(
    ApiProperty({ ...others, example, required: false } as ApiPropertyOptions),
    ValidateIf((_, value) => value !== undefined),
    // The message leaves out the value, because class-validator would replace placeholders inside of it.
    ValidateBy(
      { name: ALLOWED, validator: { validate: (value) => isAllowedBy(schema, value) } },
      { message: allowedBy(schema)! },
    ),
  );
}

/** Makes a DTO class from the schemas of its fields, which are all optional. */
export function dtoOf<const F extends Fields>(
  fields: F,
): new () => { readonly [Name in keyof F]?: Static<F[Name]> } {
  const absent = Object.fromEntries(Object.keys(fields).map((name) => [name, undefined]));
  class Dto {
    /** Lists the members, in an order that does not depend on the request. */
    constructor() {
      Object.assign(this, absent);
    }
  }
  for (const [name, schema] of Object.entries(fields)) OptionalField(schema)(Dto.prototype, name);
  return Dto as ReturnType<typeof dtoOf<F>>;
}

/**
 * Turns a body or a query into its DTO. It is stricter than Nest's pipe: it converts no types and accepts only a
 * plain object with the DTO's fields. Names of a prototype are unknown fields. Without a body, every field takes its
 * default.
 */
@Injectable()
export class StrictValidationPipe implements PipeTransform {
  transform(value: unknown, { metatype, type }: ArgumentMetadata): unknown {
    if (metatype === undefined || (type !== 'body' && type !== 'query')) return value;
    const sent = value === undefined ? {} : value;
    const { whole, field } = type === 'body' ? BODY : QUERY;
    if (!isObject(sent)) throw notObject(whole, sent);
    const dto = new (metatype as Type<object>)();
    const allowed = Object.keys(dto);
    for (const name of Object.keys(sent))
      if (!allowed.includes(name)) throw unknownField(name, allowed, field);
    // Copies the plain values directly. class-transformer would walk through whatever was sent, however deep, and use
    // its `constructor`.
    Object.assign(dto, sent);
    const [problem] = validateSync(dto, { stopAtFirstError: true });
    if (problem !== undefined) {
      const { property, value: got, constraints } = problem;
      throw notAllowed(property, constraints![ALLOWED]!, got);
    }
    return dto;
  }
}
