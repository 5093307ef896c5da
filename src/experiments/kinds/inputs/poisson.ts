/** Poisson trains: of one set of neurons at one rate, or of a pattern, whose rows are sets with a rate each. */
import { listed, selectorWords } from '../../../connectome/set-selector.js';
import { CodedError } from '../../../errors.js';
import { invalid, type JsonPath, nameOf, pointerTo, refused } from '../../../schema/json-path.js';
import { listOf, number, object, type Static } from '../../../schema/json-schema.js';
import { MAXIMUM_RATE_HZ } from '../../../stimulus/protocol.js';
import { NODE_SET } from '../../document/fields.js';
import { inputSchema } from '../../document/kind-schemas.js';
import type { InputBounds, InputKind } from '../input-kinds.js';
import {
  checkEnd,
  checkRate,
  type Rate,
  RATE_HZ,
  rateSchema,
  rateTable,
  rateWords,
  ratesCourse,
  topRateHz,
} from '../input-rates.js';
import { steadyWork, varyingWork } from '../train-work.js';

/** Rows of a pattern; each is resolved. */
export const MAXIMUM_ROWS = 10_000;

const SCALE = number('Multiplies the rates of the input. Left out: 1.', {
  minimum: 0,
  maximum: 10,
  examples: [0.5],
});
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
const PATTERN = inputSchema(
  'poisson',
  'A pattern over many sets of neurons: each neuron gets a Poisson train of its own at the rate of its row.',
  { 'scale?': SCALE },
  { rates: ROWS },
);
const POISSON = inputSchema('poisson', 'Each neuron gets a Poisson train of its own.', {
  rate_hz: rateSchema({ default: RATE_HZ.default }),
  'scale?': SCALE,
});

type Pattern = Static<typeof PATTERN>;
type AnyPoisson = Pattern | Static<typeof POISSON>;

/** Parts that a pattern and a single rate have in common. */
const RATED = {
  course: (input) => ratesCourse(ratesOf(input), input.scale ?? 1),
  parsed<I extends AnyPoisson>(input: I, path: JsonPath, { rows, rates }: InputBounds): I {
    if (isPattern(input)) rows.add(input.rates.length, [...path, 'rates']);
    ratesOf(input).forEach((rate, row) => checkRate(rate, [...path, ...placeOfRate(input, row)], rates));
    return input;
  },
  sweepRequirement: (input, member) =>
    member === 'rate_hz' && steadyHz(input) === undefined
      ? 'a single number, such as the scale of the input, which has several rates'
      : undefined,
  checkConditions(input, { longestMs, highest }, path) {
    const rates = ratesOf(input);
    rates.forEach((rate, row) => checkEnd(rate, longestMs, [...path, ...placeOfRate(input, row)]));
    const scale = highest('scale') ?? input.scale ?? 1;
    const topHz = highest('rate_hz') ?? Math.max(0, ...rates.map(topRateHz));
    if (topHz * scale <= MAXIMUM_RATE_HZ) return;
    const allowed =
      `at most ${MAXIMUM_RATE_HZ / topHz}, with which the highest rate of the input, ${topHz} Hz, ` +
      `becomes ${MAXIMUM_RATE_HZ} Hz`;
    throw refused([...path, 'scale'], scale, allowed);
  },
  expected(_, document, counts, { neurons, rows }) {
    const inRows = rows && new Uint32Array(ratesOf(document).length);
    if (rows) neurons.forEach((neuron, place) => (inRows![rows[place]!]! += Number(counts(neuron))));
    const isSteady = steadyHz(document) !== undefined;
    const workOf = isSteady ? undefined : varyingWork(rateTable(ratesOf(document), 1), inRows ?? [1]);
    return {
      of: (count, { input, startStep, endStep }) =>
        workOf === undefined
          ? steadyWork(count, steadyHz(input)!, endStep - startStep)
          : workOf(startStep, endStep, inRows ? 1 : count, input.scale),
    };
  },
  trainOf: (_, { input, rows, name, seed, startStep, endStep }) => {
    const rateHz = steadyHz(input) ?? rateTable(ratesOf(input), input.scale ?? 1, rows);
    return { kind: 'poisson', name, rateHz, seed, startStep, endStep };
  },
} satisfies Omit<InputKind<AnyPoisson>, 'schema' | 'words'>;

/** Each neuron gets a Poisson train of its own. */
export const poisson = {
  ...RATED,
  schema: POISSON,
  swept: { rate_hz: RATE_HZ, scale: SCALE },
  words: ({ node_set: neurons, rate_hz: rate, scale = 1 }, swept) =>
    `${selectorWords(neurons)} stimulated ${rateWords(rate, scale, swept)}`.trimEnd(),
} satisfies InputKind<Static<typeof POISSON>>;

/** A pattern of rates over many sets of neurons, in place of one set and one rate. */
export const pattern = {
  ...RATED,
  schema: PATTERN,
  swept: { scale: SCALE },
  words: ({ rates }) =>
    `${listed(rates.map(({ node_set: neurons }) => selectorWords(neurons)))} stimulated, each at its rate`,
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
  groupsRequirement: () => 'an input with a node_set, because the rows of rates name their own neurons',
} satisfies InputKind<Pattern>;

function isPattern(input: AnyPoisson): input is Pattern {
  return 'rates' in input;
}

function ratesOf(input: AnyPoisson): readonly Rate[] {
  return isPattern(input) ? input.rates.map(({ rate_hz: rate }) => rate) : [input.rate_hz];
}

/** The place of a rate in its input. */
function placeOfRate(input: AnyPoisson, row: number): JsonPath {
  return isPattern(input) ? ['rates', row, 'rate_hz'] : ['rate_hz'];
}

/** The rate of all neurons at all times, where there is one. */
function steadyHz(input: AnyPoisson): number | undefined {
  if (isPattern(input) || typeof input.rate_hz !== 'number') return undefined;
  return input.rate_hz * (input.scale ?? 1);
}
