import { ApiProperty } from '@nestjs/swagger';
import { type CodedError, type ErrorCode, faultPlaceOf } from '../errors.js';
import { PUBLIC_ERROR_CODES } from './error-examples.js';

/** The body of every failure, from whatever layer. */
export class ErrorResponse {
  @ApiProperty({
    description: 'What is wrong: the field, what it got and what is allowed. For people.',
    example: 'stimulus must be one of sugar, loom, none, got "salt".',
  })
  readonly error: string;

  @ApiProperty({
    description: 'The same in one word, for programs; docs/errors.md lists them.',
    enum: PUBLIC_ERROR_CODES,
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
