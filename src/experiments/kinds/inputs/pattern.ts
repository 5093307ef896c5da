import { listed, selectorWords } from '../../../connectome/set-selector.js';
import { CodedError } from '../../../errors.js';
import { invalid, type JsonPath, nameOf, pointerTo } from '../../../schema/json-path.js';
import { listOf, object, type Static } from '../../../schema/json-schema.js';
import { NODE_SET } from '../../document/fields.js';
import { inputSchema } from '../../document/kind-schemas.js';
import type { InputKind } from '../input-kinds.js';
import {
  checkEnd,
  checkRate,
  checkScale,
  poissonTrain,
  rateSchema,
  ratesCourse,
  rateTable,
  SCALE,
  SINGLE_NUMBER,
  topRateHz,
} from '../rates.js';
import { varyingWork } from '../train-work.js';

/** Rows of a document; each is resolved. */
export const MAXIMUM_ROWS = 10_000;

const ROW = object('Neurons with their rate.', { node_set: NODE_SET, rate_hz: rateSchema({}) });
const ROWS = listOf('Neurons with their rates; no neuron is in two rows.', ROW, {
  minItems: 1,
  maxItems: MAXIMUM_ROWS,
  examples: [
    [
      { node_set: 'ORN_DM1', rate_hz: 41 },
      { node_set: 'ORN_VA2', rate_hz: 120 },
    ],
  ],
});
const SCHEMA = inputSchema(
  'poisson',
  'A pattern over many sets of neurons: each neuron gets a Poisson train of its own at the rate of its row.',
  { 'scale?': SCALE },
  { rates: ROWS },
);

/** A pattern of rates over many sets of neurons, in place of one set and one rate. */
export const pattern = {
  schema: SCHEMA,
  swept: { scale: SCALE },
  course: ({ rates, scale = 1 }) =>
    ratesCourse(
      rates.map(({ rate_hz: rate }) => rate),
      scale,
    ),
  words: ({ rates }) =>
    `${listed(rates.map(({ node_set: neurons }) => selectorWords(neurons)))} stimulated, each at its rate`,
  parsed(input, path, { rates, rows }) {
    const here: JsonPath = [...path, 'rates'];
    if ((rows.used += input.rates.length) > rows.maximum) {
      throw invalid(
        here,
        `The inputs of a document may have at most ${rows.maximum} rows of rates, got more.`,
      );
    }
    input.rates.forEach(({ rate_hz: rate }, row) => checkRate(rate, [...here, row, 'rate_hz'], rates));
    return input;
  },
  selectorsOf: ({ rates }, path) =>
    rates.map(({ node_set: selector }, row) => ({
      selector,
      path: `${path}/rates/${row}/node_set`,
      mayBeLeftOut: true,
    })),
  rowsOf(connectome, sets, all, path) {
    const here = (row: number): JsonPath => [...path, 'rates', row, 'node_set'];
    const rows = new Int32Array(connectome.neuronCount).fill(-1);
    sets.forEach((neurons, row) => {
      const shared = neurons.find((neuron) => rows[neuron]! >= 0);
      if (shared !== undefined) {
        const [one, other] = [here(row), here(rows[shared]!)];
        throw invalid(
          one,
          `${nameOf(one)} must have no neuron of another row, got ${connectome.neuronId(shared)}, which ` +
            `${nameOf(other)} has too.`,
        );
      }
      for (const neuron of neurons) rows[neuron] = row;
    });
    if (all.length > 0) return Uint16Array.from(all, (neuron) => rows[neuron]!);
    const none = `${nameOf([...path, 'rates'])} must have a row that selects a neuron of the model, got none.`;
    throw new CodedError('EMPTY_NODE_SET', none, { path: pointerTo([...path, 'rates']) });
  },
  sweepRequirement: (_, member) => (member === 'rate_hz' ? SINGLE_NUMBER : undefined),
  groupsRequirement: () => 'an input with a node_set, because the rows of rates name their own neurons',
  checkConditions({ rates, scale = 1 }, { longestMs, highest }, path) {
    rates.forEach(({ rate_hz: rate }, row) => checkEnd(rate, longestMs, [...path, 'rates', row, 'rate_hz']));
    const topHz = rates.reduce((most, { rate_hz: rate }) => Math.max(most, topRateHz(rate)), 0);
    checkScale(highest('scale') ?? scale, topHz, path);
  },
  expected(_, { rates }, counts, { neurons, rows }) {
    const inRows = new Uint32Array(rates.length);
    neurons.forEach((neuron, place) => (inRows[rows![place]!]! += Number(counts(neuron))));
    const work = varyingWork(table(rates, 1), inRows);
    return { of: (_, { input: { scale = 1 }, startStep, endStep }) => work(startStep, endStep, 1, scale) };
  },
  trainOf: (_, { input: { rates, scale = 1 }, rows, ...own }) => poissonTrain(own, table(rates, scale, rows)),
} satisfies InputKind<Static<typeof SCHEMA>>;

function table(rates: Static<typeof ROWS>, scale: number, rows?: Uint16Array) {
  return rateTable(
    rates.map(({ rate_hz: rate }) => rate),
    scale,
    rows,
  );
}
