import type { Connectome } from '../../../engine/connectome/connectome.js';
import { neuronIndexOf } from '../../../engine/connectome/neuron-index.js';
import { ROOT_ID } from '../../../engine/connectome/selector-schema.js';
import { selectorWords } from '../../../engine/connectome/set-selector.js';
import { firstNotBelow, positionOf } from '../../../engine/connectome/sorted-array.js';
import { CodedError } from '../../../engine/errors.js';
import { isList } from '../../../engine/schema/forms.js';
import { invalid, nameOf, pointerTo, refused } from '../../../engine/schema/json-path.js';
import { anyOf, listOf, mapOf, number, type Static } from '../../../engine/schema/json-schema.js';
import { MOMENT, stepsOf } from '../fields.js';
import { inputSchema } from '../kind-schemas.js';
import type { InputKind } from '../input-kind.js';
import { sharedStepLists } from '../shared-array.js';
import { trainsOf } from '../train-work.js';

/** Maximum number of times of one input. */
const MAX_TIMES = 10_000;

const LIST = listOf(undefined, number('Time of an event in ms from the start of the trial.', MOMENT), {
  maxItems: MAX_TIMES,
  uniqueItems: true,
  allowed: `a list of at most ${MAX_TIMES} times`,
});
/** Names are allowed for replay: tables of a synthetic brain have them in place of root ids. */
const NEURON = {
  pattern: `${ROOT_ID.pattern}|^[!-~]{1,110}_[0-9]{4,9}$`,
  allowed: 'root ids, or in a synthetic brain names as in its tables, such as LC4_L_0001',
};
const BY_ID = mapOf(undefined, LIST, {
  minProperties: 1,
  propertyNames: NEURON,
  allowed: 'an object with a list of times for at least one root id',
});
const TIMES = anyOf(
  'Times in ms from the start of the trial: a list for all neurons, or an object with a list for each root id, in a ' +
    'synthetic brain for each name in its tables.',
  [LIST, BY_ID],
  { allowed: 'a list of times, or an object with a list for each root id', examples: [[10, 20.5, 31]] },
);
const SCHEMA = inputSchema('spikes', 'Each neuron gets events at given times, for replay.', {
  times_ms: TIMES,
});

const NO_STEPS: readonly number[] = [];

/** Events at given times, for replay: one list for all neurons, or one for each root id. */
export const spikes = {
  schema: SCHEMA,
  course: ({ times_ms: times }) => ({
    eventsMs: isList(times) ? times : [...new Set(Object.values(times).flat())].sort((a, b) => a - b),
  }),
  words: ({ node_set: neurons }) => `${selectorWords(neurons)} given events at listed times`,
  /** Sorts root ids, and the times of each. */
  parsed(input, path, { ids }) {
    const { times_ms: times } = input;
    if (isList(times)) return { ...input, times_ms: ascending(times) };
    const lists = Object.entries(times);
    const here = [...path, 'times_ms'];
    ids.add(lists.length, here);
    const count = lists.reduce((sum, [, { length }]) => sum + length, 0);
    if (count > MAX_TIMES) {
      throw invalid(here, `An input may have at most ${MAX_TIMES} times, got ${count}.`);
    }
    lists.sort(([a], [b]) => a.length - b.length || (a < b ? -1 : 1));
    return { ...input, times_ms: Object.fromEntries(lists.map(([id, list]) => [id, ascending(list)])) };
  },
  groupsRequirement: ({ times_ms: times }) =>
    isList(times) ? undefined : 'an input whose times are one list, because the groups have other root ids',
  checkConditions({ times_ms: times }, { longestMs }, path) {
    const lists = isList(times)
      ? [{ list: times, keys: [] }]
      : Object.entries(times).map(([id, list]) => ({ list, keys: [id] }));
    for (const { list, keys } of lists) {
      const last = list.at(-1);
      if (last === undefined || last < longestMs) continue;
      const allowed = `a list of times before the end of the trial at ${longestMs} ms`;
      throw refused([...path, 'times_ms', ...keys], last, allowed);
    }
  },
  unusedIds(connectome, { times_ms: times }, neurons, path, onMissing) {
    if (isList(times)) return [];
    const ofIds = timesOfNeurons(connectome, times);
    const unused = ofIds.flatMap(({ id, neuron }) => (positionOf(neurons, neuron) < 0 ? [id] : []));
    if (unused.length > 0 && onMissing === 'error') {
      const name = nameOf(path);
      throw new CodedError(
        'UNKNOWN_NEURONS',
        `${name}.times_ms may name only neurons of ${name}.node_set, got ${unused.join(', ')}.`,
        { path: pointerTo([...path, 'times_ms']) },
      );
    }
    return unused;
  },
  expected(connectome, { times_ms: times }, counts) {
    const isOfAll = isList(times);
    const given = isOfAll
      ? times
      : timesOfNeurons(connectome, times).flatMap(({ neuron, own }) => (counts(neuron) ? own : []));
    const steps = Uint32Array.from(given, stepsOf).sort();
    return {
      of(count, { startStep, endStep }) {
        const events = firstNotBelow(steps, endStep) - firstNotBelow(steps, startStep);
        const trains = trainsOf(count, endStep - startStep);
        return { trains, inputEvents: isOfAll ? count * events : count === 0 ? 0 : events };
      },
    };
  },
  trainOf(connectome, { input: { times_ms: times }, neurons, startStep, endStep }) {
    const within = (list: readonly number[]) =>
      list.map(stepsOf).filter((step) => step >= startStep && step < endStep);
    if (isList(times)) return { kind: 'spikes', steps: sharedStepLists([within(times)])[0]! };
    const lists = Array.from(neurons, () => NO_STEPS);
    for (const { neuron, own } of timesOfNeurons(connectome, times)) {
      const position = positionOf(neurons, neuron);
      if (position >= 0) lists[position] = within(own);
    }
    return { kind: 'spikes', steps: sharedStepLists(lists) };
  },
} satisfies InputKind<Static<typeof SCHEMA>>;

function ascending(times: readonly number[]): readonly number[] {
  return times.toSorted((a, b) => a - b);
}

/** The neuron is -1 if the model has none with the id. */
function timesOfNeurons(connectome: Connectome, times: Static<typeof BY_ID>) {
  const selection = neuronIndexOf(connectome);
  return Object.entries(times).map(([id, own]) => ({ id, own, neuron: selection.withId(id) ?? -1 }));
}
