import { CERTAIN, type TableSignRule } from '../../engine/connectome/connectome.js';
import { readChecked } from '../../engine/platform.node.js';
import { dataPath } from './dataset.js';

/** Labels that a step may test, one element a neuron. */
export type SignedLabels = Readonly<
  Record<'type' | 'class' | 'sub_class' | 'super_class' | 'transmitter', readonly string[]>
>;

interface SignStep {
  readonly when: Partial<SignedLabels>;
  readonly sign: 1 | -1 | 0;
  readonly why: string;
}

/** The content of data/signs.json. Each step has its reason. */
type SignRules = Readonly<
  Record<
    TableSignRule,
    { readonly description: string; readonly steps: readonly SignStep[]; readonly otherwise?: TableSignRule }
  >
>;

/** Source of a neuron's transmitter: a name in the table, else the largest mean probability, else none. */
export type TransmitterSource = 'named' | 'mean' | 'none';

/**
 * @param sources one for each neuron
 * @param column name of the column with transmitters
 * @param hasMeans true if the table also has mean probabilities
 * @returns the sign of each neuron, and a sentence with the number of neurons for each step
 */
export function assignSigns(
  rule: TableSignRule,
  labels: SignedLabels,
  sources: readonly TransmitterSource[],
  { column, hasMeans }: { readonly column: string; readonly hasMeans: boolean },
): { readonly signs: Int8Array; readonly remark: string } {
  const steps = stepsOf(rule);
  const counts = new Map(steps.map((step) => [step, { named: 0, mean: 0, none: 0 }]));
  const signs = Int8Array.from(sources, (source, i) => {
    // The last step applies to every neuron.
    const step = steps.find((each) => applies(each, labels, i, labels.transmitter[i]!))!;
    counts.get(step)![source] += 1;
    return step.sign;
  });
  const ways = [...counts].flatMap(([step, { named, mean, none }]) => {
    if (named + mean + none === 0) return [];
    const verb = step.sign === 0 ? 'have no fast effect' : step.sign > 0 ? 'excite' : 'inhibit';
    const way = `${conditionText(step)} ${verb}: ${named + mean + none}`;
    // The source of the transmitter matters only if the step tests the transmitter.
    const depends = step.when.transmitter !== undefined || Object.keys(step.when).length === 0;
    return depends
      ? `${way} (${named} by ${column}, ${hasMeans ? `${mean} by the largest mean probability, ${none} without either` : `${none} without`})`
      : way;
  });
  const remark = `Signs of ${signs.length} neurons under the rule ${rule}, by the first step that applies: ${ways.join('; ')}.`;
  return { signs, remark };
}

/** The predictions of a table for the transmitters of neurons. */
export interface TransmitterProbabilities {
  readonly transmitters: readonly string[];
  /** For each neuron, the probability of each transmitter; empty if the table has no row for it. */
  readonly ofNeurons: readonly (readonly number[])[];
}

/**
 * @param signs under the rule; a neuron without probabilities keeps its sign
 * @returns in 255ths, the probability that neuron i excites, at 2i, and that it inhibits, at 2i + 1
 */
export function signProbabilities(
  rule: TableSignRule,
  labels: SignedLabels,
  { transmitters, ofNeurons }: TransmitterProbabilities,
  signs: Int8Array,
): Uint8Array {
  const steps = stepsOf(rule);
  const probabilities = new Uint8Array(2 * signs.length);
  ofNeurons.forEach((chances, i) => {
    const sum = chances.reduce((all, each) => all + each, 0);
    const shareOf = (sign: number) =>
      chances.reduce((share, each, at) => {
        const step = steps.find((one) => applies(one, labels, i, transmitters[at]!))!;
        return step.sign === sign ? share + each : share;
      }, 0);
    const of255 = (share: number) => (sum === 0 ? 0 : Math.round((CERTAIN * share) / sum));
    const known = (sign: number) => (sum === 0 && signs[i] === sign ? CERTAIN : 0);
    const excites = known(1) + of255(shareOf(1));
    // The chance to inhibit is rounded as a rest. Otherwise a neuron that never has the sign 0 could be drawn with it. A
    // neuron that never inhibits gets 0: its two sums are equal, but may differ in their last bit.
    const rest = shareOf(-1) === 0 ? 0 : Math.max(0, of255(sum - shareOf(0)) - of255(shareOf(1)));
    probabilities.set([excites, known(-1) + rest], 2 * i);
  });
  return probabilities;
}

function stepsOf(rule: TableSignRule): readonly SignStep[] {
  const rules = readChecked<SignRules>(dataPath('signs.json'), 'INTERNAL');
  const { steps, otherwise } = rules[rule];
  return [...steps, ...(otherwise === undefined ? [] : rules[otherwise].steps)];
}

function applies({ when }: SignStep, labels: SignedLabels, neuron: number, transmitter: string): boolean {
  for (const member in when) {
    const label = member as keyof SignedLabels;
    const value = label === 'transmitter' ? transmitter : labels[label][neuron]!;
    if (!when[label]!.includes(value)) return false;
  }
  return true;
}

function conditionText({ when }: SignStep): string {
  const conditions = Object.entries(when).map(([member, values]) => `${member} ${values.join(' or ')}`);
  return conditions.length === 0 ? 'all others' : conditions.join(' with ');
}
