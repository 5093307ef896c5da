import { fileURLToPath } from 'node:url';
import type { TableSignRule } from '../connectome/connectome.js';
import { readChecked } from '../connectome/checked-json.js';

/** Labels of neurons that a step may ask for, one element a neuron. */
export type SignedLabels = Readonly<
  Record<'type' | 'class' | 'sub_class' | 'super_class' | 'transmitter', readonly string[]>
>;

interface SignStep {
  readonly when: Partial<SignedLabels>;
  readonly sign: 1 | -1 | 0;
  readonly why: string;
}

/** The form of data/signs.json, which says why each of its steps is there. */
type SignRules = Readonly<
  Record<
    TableSignRule,
    { readonly description: string; readonly steps: readonly SignStep[]; readonly otherwise?: TableSignRule }
  >
>;

const SIGNS_FILE = fileURLToPath(new URL('../../data/signs.json', import.meta.url));

/** Source of the transmitter of a neuron: its name, else the largest mean probability, else none. */
export type TransmitterSource = 'named' | 'mean' | 'none';

/**
 * @param sources one for each neuron
 * @param column that names transmitters; hasMeans: whether there are mean probabilities as well
 * @returns the sign of each neuron, and a sentence on how many got theirs in which way
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
    // The last step is that of all others.
    const step = steps.find((each) => applies(each, labels, i))!;
    counts.get(step)![source] += 1;
    return step.sign;
  });
  const ways = [...counts].flatMap(([step, { named, mean, none }]) => {
    if (named + mean + none === 0) return [];
    const verb = step.sign === 0 ? 'have no fast effect' : step.sign > 0 ? 'excite' : 'inhibit';
    const way = `${conditionText(step)} ${verb}: ${named + mean + none}`;
    // A step that no transmitter decides does not depend on where that comes from.
    const depends = step.when.transmitter !== undefined || Object.keys(step.when).length === 0;
    return depends
      ? `${way} (${named} by ${column}, ${hasMeans ? `${mean} by the largest mean probability, ${none} without either` : `${none} without`})`
      : way;
  });
  const remark = `Signs of ${signs.length} neurons under the rule ${rule}, by the first step that applies: ${ways.join('; ')}.`;
  return { signs, remark };
}

function stepsOf(rule: TableSignRule): readonly SignStep[] {
  const rules = readChecked<SignRules>(SIGNS_FILE, 'INTERNAL');
  const { steps, otherwise } = rules[rule];
  return [...steps, ...(otherwise === undefined ? [] : rules[otherwise].steps)];
}

function applies({ when }: SignStep, labels: SignedLabels, neuron: number): boolean {
  for (const member in when) {
    const label = member as keyof SignedLabels;
    if (!when[label]!.includes(labels[label][neuron]!)) return false;
  }
  return true;
}

function conditionText({ when }: SignStep): string {
  const conditions = Object.entries(when).map(([member, values]) => `${member} ${values.join(' or ')}`);
  return conditions.length === 0 ? 'all others' : conditions.join(' with ');
}
