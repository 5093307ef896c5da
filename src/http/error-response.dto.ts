import { ApiProperty } from '@nestjs/swagger';
import { type CodedError, type ErrorCode, faultPlaceOf } from '../errors.js';
import { ERROR_CODES_OF_V1 } from './error-examples.js';

/** The body of every error response, from any layer. */
export class ErrorResponse {
  @ApiProperty({
    description: 'A sentence for people: the field, the value received and what is allowed.',
    example: 'stimulus must be one of sugar, loom, none, got "salt".',
  })
  readonly error: string;

  @ApiProperty({
    description: 'A constant for programs; docs/errors.md lists them all.',
    enum: ERROR_CODES_OF_V1,
    example: 'INVALID_PARAMETER',
  })
  readonly code: ErrorCode;

  /** `path` and `suggestions` follow where they are set, which no answer of version 1 does. */
  constructor(error: CodedError) {
    this.error = error.message;
    this.code = error.code;
    Object.assign(this, faultPlaceOf(error));
  }
}
