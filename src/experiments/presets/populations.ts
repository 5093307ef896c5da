/**
 * The stimuli and channels of version 1 of the API. A connectome may lack some of them and have others. The order of the
 * stimuli is part of the contract.
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
  'food_relay',
  'pheromone_relay',
  'song_relay',
  'touch_relay',
  'colour_relay',
  'humid_relay',
  'heat_relay',
  'bitter_relay',
] as const;

export type StimulusId = (typeof STIMULUS_IDS)[number];
export type ChannelId = (typeof CHANNEL_IDS)[number];
