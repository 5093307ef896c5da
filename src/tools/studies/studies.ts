/**
 * Studies of the model: responses to stimuli, doses and lesions, and the effect of other signs or shuffled wiring. They
 * return numbers; document.ts and plots.ts show them.
 */
import type { ComparedRule } from './subject.js';
import { neuronsOfTypes } from '../../engine/connectome/node-set-resolver.js';
import { meanSd, type MeanSd } from '../../experiments/kinds/mean-sd.js';
import { DRIVES, readDrives } from '../../experiments/presets/drives.js';
import {
  CHANNEL_IDS,
  STIMULUS_IDS,
  type ChannelId,
  type StimulusId,
} from '../../experiments/presets/populations.js';
import { neuronsByIdOf, NOMINAL_RATE_HZ, type Run, type Subject } from './subject.js';

/** Intensities from 0 to the largest allowed one. */
const DOSES = [0, 0.125, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2];

export function ratesOf(runs: readonly Run[]): Readonly<Record<ChannelId, MeanSd>> {
  const rates = CHANNEL_IDS.map((id) => [id, meanSd(runs.map((run) => run.rates[id]))]);
  return Object.fromEntries(rates) as Record<ChannelId, MeanSd>;
}

export function respondingIn(runs: readonly Run[]): MeanSd {
  return meanSd(runs.map(({ responding }) => responding));
}

export type StimulusResponse = ReturnType<typeof stimulusResponses>[number];

/** Counts the neurons that each stimulus recruits and the channels it drives, over all seeds and subjects. */
export function stimulusResponses(subjects: readonly [Subject, ...Subject[]], seeds: readonly number[]) {
  const [{ connectome }] = subjects;
  return STIMULUS_IDS.map((stimulus) => {
    const runs = subjects.flatMap((subject) => seeds.map((seed) => subject.stimulate(stimulus, seed)));
    const rates = ratesOf(runs);
    /** Active channels, the strongest first. */
    const channels = CHANNEL_IDS.map((id) => ({ id, rateHz: rates[id] }))
      .filter(({ rateHz }) => rateHz.mean > 0)
      .sort((a, b) => b.rateHz.mean - a.rateHz.mean);
    return {
      stimulus,
      stimulated: connectome.stimulusNeurons(stimulus).length,
      responding: respondingIn(runs),
      channels,
    };
  });
}

/** Jaccard index of the neurons that respond to the two stimuli of a pair: both divided by either; mean over the seeds. */
export function overlaps(
  subject: Subject,
  pairs: readonly (readonly [StimulusId, StimulusId])[],
  seeds: readonly number[],
) {
  return pairs.map((pair) => {
    const values = seeds.map((seed) => {
      const [a, b] = pair.map((id) => new Set(subject.stimulate(id, seed).neurons));
      const both = [...a!].filter((neuron) => b!.has(neuron)).length;
      return both / (a!.size + b!.size - both);
    });
    return { pair, jaccard: meanSd(values).mean };
  });
}

/** Excites one type of olfactory receptor neurons at a time. Each glomerulus gets the input of one type. */
export function glomeruli(subjects: Readonly<Record<ComparedRule, Subject>>, seeds: readonly number[]) {
  const { types } = subjects.corrected.connectome.metadata;
  const receptors = [...new Set(types.flatMap(({ name }) => (name.startsWith('ORN_') ? [name] : [])))].sort();
  return receptors.map((type) => {
    const recruitedUnder = (rule: ComparedRule): number => {
      const subject = subjects[rule];
      const neurons = neuronsByIdOf(subject.connectome, [type]);
      return respondingIn(seeds.map((seed) => subject.excite(neurons, NOMINAL_RATE_HZ, 1, seed))).mean;
    };
    return {
      type,
      responding: { predicted: recruitedUnder('predicted'), corrected: recruitedUnder('corrected') },
    };
  });
}

export interface Pathway {
  readonly stimulus: StimulusId;
  readonly channel: ChannelId;
}

/** The response to each stimulus at each intensity in DOSES. */
export function doseResponses(subject: Subject, seeds: readonly number[]) {
  return STIMULUS_IDS.map((stimulus) => ({
    stimulus,
    doses: DOSES.map((intensity) => {
      const runs = seeds.map((seed) => subject.stimulate(stimulus, seed, { intensity }));
      return { intensity, responding: respondingIn(runs), rates: ratesOf(runs) };
    }),
  }));
}

