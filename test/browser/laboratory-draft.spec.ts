/** The form of the laboratory holds any experiment that it shows without changing what it means. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseDocument } from '../../src/experiments/document/parse-document.js';
import { documentOf, draftOf } from '../../clients/pages/laboratory/draft.js';
import { type Json, readableJson } from '../../clients/pages/laboratory/json.js';

const EXAMPLES = 'examples';
/** Examples that only the text of the laboratory shows: rates over time, and patterns of rates. */
const WITHOUT_FORM = ['looming-ramp.json', 'odour-pulse.json'];
const SUGAR = { node_set: '@sugar' };

const exampleOf = (file: string) => JSON.parse(readFileSync(join(EXAMPLES, file), 'utf8')) as Json;

const DOCUMENTS: Readonly<Record<string, Json>> = {
  ...Object.fromEntries(
    readdirSync(EXAMPLES)
      .filter((file) => file.endsWith('.json') && !WITHOUT_FORM.includes(file))
      .map((file) => [file, exampleOf(file)]),
  ),
  nothing: {},
  'lists of one, sides and labels': {
    inputs: {
      a: { node_set: ['LC4:left'] },
      b: { node_set: [{ class: 'gustatory', except: 'LB3' }, 'LPLC2'] },
    },
    silence: [{ type: ['PVLP122b'], side: 'left' }],
  },
  'windows and given times': {
    inputs: {
      a: { ...SUGAR, rate_hz: 0, delay_ms: 0.1, duration_ms: null },
      b: { ...SUGAR, module: 'spikes', times_ms: [1, 2.5], delay_ms: 1 },
    },
    reports: {
      early: { ...SUGAR, type: 'histogram', bin_ms: 5, start_ms: 10, end_ms: 60, group_by: ['side', 'type'] },
      spikes: { ...SUGAR, type: 'spikes' },
    },
  },
  'every kind of sweep': {
    inputs: { a: SUGAR },
    sweep: [
      { set: 'inputs.a.rate_hz', from: 10, to: 20, step: 0.5 },
      { each: { responders_of: 'baseline' }, as: 'silence' },
      { each: ['LC4', 'LC6:right'], group_by: [], as: 'inputs.a' },
    ],
  },
  'what the form has no control for': {
    node_sets: { mine: ['LC4'] },
    on_missing: 'skip',
    inputs: { a: { node_set: 'mine' } },
  },
};

const complete = (document: Json) => parseDocument(document, { conditions: 2000, ids: 10_000 }, ['walk']);

describe('a document that goes through the form', () => {
  it.each(Object.entries(DOCUMENTS))('means the same: %s', (_, document) => {
    const draft = draftOf(document);
    expect(draft).toBeDefined();
    expect(complete(documentOf(draft!))).toEqual(complete(document));
    // The readable text stands for the same document.
    expect(JSON.parse(readableJson(document))).toEqual(document);
  });

  it.each<[string, Json]>([
    ['a list', []],
    ['an input that is a name', { inputs: { a: 'LC4' } }],
    ['lists inside one another', { inputs: { a: { node_set: [['LC4']] } } }],
    ['an axis with more members', { sweep: [{ set: 'seed', values: [1], unit: 'none' }] }],
    ['a number that is a list', { trials: [3] }],
    ...WITHOUT_FORM.map((file): [string, Json] => [file, exampleOf(file)]),
  ])('is not shown where it has no place: %s', (_, document) => {
    expect(draftOf(document)).toBeUndefined();
  });

  it('keeps what is no number, for the service to name it', () => {
    const draft = draftOf({ trials: 'ten', inputs: { a: { node_set: [], rate_hz: '1e2' } } })!;
    expect(documentOf(draft)).toMatchObject({ trials: 'ten', inputs: { a: { node_set: [], rate_hz: 100 } } });
  });
});
