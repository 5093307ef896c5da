/** Poisson trains: at one rate for one set of neurons, or a pattern, which has a rate for each of many sets. */
import { listed, selectorWords } from '../../../engine/connectome/set-selector.js';
import { invalid, type JsonPath, nameOf, refused } from '../../../engine/schema/json-path.js';
import { listOf, number, object, type Static } from '../../../engine/schema/json-schema.js';
import { MAX_RATE_HZ, type RateTable } from '../../../engine/stimulus/protocol.js';
import { rateTotals } from '../../../engine/stimulus/rate-table.js';
import { NODE_SET } from '../fields.js';
import { inputSchema } from '../kind-schemas.js';
import type { InputBounds, InputKind } from '../input-kind.js';
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
import { steadyWork, varyingWork, windowOfEpoch } from '../train-work.js';

/** Maximum number of rows of patterns, because each row has a selector to resolve. */
export const MAX_ROWS = 10_000;

const SCALE = number('Multiplies the rates of the input. Left out: 1.', {
  minimum: 0,
  maximum: 10,
  examples: [0.5],
});
const ROW = object(
  'Neurons with their rate.',
  { node_set: NODE_SET, rate_hz: rateSchema({}) },
  { component: 'NeuronsWithRate' },
);
const ROWS = listOf('Neurons with their rates; no neuron is in two rows.', ROW, {
  minItems: 1,
  maxItems: MAX_ROWS,
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

/** Code that both kinds share. */
const RATED = {
  course: (input) => ratesCourse(ratesOf(input), input.scale ?? 1),
  parsed<I extends AnyPoisson>(input: I, path: JsonPath, { rows, rates }: InputBounds): I {
    if (isPattern(input)) rows.add(input.rates.length, [...path, 'rates']);
    ratesOf(input).forEach((rate, row) => checkRate(rate, [...path, ...pathOfRate(input, row)], rates));
    return input;
  },
  sweepRequirement: (input, member) =>
    member === 'rate_hz' && steadyHz(input) === undefined
      ? 'a single number, such as the scale of the input, which has several rates'
      : undefined,
  checkConditions(input, { longestMs, highest, pathOf }, path) {
    const rates = ratesOf(input);
    rates.forEach((rate, row) => checkEnd(rate, longestMs, [...path, ...pathOfRate(input, row)]));
    const scale = highest('scale') ?? input.scale ?? 1;
    const topHz = highest('rate_hz') ?? Math.max(0, ...rates.map(topRateHz));
    if (topHz * scale <= MAX_RATE_HZ) return;
    const allowed =
      `at most ${MAX_RATE_HZ / topHz}, with which the highest rate of the input, ${topHz} Hz, ` +
      `becomes ${MAX_RATE_HZ} Hz`;
    throw refused(pathOf('scale'), scale, allowed);
  },
  expected(_, document, counts, { neurons, rows }) {
    const inRows = rows && new Uint32Array(ratesOf(document).length);
    if (rows) neurons.forEach((neuron, position) => (inRows![rows[position]!]! += Number(counts(neuron))));
    const isSteady = steadyHz(document) !== undefined;
    const totals = isSteady ? undefined : rateTotals(tableOf(document), inRows ?? [1]);
    return {
      of(count, { input, startStep, endStep }) {
        const window = windowOfEpoch(startStep, endStep);
        return totals === undefined
          ? steadyWork(count, steadyHz(input)!, window)
          : varyingWork(totals, window, inRows ? 1 : count, input.scale);
      },
    };
  },
  trainOf: (_, { input, rows, name, seed, startStep, endStep }) => {
    const rateHz = steadyHz(input) ?? tableOf(input, rows);
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

/** A pattern has rows: sets of neurons, each with a rate. */
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
    return Uint16Array.from(all, (neuron) => rows[neuron]!);
  },
  groupsRequirement: () => 'an input with a node_set, because the rows of rates name their own neurons',
} satisfies InputKind<Pattern>;

function isPattern(input: AnyPoisson): input is Pattern {
  return 'rates' in input;
}

function ratesOf(input: AnyPoisson): readonly Rate[] {
  return isPattern(input) ? input.rates.map(({ rate_hz: rate }) => rate) : [input.rate_hz];
}

/** Conditions copy an input, but not the object of its rates; so this object finds the table again. */
function tableOf(input: AnyPoisson, rows?: Uint16Array): RateTable {
  const of = isPattern(input) ? input.rates : (input.rate_hz as object);
  return rateTable(of, ratesOf(input), input.scale ?? 1, rows);
}

/** The path of a rate, relative to its input. */
function pathOfRate(input: AnyPoisson, row: number): JsonPath {
  return isPattern(input) ? ['rates', row, 'rate_hz'] : ['rate_hz'];
}

/** The rate, if all neurons have the same one at all times. */
function steadyHz(input: AnyPoisson): number | undefined {
  if (isPattern(input) || typeof input.rate_hz !== 'number') return undefined;
  return input.rate_hz * (input.scale ?? 1);
}
