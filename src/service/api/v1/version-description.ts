import { readFileSync } from 'node:fs';
import type { VersionDescription } from '../openapi/openapi-document.js';
import { object, oneOf, text } from '../../../schema/json-schema.js';
import { ERROR_CODES_OF_V1 } from '../../http/error-examples.js';
import { MODEL_SCHEMAS } from './model.dto.js';
import { RUN_REQUEST } from './run.api.js';
import { RUN_SCHEMAS } from './run-response.dto.js';
import EXAMPLES from './openapi-examples.json' with { type: 'json' };

const ERROR = object('The body of every error response, from any layer.', {
  error: text('A sentence for people: the field, the value received and what is allowed.', {
    examples: ['stimulus must be one of sugar, loom, none, got "salt".'],
  }),
  code: oneOf('A constant for programs; docs/errors.md lists them all.', ERROR_CODES_OF_V1, {
    examples: ['INVALID_PARAMETER'],
  }),
});

/** The OpenAPI description of version 1, except its operations. */
export const DESCRIPTION_OF_V1: VersionDescription = {
  version: '1',
  fullVersion: '1.0.0',
  description: readFileSync(new URL('./description.md', import.meta.url), 'utf8').trimEnd(),
  tags: {
    Experiments: 'Runs of the simulated brain.',
    Descriptions: 'The model and the interface.',
  },
  examples: EXAMPLES.schemas,
  schemas: { RunRequest: RUN_REQUEST, ...RUN_SCHEMAS, ...MODEL_SCHEMAS, ErrorResponse: ERROR },
};
