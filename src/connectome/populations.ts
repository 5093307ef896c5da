/**
 * The named groups of neurons that the rest of the world talks about: stimuli (what a client can excite) and
 * channels (what it reads). Which neurons they hold is decided by data/populations.json when a connectome is
 * compiled; their names are part of the contract and stand here alone.
 */
export const STIMULUS_IDS = [
  'sugar',
  'loom',
  'food',
  'touch',
  'song',
  'pheromone',
  'colour',
  'humid',
  'heat',
  'bitter',
] as const;

export const CHANNEL_IDS = [
  'escape',
  'walk',
  'turn_left',
  'turn_right',
  'stop',
  'backward',
  'landing',
  'wing',
  'groom',
  'proboscis',
  'courtship',
  'descending',
  'motor',
] as const;

export type StimulusId = (typeof STIMULUS_IDS)[number];
export type ChannelId = (typeof CHANNEL_IDS)[number];

/** Picks neurons; every member given must agree. In strings `*` stands for any run of characters. */
export interface Selector {
  readonly type?: string;
  readonly class?: string;
  readonly sub_class?: string;
  readonly super_class?: string;
  readonly side?: 'left' | 'right' | 'center';
  /** Types (with wildcards) that are left out again. */
  readonly except?: readonly string[];
  /**
   * Root ids of release 783. Types are renamed between versions of the tables, ids are not: compiled from
   * tables, a selector with ids takes these neurons and reports where the type disagrees; in a
   * reconstruction the type decides.
   */
  readonly root_ids?: readonly string[];
}

export interface Population {
  readonly id: string;
  readonly label: string;
  readonly description: string;
  readonly selectors: readonly Selector[];
  readonly neuronCount: number;
}

export interface StimulusPopulation extends Population {
  readonly id: StimulusId;
  /** Mean input events per neuron and second at intensity 1. */
  readonly nominalRateHz: number;
}

export interface ChannelPopulation extends Population {
  readonly id: ChannelId;
}
