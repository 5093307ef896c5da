/** All studies of `npm run validate`, with their stimuli and seeds. */
import type { ComparedRule } from './subject.js';
import type { StimulusId } from '../../experiments/presets/populations.js';
import type { Connectome } from '../../engine/connectome/connectome.js';
import { outcomes } from './outcomes.js';
import { publishedResults } from './published.js';
import {
  discrimination,
  doseResponses,
  glomeruli,
  lesions,
  overlaps,
  type Pathway,
  recruitedTypes,
  stimulusDrives,
  stimulusResponses,
} from './studies.js';
import { type Simulators, Subject } from './subject.js';
import { deviations, meanResponses } from './synthesis-check.js';

export const PATHWAYS = [
  { stimulus: 'sugar', channel: 'proboscis' },
  { stimulus: 'loom', channel: 'escape' },
  { stimulus: 'song', channel: 'escape' },
] as const satisfies readonly Pathway[];

const PAIRS: readonly (readonly [StimulusId, StimulusId])[] = [
  ['food', 'pheromone'],
  ['food', 'heat'],
  ['food', 'sugar'],
  ['loom', 'touch'],
];
const LOOM_DETECTORS = [[], ['LPLC2'], ['LC4'], ['LPLC2', 'LC4']] as const;

const SEEDS = Array.from({ length: 20 }, (_, i) => i + 1);
const GLOMERULUS_SEEDS = SEEDS.slice(0, 5);
/** Types that are silenced one after the other. */
const LESIONS = 40;
/**
 * Shuffles preserve each neuron's sign and numbers of inputs and outputs. They also preserve either its output synapses or
 * its excitatory and inhibitory input synapses.
 */
export const KEPT = ['outputs', 'inputs'] as const;
const SHUFFLES = { outputs: 'targets', inputs: 'targets_and_weights' } as const;
/** Several shuffles, because one may drive a channel by chance. */
const OTHER_SEEDS = [2, 3, 4, 5];
/** All shuffles together have as many runs as the intact brain. */
const SEEDS_OF_SHUFFLE = SEEDS.slice(0, SEEDS.length / (1 + OTHER_SEEDS.length));
/** Runs of each stimulus for the synthetic brain, as in `validate:synthesis`. */
const SYNTHESIS_SEEDS = [1, 2, 3, 4];

export type Report = ReturnType<typeof report>;

/**
 * The studies that are compared with published ones.
 * @param begin called before each study
 * @param numbers published numbers of the subject; by default those of the paper
 */
export function publishedStudies(
  subject: Subject,
  begin: (study: string) => void,
  numbers?: Parameters<typeof publishedResults>[1],
) {
  begin('Repeating published experiments');
  const published = publishedResults(subject, numbers);
  begin('Predicting outcomes of experiments on flies');
  return { published, outcomes: outcomes(subject) };
}

/**
 * @param subjects measured wiring under both rules
 * @param synthetic the brain that ships
 * @param begin called before each study
 */
export function report(
  subjects: Readonly<Record<ComparedRule, Subject>>,
  synthetic: Subject,
  simulators: Simulators,
  begin: (study: string) => void,
) {
  const { predicted, corrected } = subjects;
  const bothRules = <T>(of: (subject: Subject) => T): Record<ComparedRule, T> => ({
    predicted: of(predicted),
    corrected: of(corrected),
  });
  const study = <T>(name: string, results: () => T): T => {
    begin(name);
    return results();
  };
  return {
    ...publishedStudies(predicted, begin),
    connectomes: bothRules(({ connectome }) => connectome.digest),
    responses: study('Exciting each population under both rules of signs', () =>
      bothRules((subject) => stimulusResponses([subject], SEEDS)),
    ),
    overlaps: bothRules((subject) => overlaps(subject, PAIRS, SEEDS)),
    glomeruli: study('Exciting one glomerulus at a time', () => glomeruli(subjects, GLOMERULUS_SEEDS)),
    doses: study('Raising the intensity', () => doseResponses(corrected, SEEDS)),
    shuffled: study('Shuffling the wiring', () => ({
      outputs: shuffledResponses(corrected.connectome, simulators, 'outputs'),
      inputs: shuffledResponses(corrected.connectome, simulators, 'inputs'),
    })),
    discrimination: study('Telling stimuli apart by their channels', () => discrimination(corrected, SEEDS)),
    /** The drives of each stimulus in either brain. */
    drives: study('Telling stimuli apart by their drives', () => ({
      measured: stimulusDrives(corrected, SEEDS),
      synthetic: stimulusDrives(synthetic, SEEDS),
    })),
    lesions: study('Silencing cell types', () => lesionsOfPathways(corrected)),
    /** Neurons that spike in a brain without a stimulus. */
    spontaneous: bothRules((subject) => subject.excite(new Uint32Array(0), 0, 0, 1).responding),
    synthesis: study('Comparing the synthetic brain with the tables', () =>
      deviations(meanResponses(corrected, SYNTHESIS_SEEDS), meanResponses(synthetic, SYNTHESIS_SEEDS)),
    ),
  };
}

function shuffledResponses(connectome: Connectome, simulators: Simulators, kept: (typeof KEPT)[number]) {
  const rewire = simulators.rewiringOf(connectome);
  const shuffled = (seed: number) =>
    new Subject(connectome, simulators, rewire({ shuffle: SHUFFLES[kept], seed }));
  const [first, ...others] = [shuffled(1), ...OTHER_SEEDS.map(shuffled)] as const;
  return {
    /** Over all shuffles. */
    responses: stimulusResponses([first, ...others], SEEDS_OF_SHUFFLE),
    /** In the first one. */
    discrimination: discrimination(first, SEEDS),
  };
}

function lesionsOfPathways(subject: Subject) {
  const [sugar, loom] = PATHWAYS;
  const recruited = recruitedTypes(subject, sugar.stimulus, SEEDS).slice(0, LESIONS);
  return [
    ...lesions(subject, loom, LOOM_DETECTORS, SEEDS),
    ...lesions(subject, sugar, [[], ...recruited.map((type) => [type])], SEEDS),
  ];
}
