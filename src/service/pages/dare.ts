import type { Connectome } from '../../engine/connectome/connectome.js';
import { labelCounts } from '../../engine/connectome/label-counts.js';
import type { StimulusPopulation } from '../../engine/connectome/populations.js';
import { MAX_DARED_TYPES, refusedTypes } from '../../experiments/presets/lesion-document.js';

/** A challenge in a link: a stimulus, and the types that a visitor silences so that the fly no longer reacts. */
export interface Dare {
  readonly stimulus: StimulusPopulation;
  readonly types: readonly string[];
}

/** @returns the dare of a query; undefined if it names none of this brain, or a type that the stimulus excites */
export function dareIn(query: unknown, connectome: Connectome): Dare | undefined {
  const { metadata } = connectome;
  const { dare, silence } = query as { readonly dare?: unknown; readonly silence?: unknown };
  const stimulus = metadata.stimuli.find(({ id }) => id === dare);
  // Without a type there is one that is undefined, which no brain has.
  const types = [...new Set([silence].flat() as unknown[])];
  if (stimulus === undefined || types.length > MAX_DARED_TYPES) return undefined;
  const known = types.filter((type): type is string =>
    metadata.types.some(({ name }) => name !== '' && name === type),
  );
  if (known.length < types.length) return undefined;
  const { types: excited } = labelCounts(connectome, connectome.stimulusNeurons(stimulus.id));
  return refusedTypes(known, excited).length > 0 ? undefined : { stimulus, types: known };
}

/** The address of a dare's preview, relative to that of the pages. */
export function previewPath({ stimulus, types }: Dare): string {
  const query = new URLSearchParams([
    ['dare', stimulus.id],
    ...types.map((type): [string, string] => ['silence', type]),
  ]);
  return `/dare/preview.png?${query}`;
}
