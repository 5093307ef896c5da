/** The arguments of the tools, from the schemas of the requests that they send. */
import { publishedSelectors, selector } from '../../src/engine/connectome/selector-schema.js';
import { object, published, type Schema, text } from '../../src/engine/schema/json-schema.js';
import { DOCUMENT } from '../../src/experiments/document/document.js';
import { CONNECTION_QUERY, NEURON_QUERY } from '../../src/experiments/formats/queries.js';
import { FIELDS } from '../../src/experiments/presets/fields.js';
import { SESSION_SCHEMAS } from '../../src/experiments/sessions/step.js';

/** Rows of a search if the agent asks for no number. A service lists up to 10,000. */
export const USUAL_ROWS = 50;

const $defs = publishedSelectors();
const SESSION = text('Its name, as open_session gave it.');
const STEP = SESSION_SCHEMAS['SessionStep']!;

/** The fields of a query, all optional, with a shorter page. Agents read JSON, so they choose no format. */
function search(fields: Readonly<Record<string, Schema>>): Schema {
  const { format: _, limit, ...others } = fields;
  const all = { ...others, limit: { ...limit, default: USUAL_ROWS } };
  const members = Object.entries(all).map(([name, schema]) => [`${name}?`, schema]);
  return object(undefined, Object.fromEntries(members) as typeof fields);
}

/** A document with the descriptions of its members only. An agent reads the list of tools in every conversation. */
function outlineOf({ properties, description, ...schema }: Schema): Schema {
  const members = Object.entries(properties!).map(([name, { type, description: meaning }]) => [
    name,
    { ...(type !== undefined && { type }), description: meaning },
  ]);
  const all = `${description} The members are those of run_experiment.`;
  return {
    ...schema,
    description: all,
    properties: Object.fromEntries(members) as typeof properties & object,
  };
}

/** JSON Schemas of arguments. */
export const ARGUMENTS = published({
  none: object(undefined, {}),
  run: { type: 'object', additionalProperties: false, properties: FIELDS },
  document: { ...DOCUMENT, $defs },
  outline: outlineOf(DOCUMENT),
  neurons: search(NEURON_QUERY),
  connections: {
    ...search({
      ...CONNECTION_QUERY,
      source: selector(CONNECTION_QUERY.source.description),
      target: selector(CONNECTION_QUERY.target.description),
    }),
    $defs,
  },
  step: {
    ...STEP,
    properties: { session: SESSION, ...STEP.properties },
    required: ['session', 'duration_ms'],
    $defs,
  },
  session: object(undefined, { session: SESSION }),
});
