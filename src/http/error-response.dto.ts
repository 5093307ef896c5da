import { ApiProperty } from '@nestjs/swagger';
import type { CodedError, ErrorCode } from '../errors.js';
import { PUBLIC_ERROR_CODES } from './error-examples.js';

/** The body of every error response, from any layer. */
export class ErrorResponse {
  @ApiProperty({
    description: 'A sentence for people: the field, the value received and what is allowed.',
    example: 'stimulus must be one of sugar, loom, none, got "salt".',
  })
  readonly error: string;

  @ApiProperty({
    description: 'A constant for programs; docs/errors.md lists them all.',
    enum: PUBLIC_ERROR_CODES,
    example: 'INVALID_PARAMETER',
  })
  readonly code: ErrorCode;

  constructor({ code, message }: Pick<CodedError, 'code' | 'message'>) {
    this.error = message;
    this.code = code;
  }
}
