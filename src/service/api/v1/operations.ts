import { readOperations } from '../../http/api-operation.js';
import EXAMPLES from './openapi-examples.json' with { type: 'json' };

export const ApiOperationOf = readOperations(new URL('./operations.yaml', import.meta.url), EXAMPLES);
