import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { ValidateBy, ValidateIf, type ValidationError } from 'class-validator';
import { describeValue } from '../errors.js';

/** What class-validator calls the rule of a field. */
const ALLOWED = 'allowed';

export interface FieldRule {
  readonly accepts: (value: unknown) => boolean;
  /** Completes "FIELD must be ...". */
  readonly allowed: string;
}

/**
 * An optional field of a request: its rule, its message and its place in the OpenAPI description. Only a
 * field that is absent is left out; null is a value, and a wrong one.
 */
export function OptionalField(rule: FieldRule, schema: ApiPropertyOptions): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ ...schema, required: false } as ApiPropertyOptions),
    ValidateIf((_, value) => value !== undefined),
    // The value is no part of the message: class-validator replaces placeholders in messages, also those that came with the value.
    ValidateBy({ name: ALLOWED, validator: { validate: rule.accepts } }, { message: rule.allowed }),
  );
}

/** Says which field is wrong, what it got and what is allowed. */
export function messageOf({ property, value, constraints }: ValidationError): string {
  return `${property} must be ${constraints![ALLOWED]}, got ${describeValue(value)}.`;
}
