/** All studies together, as `npm run validate` runs them, and how thoroughly. */
import type { ComparedRule } from './subject.js';
import type { StimulusId } from '../presets/populations.js';
import { rewired } from '../simulation/rewiring/rewired.js';
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
 * The property that a neuron keeps, beside its sign and its numbers of inputs and outputs, when targets are shuffled: the
 * synapses that it gives, or those that it receives, excitatory and inhibitory ones apart.
 */
export const KEPT = ['outputs', 'inputs'] as const;
const SHUFFLES = { outputs: 'targets', inputs: 'targets_and_weights' } as const;
/** One shuffle may drive by chance what another does not. */
const OTHER_SEEDS = [2, 3, 4, 5];
/** As many runs over all shuffles as the intact brain has. */
const SEEDS_OF_SHUFFLE = SEEDS.slice(0, SEEDS.length / (1 + OTHER_SEEDS.length));
/** Runs of each stimulus for the synthetic brain, as in `validate:synthesis`. */
const SYNTHESIS_SEEDS = [1, 2, 3, 4];

export type Report = ReturnType<typeof report>;

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
  const ofShuffle = (kept: (typeof KEPT)[number]) => {
    const { connectome } = corrected;
    const shuffled = (seed: number) =>
      new Subject(connectome, simulators, rewired(connectome, { shuffle: SHUFFLES[kept], seed }));
    const [first, ...others] = [shuffled(1), ...OTHER_SEEDS.map(shuffled)] as const;
    return {
      /** Over all shuffles. */
      responses: stimulusResponses([first, ...others], SEEDS_OF_SHUFFLE),
      /** In the first one. */
      discrimination: discrimination(first, SEEDS),
    };
  };
  const ofLesions = () => {
    const [sugar, loom] = PATHWAYS;
    const recruited = recruitedTypes(corrected, sugar.stimulus, SEEDS).slice(0, LESIONS);
    return [
      ...lesions(corrected, loom, LOOM_DETECTORS, SEEDS),
      ...lesions(corrected, sugar, [[], ...recruited.map((type) => [type])], SEEDS),
    ];
  };
  return {
    published: study('Repeating published experiments', () => publishedResults(predicted)),
    outcomes: study('Predicting outcomes of experiments on flies', () => outcomes(predicted)),
    connectomes: bothRules(({ connectome }) => connectome.digest),
    responses: study('Exciting each population under both rules of signs', () =>
      bothRules((subject) => stimulusResponses([subject], SEEDS)),
    ),
    overlaps: bothRules((subject) => overlaps(subject, PAIRS, SEEDS)),
    glomeruli: study('Exciting one glomerulus at a time', () => glomeruli(subjects, GLOMERULUS_SEEDS)),
    doses: study('Raising the intensity', () => doseResponses(corrected, SEEDS)),
    shuffled: study('Shuffling the wiring', () => ({
      outputs: ofShuffle('outputs'),
      inputs: ofShuffle('inputs'),
    })),
    discrimination: study('Telling stimuli apart by their channels', () => discrimination(corrected, SEEDS)),
    /** The drives of each stimulus in either brain. */
    drives: study('Telling stimuli apart by their drives', () => ({
      measured: stimulusDrives(corrected, SEEDS),
      synthetic: stimulusDrives(synthetic, SEEDS),
    })),
    lesions: study('Silencing cell types', ofLesions),
    /** Neurons that spike in a brain without a stimulus. */
    spontaneous: bothRules((subject) => subject.excite(new Uint32Array(0), 0, 0, 1).responding),
    synthesis: study('Comparing the synthetic brain with the tables', () =>
      deviations(meanResponses(corrected, SYNTHESIS_SEEDS), meanResponses(synthetic, SYNTHESIS_SEEDS)),
    ),
  };
}
