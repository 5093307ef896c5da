import { fileURLToPath } from 'node:url';
import type { TableSignRule } from '../connectome/connectome.js';
import { readChecked } from '../connectome/checked-json.js';

/** As FlyWire abbreviates them, and two more; empty where nothing was predicted. */
export type Transmitter = 'ACH' | 'DA' | 'GABA' | 'GLUT' | 'HIST' | 'OCT' | 'SER' | 'TYR' | '';

export interface SignedNeuron {
  readonly type: string;
  readonly class: string;
  readonly sub_class: string;
  readonly super_class: string;
  readonly transmitter: Transmitter;
}

interface SignStep {
  readonly when: { readonly [Member in keyof SignedNeuron]?: readonly string[] };
  readonly sign: 1 | -1 | 0;
  readonly why: string;
}

/** The form of data/signs.json, which says why each of its steps is there. */
export type SignRules = Readonly<
  Record<
    TableSignRule,
    { readonly description: string; readonly steps: readonly SignStep[]; readonly otherwise?: TableSignRule }
  >
>;

const SIGNS_FILE = fileURLToPath(new URL('../../data/signs.json', import.meta.url));

export function readSignRules(): SignRules {
  return readChecked<SignRules>(SIGNS_FILE, 'INTERNAL');
}

/** Source of the transmitter of a neuron: its name, else the largest mean probability, else none. */
export type TransmitterSource = 'named' | 'mean' | 'none';

/**
 * @param sources of the transmitters: the column that names them, and perhaps mean probabilities
 * @returns the sign of each neuron, and a sentence on how many got theirs in which way
 */
export function assignSigns(
  rules: SignRules,
  rule: TableSignRule,
  neurons: readonly SignedNeuron[],
  sources: readonly TransmitterSource[],
  { column, hasMeans }: { readonly column: string; readonly hasMeans: boolean },
): { readonly signs: Int8Array; readonly remark: string } {
  const steps = stepsOf(rules, rule);
  const counts = new Map(steps.map((step) => [step, { named: 0, mean: 0, none: 0 }]));
  const signs = Int8Array.from(neurons, (neuron, i) => {
    const step = steps.find((each) => applies(each, neuron));
    if (step === undefined) {
      throw new Error(`no step of the sign rule ${rule} applies to ${JSON.stringify(neuron)}`);
    }
    counts.get(step)![sources[i]!] += 1;
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
  const remark = `Signs of ${neurons.length} neurons under the rule ${rule}, by the first step that applies: ${ways.join('; ')}.`;
  return { signs, remark };
}

function stepsOf(rules: SignRules, rule: TableSignRule): readonly SignStep[] {
  const { steps, otherwise } = rules[rule];
  return [...steps, ...(otherwise === undefined ? [] : rules[otherwise].steps)];
}

function applies({ when }: SignStep, neuron: SignedNeuron): boolean {
  for (const member in when) {
    const values = when[member as keyof SignedNeuron]!;
    if (!values.includes(neuron[member as keyof SignedNeuron])) return false;
  }
  return true;
}

function conditionText({ when }: SignStep): string {
  const conditions = Object.entries(when).map(([member, values]) => `${member} ${values.join(' or ')}`);
  return conditions.length === 0 ? 'all others' : conditions.join(' with ');
}
