import { fileURLToPath } from 'node:url';
import type { TableSignRule } from '../connectome/connectome.js';
import { readChecked } from '../connectome/checked-json.js';

/** As the tables abbreviate them; empty where nothing was predicted. */
export type Transmitter = 'ACH' | 'DA' | 'GABA' | 'GLUT' | 'OCT' | 'SER' | '';

export interface SignedNeuron {
  readonly type: string;
  readonly class: string;
  readonly sub_class: string;
  readonly super_class: string;
  readonly transmitter: Transmitter;
}

interface SignStep {
  readonly when: { readonly [Member in keyof SignedNeuron]?: readonly string[] };
  readonly sign: 1 | -1;
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

/**
 * The rule as a function that gives the sign of all outputs of a neuron: that of the first step whose every
 * condition it meets.
 */
export function signsBy(rules: SignRules, rule: TableSignRule): (neuron: SignedNeuron) => 1 | -1 {
  const { steps: own, otherwise } = rules[rule];
  const steps = [...own, ...(otherwise === undefined ? [] : rules[otherwise].steps)].map((step) => ({
    conditions: Object.entries(step.when) as [keyof SignedNeuron, readonly string[]][],
    sign: step.sign,
  }));
  return (neuron) => {
    const step = steps.find(({ conditions }) =>
      conditions.every(([member, values]) => values.includes(neuron[member])),
    );
    if (step === undefined) {
      throw new Error(`no step of the sign rule ${rule} applies to ${JSON.stringify(neuron)}`);
    }
    return step.sign;
  };
}
