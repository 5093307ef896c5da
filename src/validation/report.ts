/** All studies together, as `npm run validate` runs them, and how thoroughly. */
import type { TableSignRule } from '../connectome/connectome.js';
import type { StimulusId } from '../answers/v1/populations.js';
import { publishedResults, type PublishedResult } from './published.js';
import { deviations, UNTUNED_STIMULATIONS, type Deviation } from './synthesis-check.js';
import { meanResponses, servedStimulations } from './responses.js';
import {
  discrimination,
  doseResponses,
  glomeruli,
  lesions,
  overlaps,
  recruitedTypes,
  shuffledWiring,
  SHUFFLES,
  stimulusDrives,
  stimulusResponses,
  Subject,
  type Discrimination,
  type DoseResponse,
  type Glomerulus,
  type Lesion,
  type Overlap,
  type Pathway,
  type Shuffle,
  type Simulators,
  type StimulusDrives,
  type StimulusResponse,
} from './studies.js';

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
/** One shuffle may drive by chance what another does not. */
const OTHER_DEALS = [1, 2, 3, 4];
/** As many runs over all deals as the intact brain has. */
const SEEDS_OF_DEAL = SEEDS.slice(0, SEEDS.length / (1 + OTHER_DEALS.length));
/** Runs of each stimulus for the synthetic brain, as in `validate:synthesis`. */
const SYNTHESIS_SEEDS = [1, 2, 3, 4];

export interface Report {
  readonly published: readonly PublishedResult[];
  readonly connectomes: Readonly<Record<TableSignRule, string>>;
  readonly responses: Readonly<Record<TableSignRule, readonly StimulusResponse[]>>;
  readonly overlaps: Readonly<Record<TableSignRule, readonly Overlap[]>>;
  readonly glomeruli: readonly Glomerulus[];
  readonly doses: readonly DoseResponse[];
  readonly shuffled: Readonly<Record<Shuffle, ShuffleReport>>;
  readonly discrimination: Discrimination;
  /** What a body makes of each stimulus, in either brain. */
  readonly drives: Readonly<Record<'measured' | 'synthetic', readonly StimulusDrives[]>>;
  readonly lesions: readonly Lesion[];
  /** Neurons that spike in a brain without a stimulus, under each rule. */
  readonly spontaneous: Readonly<Record<TableSignRule, number>>;
  readonly synthesis: readonly Deviation[];
}

interface ShuffleReport {
  /** Over all deals. */
  readonly responses: readonly StimulusResponse[];
  /** In the first deal. */
  readonly discrimination: Discrimination;
}

/**
 * @param subjects measured wiring under both rules
 * @param synthetic the brain that ships
 * @param begin called before each study
 */
export function report(
  subjects: Readonly<Record<TableSignRule, Subject>>,
  synthetic: Subject,
  simulators: Simulators,
  begin: (study: string) => void,
): Report {
  const bothRules = <T>(study: (subject: Subject) => T): Record<TableSignRule, T> => ({
    predicted: study(subjects.predicted),
    corrected: study(subjects.corrected),
  });
  const { connectome } = subjects.corrected;

  begin('Repeating published experiments');
  const published = publishedResults(subjects.predicted);
  begin('Exciting each population under both rules of signs');
  const responses = bothRules((subject) => stimulusResponses([subject], SEEDS));
  const overlapsOfRules = bothRules((subject) => overlaps(subject, PAIRS, SEEDS));
  const spontaneous = bothRules((subject) => subject.excite(new Uint32Array(0), 0, 0, 1).responding);
  begin('Exciting one glomerulus at a time');
  const ofGlomeruli = glomeruli(subjects, GLOMERULUS_SEEDS);
  begin('Raising the intensity');
  const doses = doseResponses(subjects.corrected, SEEDS);
  begin('Shuffling the wiring');
  const ofShuffle = (kept: Shuffle): ShuffleReport => {
    const dealt = (deal: number) =>
      new Subject(connectome, simulators, shuffledWiring(connectome, kept, deal));
    const [first, ...others] = [dealt(0), ...OTHER_DEALS.map(dealt)] as const;
    return {
      responses: stimulusResponses([first, ...others], SEEDS_OF_DEAL),
      discrimination: discrimination(first, SEEDS),
    };
  };
  const ofShuffles = Object.fromEntries(SHUFFLES.map((kept) => [kept, ofShuffle(kept)] as const));
  begin('Telling stimuli apart by their channels');
  const ofMeasured = discrimination(subjects.corrected, SEEDS);
  begin('Telling stimuli apart by their drives');
  const ofDrives = {
    measured: stimulusDrives(subjects.corrected, SEEDS),
    synthetic: stimulusDrives(synthetic, SEEDS),
  };
  begin('Silencing cell types');
  const [sugar, loom] = PATHWAYS;
  const recruited = recruitedTypes(subjects.corrected, sugar.stimulus, SEEDS).slice(0, LESIONS);
  const ofLesions = [
    ...lesions(subjects.corrected, loom, LOOM_DETECTORS, SEEDS),
    ...lesions(subjects.corrected, sugar, [[], ...recruited.map((type) => [type])], SEEDS),
  ];
  begin('Comparing the synthetic brain with the tables');
  const answersOf = (subject: Subject) =>
    meanResponses(
      subject.connectome,
      { draw: simulators.draw, engine: simulators.engineOf(subject.connectome) },
      [...servedStimulations(subject.connectome), ...UNTUNED_STIMULATIONS],
      SYNTHESIS_SEEDS,
    );
  return {
    published,
    connectomes: {
      predicted: subjects.predicted.connectome.digest,
      corrected: subjects.corrected.connectome.digest,
    },
    responses,
    overlaps: overlapsOfRules,
    glomeruli: ofGlomeruli,
    doses,
    shuffled: ofShuffles as Record<Shuffle, ShuffleReport>,
    discrimination: ofMeasured,
    drives: ofDrives,
    lesions: ofLesions,
    spontaneous,
    synthesis: deviations(answersOf(subjects.corrected), answersOf(synthetic)),
  };
}
