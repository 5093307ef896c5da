import type { ApiPropertyOptions } from '@nestjs/swagger';
import { OptionalField } from '../../../http/optional-field.js';
import type { Experiment, View } from '../experiment.js';
import { allowedValuesOf, type Field, FIELDS, isAllowed, QUERY_FIELDS } from '../fields.js';
import { schemaOf } from './field-schema.js';

/** The body of POST /api/v1/run. What is left out takes its default. */
export class RunRequest extends (Object as new () => Partial<Experiment>) {}
addFields(RunRequest, FIELDS);

/** The query of POST /api/v1/run. */
export class RunQuery extends (Object as new () => { readonly view?: View }) {}
addFields(RunQuery, QUERY_FIELDS);

function addFields(request: { readonly prototype: object }, fields: Readonly<Record<string, Field>>): void {
  for (const [name, field] of Object.entries(fields)) {
    OptionalField({ accepts: (value) => isAllowed(field, value), allowed: allowedValuesOf(field) }, {
      ...schemaOf(field),
      default: field.default,
      example: field.example,
    } as ApiPropertyOptions)(request.prototype, name);
  }
}
