import { CHANNEL_IDS } from '../../answers/v1/populations.js';
import { DRIVES } from '../../answers/v1/drives.js';
import { roundRate } from '../../answers/v1/rounding.js';
import type { RunBody } from './source.js';
import { labelOf, overlapOf, roundedSpread, summaryJson, summaryOf, type Condition } from './summary.js';

/** A run in which only the escape channel is read and the given neurons spike once. */
function runOf(escape: number, neurons: number[]): RunBody {
  const channels = { ...Object.fromEntries(CHANNEL_IDS.map((id) => [id, 0])), escape } as RunBody['channels'];
  return {
    id: 'run',
    model: 'model',
    spikes: {
      total: neurons.length,
      stimulated_neurons: 1,
      responding_neurons: neurons.length,
      mean_rate_hz: 10,
    },
    channels,
    drive: Object.fromEntries(DRIVES.map(({ id }) => [id, 0.5])),
    frames: [{ t: 0, total: neurons.length, channels, steps: neurons.map(() => 0), spikes: neurons }],
  };
}

function conditionOf(...runs: RunBody[]): Condition {
  return {
    experiment: { stimulus: 'loom', duration_ms: 50, intensity: 1 },
    seeds: runs.map((_, i) => i),
    silenced: [],
    runs,
  };
}

describe('a summary of runs', () => {
  it('has the mean and the sample standard deviation', () => {
    // Deviations -3, -1, 4: 26 over n - 1 = 2 is 13, its root 3.6056.
    expect(roundedSpread([2, 4, 9], roundRate)).toEqual({ mean: 5, sd: 3.61 });
    expect(roundedSpread([2], roundRate)).toEqual({ mean: 2, sd: null });
  });

  it('reads every channel and drive of every run', () => {
    const { channels, drive, totalSpikes, respondingNeurons } = summaryOf(
      conditionOf(runOf(100, [1, 2]), runOf(120, [1, 2, 3, 4])),
    );
    expect(Object.fromEntries(channels)).toEqual({
      ...Object.fromEntries(CHANNEL_IDS.map((id) => [id, { mean: 0, sd: 0 }])),
      escape: { mean: 110, sd: 14.14 },
    });
    expect(drive.map(([id]) => id)).toEqual(DRIVES.map(({ id }) => id));
    expect(totalSpikes).toEqual({ mean: 3, sd: 1.41 });
    expect(respondingNeurons).toEqual(totalSpikes);
  });

  it('measures the overlap of responding neurons seed by seed', () => {
    // Seed 0 shares one of three neurons, seed 1 both of two.
    const one = conditionOf(runOf(0, [1, 2, 2]), runOf(0, [5, 6]));
    const other = conditionOf(runOf(0, [2, 3]), runOf(0, [6, 5]));
    expect(overlapOf(one, other)).toEqual({ mean: 0.6667, sd: 0.4714 });
    expect(overlapOf(conditionOf(runOf(0, [])), conditionOf(runOf(0, [])))).toEqual({ mean: 1, sd: null });
  });

  it('is JSON that names both conditions and their overlap', () => {
    const intact = conditionOf(runOf(100, [1]));
    const lesioned = { ...conditionOf(runOf(0, [])), silenced: ['LC4'] };
    expect(labelOf(lesioned)).toBe('loom, LC4 silenced');
    const summary = JSON.parse(summaryJson([intact, lesioned])) as Record<string, unknown>;
    expect(summary).toMatchObject({
      conditions: [
        { stimulus: 'loom', silenced: [], channels_hz: { escape: { mean: 100, sd: null } } },
        { stimulus: 'loom', silenced: ['LC4'], channels_hz: { escape: { mean: 0, sd: null } } },
      ],
      responding_overlap_jaccard: { mean: 0, sd: null },
    });
    expect(JSON.parse(summaryJson([intact]))).not.toHaveProperty('responding_overlap_jaccard');
  });
});
