/** Mean rates of MN9 in Hz by the rate of its sugar neurons: Shiu et al. 2024, Fig. 1D, all pairs of release 630. */

/** Number of sugar neurons that the paper stimulates, all on one side: in release 630, and those that release 783 has. */
export const PUBLISHED_SUGAR_NEURONS: readonly number[] = [21, 20];

/** By the side of the neuron beside that of the stimulated ones. */
export const PUBLISHED_MN9: Readonly<
  Record<'other' | 'same', readonly (readonly [sugarHz: number, hz: number])[]>
> = {
  other: [
    [10, 0],
    [50, 19.4],
    [100, 65.7],
    [150, 83.7],
    [200, 93.2],
  ],
  same: [
    [100, 49.7],
    [200, 62.9],
  ],
};
