import { readFileSync } from 'node:fs';
import type { VersionDescription } from '../openapi/openapi-document.js';
import { ANSWER_SCHEMAS, ERROR_SCHEMA } from './answer-schemas.js';
import { documentSchemas } from '../../../experiments/document/document.js';

/** Texts of the OpenAPI description of version 2 beside its operations. */
export const DESCRIPTION_OF_V2: VersionDescription = {
  version: '2',
  fullVersion: '2.0.0',
  description: readFileSync(new URL('./description.md', import.meta.url), 'utf8').trimEnd(),
  tags: {
    'Open experiments': 'Experiments on any neurons.',
    Jobs: 'Experiments that nobody waits for.',
    Sessions: 'Brains that go on, step by step.',
    Neurons: 'What a selector can name, and how these are connected.',
    Descriptions: 'How the interface works.',
  },
  schemas: { ...documentSchemas(), ...ANSWER_SCHEMAS, ErrorResponse: ERROR_SCHEMA },
};
