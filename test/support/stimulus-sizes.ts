/** Neurons of each stimulus, counted in the same tables by independent readings (design notes, pandas). */
export const STIMULUS_SIZES = {
  sugar: 129,
  loom: 314,
  food: 175,
  touch: 302,
  song: 390,
  pheromone: 127,
  colour: 2544,
  humid: 16,
  heat: 7,
  bitter: 65,
};
