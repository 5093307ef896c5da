/**
 * Named groups of neurons: stimuli, which a client can excite, and channels, whose rates it reads. A populations file
 * such as data/populations.json defines them when a connectome is compiled.
 */
import type { ConnectomeMetadata } from './connectome.js';
import type { NamedSide } from './set-selector.js';

/**
 * Kinds of channels. Descending and motor neurons project out of the brain, so their rates represent actions. A station
 * consists of neurons upstream of these and represents a cue.
 */
export const CHANNEL_KINDS = ['descending', 'motor', 'station'] as const;

/** The pattern of population ids. They are used in URLs and tables, so they need no escaping. */
export const POPULATION_ID = '^[a-z][a-z0-9_]*$';

/** The headings of kinds of channels, in tables and on the page. */
export const CHANNEL_KIND_LABELS: Readonly<Record<ChannelKind, string>> = {
  descending: 'Descending neurons',
  motor: 'Motor neurons',
  station: 'Upstream neurons',
};

export type ChannelKind = (typeof CHANNEL_KINDS)[number];

/**
 * A simple selector (set-selector.ts), which version 1 of the API publishes: one value for each label, and excluded
 * types.
 */
export interface Selector extends Partial<
  Readonly<Record<'type' | 'class' | 'sub_class' | 'super_class', string>>
> {
  readonly side?: NamedSide;
  readonly except?: readonly string[];
  /**
   * Root ids of release 783, which are never renamed, unlike types. In a brain from tables they decide, and the
   * compiler reports ids whose type does not match. In a synthetic brain the type decides.
   */
  readonly root_ids?: readonly string[];
}

/** A publication, and the subject for which it is cited. */
export interface Citation {
  readonly text: string;
  readonly doi: string;
  readonly subject: string;
}

export type StimulusPopulation = ConnectomeMetadata['stimuli'][number];
export type ChannelPopulation = ConnectomeMetadata['channels'][number];
export type Population = Omit<StimulusPopulation, 'nominalRateHz'>;

type Populations = Readonly<Record<'stimuli' | 'channels', readonly { readonly id: string }[]>>;

/** The kind and the id of each population, in the order of a connectome file. */
export function populationKeys({ stimuli, channels }: Populations): string[] {
  return [...stimuli.map(({ id }) => `stimulus ${id}`), ...channels.map(({ id }) => `channel ${id}`)];
}

/** @returns the key of a repeated population; undefined if there is none */
export function repeatedPopulation(populations: Populations): string | undefined {
  const keys = populationKeys(populations);
  return keys.find((key, at) => keys.indexOf(key) < at);
}
