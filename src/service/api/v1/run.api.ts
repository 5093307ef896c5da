import { readOperations } from '../../http/api-operation.js';
import EXAMPLES from './openapi-examples.json' with { type: 'json' };
import { dtoOf } from '../../http/request-fields.js';
import type { Schema } from '../../../schema/json-schema.js';
import type { Experiment, View } from '../../../presets/experiment.js';
import { FIELDS, QUERY_FIELDS } from '../../../presets/fields.js';

/** The body of POST /api/v1/run. What is left out takes its default. */
export class RunRequest extends (dtoOf(FIELDS) as new () => Partial<Experiment>) {}

/** As it is sent, where every field may be left out. */
export const RUN_REQUEST: Schema = { type: 'object', properties: FIELDS, additionalProperties: false };

export class RunQuery extends (dtoOf(QUERY_FIELDS) as new () => { readonly view?: View }) {}

/** Name of this cache in the header Cache-Status. */
export const CACHE_NAME = 'neural-experiment-service';

export const { ApiOperationOf } = readOperations(new URL('./operations.yaml', import.meta.url), EXAMPLES);
