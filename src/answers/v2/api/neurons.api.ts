import { applyDecorators } from '@nestjs/common';
import { ApiHeader, ApiOperation, ApiResponse } from '@nestjs/swagger';
import { FAILURES_OF_ANY_REQUEST } from '../../../http/api-description.js';
import { ApiFailures } from '../../../http/api-failures.js';
import { COMMON_HEADERS, NOT_STORED_HEADER } from '../../../http/api-headers.js';
import { FORMATS } from '../formats/formats.js';
import { EXAMPLES } from './openapi-examples.js';
import { ref } from './schema.js';

/** Documents GET /api/v2/neurons. */
export function ApiNeurons(): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId: 'findNeurons',
      summary: 'Finds neurons by their labels.',
      description:
        'Neurons that have all labels that are given, with their number by type and side. Where no neuron has a label, ' +
        'the answer is empty and suggests names that come near.',
    }),
    ApiHeader({
      name: 'Accept',
      required: false,
      description: 'application/json or text/csv, with weights; `format` overrides it.',
      schema: { type: 'string' },
    }),
    ApiResponse({
      status: 200,
      description: 'The neurons.',
      headers: {
        ...COMMON_HEADERS,
        ...NOT_STORED_HEADER,
        Vary: {
          description: 'The format follows Accept; the body is gzipped where the client accepts that.',
          schema: { type: 'string' },
        },
      },
      content: {
        [FORMATS.json.mediaType]: {
          schema: ref('NeuronSearch'),
          examples: { type: { summary: 'Of ?type=DNp01', value: EXAMPLES.neurons } },
        },
        [FORMATS.csv.mediaType]: {
          schema: {
            type: 'string',
            description: 'A row for each neuron: root_id, type, class, sub_class, super_class, side.',
          },
        },
      },
    }),
    ApiFailures(
      ['INVALID_PARAMETER', 'NOT_ACCEPTABLE', ...FAILURES_OF_ANY_REQUEST, 'MODEL_LOADING', 'MODEL_FAILED'],
      {},
      {
        INVALID_PARAMETER: { example: { error: 'limit must be an integer from 0 to 10000, got "all".' } },
        NOT_ACCEPTABLE: {
          example: { error: 'Accept must allow application/json or text/csv, got "image/png".', path: '' },
        },
      },
    ),
  );
}
