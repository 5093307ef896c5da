import { fileURLToPath } from 'node:url';
import type { SignRule } from '../connectome/connectome.js';
import { readChecked } from './checked-json.js';

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

export type SignRules = Readonly<
  Record<
    SignRule,
    { readonly description: string; readonly steps: readonly SignStep[]; readonly otherwise?: SignRule }
  >
>;

const SIGNS_FILE = fileURLToPath(new URL('../../data/signs.json', import.meta.url));

/** The rules of data/signs.json, which says why each of its steps is there. */
export function readSignRules(): SignRules {
  return readChecked<SignRules>(SIGNS_FILE, 'INTERNAL');
}

/** Sign of all outputs of a neuron: that of the first step whose every condition it meets. */
export function signOf(rules: SignRules, rule: SignRule, neuron: SignedNeuron): 1 | -1 {
  const { steps, otherwise } = rules[rule];
  for (const { when, sign } of steps) {
    if (meets(neuron, when)) {
      return sign;
    }
  }
  if (otherwise === undefined) {
    throw new Error(`no step of the sign rule ${rule} applies to ${JSON.stringify(neuron)}`);
  }
  return signOf(rules, otherwise, neuron);
}

function meets(neuron: SignedNeuron, when: SignStep['when']): boolean {
  for (const [member, values] of Object.entries(when)) {
    if (!values.includes(neuron[member as keyof SignedNeuron])) {
      return false;
    }
  }
  return true;
}
