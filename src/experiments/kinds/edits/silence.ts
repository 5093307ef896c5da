import { NO_NEURONS, unionOf } from '../../../engine/connectome/neuron-set.js';
import { listed, type SetSelector, selectorWords } from '../../../engine/connectome/set-selector.js';
import { isObject } from '../../../engine/schema/forms.js';
import { anyOf, listOf, object, type Static } from '../../../engine/schema/json-schema.js';
import { NODE_SET, startMs, stepsOf, untilEndMs } from '../fields.js';
import type { EditKind } from '../edit-kind.js';
import { sharedArray } from '../shared-array.js';

const TIMED = object(
  'Neurons whose spikes in a window are not delivered, whenever they would arrive.',
  {
    node_set: NODE_SET,
    start_ms: startMs('Start of the window, in ms from the start of the trial.'),
    end_ms: untilEndMs('End of the window, in ms from the start of the trial; null or left out: its end.'),
  },
  { component: 'TimedSilence' },
);

/** Silences of one document, and of a session at any time. */
export const MAX_SILENCES = 64;

const SCHEMA = listOf(
  'Neurons whose outputs are cut: a selector for the whole trial, an object with `node_set` for a window.',
  // The selector comes last, so that an object with no member of the other form is checked as a selector.
  anyOf('Neurons whose outputs are cut.', [TIMED, NODE_SET], {
    allowed:
      'a name, an object of labels, a list of selectors, or an object with node_set, start_ms and end_ms; ids are ' +
      'strings in root_id',
  }),
  {
    maxItems: MAX_SILENCES,
    uniqueItems: true,
    default: [],
    examples: [['PVLP122b', { node_set: 'LC4', start_ms: 200, end_ms: 400 }]],
  },
);

type Item = SetSelector | Static<typeof TIMED>;

/** Cuts the outputs of neurons, for the whole trial or for a time window. */
export const silence = {
  schema: SCHEMA,
  groups: {
    parameters: () => ['silence'],
    done: 'silenced',
    unchanged: 'silencing a group that never spikes changes nothing',
    sparesSilent: true,
  },
  words: (items) =>
    listed(
      items.map((item) =>
        isTimed(item)
          ? `${selectorWords(item.node_set)} silenced from ${item.start_ms} ms to ${item.end_ms ?? 'the end of the trial'}${item.end_ms === null ? '' : ' ms'}`
          : `${selectorWords(item)} silenced`,
      ),
    ),
  windowsOf: (items) =>
    items.filter(isTimed).map(({ node_set: neurons, start_ms: startMs, end_ms: endMs }) => ({
      label: `${selectorWords(neurons)} silenced`,
      startMs,
      endMs,
    })),
  withWindows: (items, change) =>
    items.map((item, at) => (isTimed(item) ? change(item, ['silence', at]) : item)),
  usesOf(items) {
    const always = items.flatMap((item, at) =>
      isTimed(item) ? [] : [{ selector: item, path: `/silence/${at}` }],
    );
    const timed = items.flatMap((item, at) =>
      isTimed(item)
        ? [{ name: nameOf(at), selectors: [{ selector: item.node_set, path: `/silence/${at}/node_set` }] }]
        : [],
    );
    return [...(always.length > 0 ? [{ name: 'silence', selectors: always }] : []), ...timed];
  },
  *planned({ connectome: { neuronCount }, neurons }, items = []) {
    const always = neurons.get('silence') ?? NO_NEURONS;
    const windows = items.flatMap((item, at) =>
      isTimed(item) ? [{ ...item, neurons: sharedArray(neurons.get(nameOf(at))!) }] : [],
    );
    yield;
    return {
      protocolIn: ({ durationMs, groupOf }) => ({
        silenced: sharedArray(unionOf([always, groupOf('silence') ?? NO_NEURONS], neuronCount)),
        ...(windows.length > 0 && {
          silencedWindows: windows.map(({ neurons: silenced, start_ms: start, end_ms: end }) => ({
            neurons: silenced,
            startStep: stepsOf(start),
            endStep: stepsOf(end ?? durationMs),
          })),
        }),
      }),
    };
  },
} satisfies EditKind<Static<typeof SCHEMA>>;

export function isTimed(item: Item): item is Static<typeof TIMED> {
  return isObject(item) && 'node_set' in item;
}

/** The name, in the answer, of the neurons of an item with a window. */
function nameOf(at: number): string {
  return `silence.${at}`;
}