/**
 * @returns for each list of types, the remaining rate if their outputs are silenced; an empty list is the intact brain
 */
export function lesions(
  subject: Subject,
  { stimulus, channel }: Pathway,
  silencedTypes: readonly (readonly string[])[],
  seeds: readonly number[],
) {
  return silencedTypes.map((types) => {
    const silenced = neuronsOfTypes(subject.connectome, types);
    const rates = seeds.map((seed) => subject.stimulate(stimulus, seed, { silenced }).rates[channel]);
    return { stimulus, channel, silenced: types, rateHz: meanSd(rates) };
  });
}

/**
 * Types that respond to a stimulus without being stimulated, by number of responding neurons. They are candidates for
 * silencing.
 */
export function recruitedTypes(subject: Subject, stimulus: StimulusId, seeds: readonly number[]): string[] {
  const { typeIndices, metadata } = subject.connectome;
  const stimulated = new Set(subject.connectome.stimulusNeurons(stimulus));
  const counts = new Map<string, number>();
  for (const seed of seeds) {
    for (const neuron of subject.stimulate(stimulus, seed).neurons) {
      const { name } = metadata.types[typeIndices[neuron]!]!;
      if (name !== '' && !stimulated.has(neuron)) counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  return [...counts.keys()].sort((a, b) => counts.get(b)! - counts.get(a)! || (a < b ? -1 : 1));
}

/** Number of runs whose stimulus a client could identify from the channels only. */
export function discrimination(subject: Subject, seeds: readonly number[]) {
  const assigned = assignedToNearestMean(
    STIMULUS_IDS.map((stimulus) =>
      seeds.map((seed) => {
        const { rates } = subject.stimulate(stimulus, seed);
        return CHANNEL_IDS.map((id) => rates[id]);
      }),
    ),
  );
  const mistaken = assigned.flatMap((times, own) =>
    times.flatMap((count, other) =>
      count > 0 && other !== own
        ? [{ stimulus: STIMULUS_IDS[own]!, takenFor: STIMULUS_IDS[other]!, times: count }]
        : [],
    ),
  );
  const right = assigned.reduce((sum, times, own) => sum + times[own]!, 0);
  return { right, runs: STIMULUS_IDS.length * seeds.length, mistaken };
}

export type StimulusDrives = ReturnType<typeof stimulusDrives>[number];

/** Computes the drives of each stimulus, and the number of runs whose stimulus a client could identify from them. */
export function stimulusDrives(subject: Subject, seeds: readonly number[]) {
  const runs = STIMULUS_IDS.map((stimulus) =>
    seeds.map((seed) => {
      const drives = readDrives(subject.stimulate(stimulus, seed).rates);
      return DRIVES.map(({ id }) => drives[id]!);
    }),
  );
  const assigned = assignedToNearestMean(runs);
  return STIMULUS_IDS.map((stimulus, own) => ({
    stimulus,
    /** Every drive of the service, in the order of an answer. */
    drives: DRIVES.map(({ id }, k) => ({ id, value: meanSd(runs[own]!.map((vector) => vector[k]!)) })),
    /** For each stimulus in the order of STIMULUS_IDS, the number of this stimulus's runs that were taken for it. */
    assignedTo: assigned[own]!,
  }));
}

/**
 * Assigns each run to the stimulus with the nearest mean (Euclidean distance). The mean of its own stimulus excludes the
 * run.
 * @param vectors of each run of each stimulus
 * @returns at [i][j], the number of runs of stimulus i that were assigned to stimulus j
 */
function assignedToNearestMean(vectors: readonly (readonly (readonly number[])[])[]): number[][] {
  const meanOf = (runs: readonly (readonly number[])[]): number[] =>
    runs[0]!.map((_, k) => meanSd(runs.map((vector) => vector[k]!)).mean);
  const means = vectors.map(meanOf);
  return vectors.map((runs, own) => {
    const times = means.map(() => 0);
    runs.forEach((vector, left) => {
      const distances = means.map((meanOfAll, stimulus) => {
        const mean = stimulus === own ? meanOf(runs.filter((_, i) => i !== left)) : meanOfAll;
        return vector.reduce((sum, x, k) => sum + (x - mean[k]!) ** 2, 0);
      });
      times[distances.indexOf(Math.min(...distances))]! += 1;
    });
    return times;
  });
}
