import { number, object, type Static } from '../../../engine/schema/json-schema.js';
import { DEFAULT_CONSTANTS } from '../../../engine/simulation/network.js';
import { type NetworkConstants, STEPS_PER_MS } from '../../../engine/stimulus/protocol.js';
import { stepsOf, TIME_STEP_MS } from '../fields.js';
import type { EditKind } from '../edit-kind.js';

const SCALE = { minimum: 0, maximum: 10 };

const MEMBERS = {
  synapse_mv: number('Added to the synaptic drive by one synapse, in mV.', {
    minimum: 0,
    maximum: 10,
    examples: [0.3],
  }),
  excitatory_scale: number('Multiplies the synapses of every excitatory neuron.', {
    ...SCALE,
    examples: [1.2],
  }),
  inhibitory_scale: number('Multiplies the synapses of every inhibitory neuron.', {
    ...SCALE,
    examples: [0.8],
  }),
  threshold_mv: number('A neuron spikes when its potential is above it, in mV; rest is at -52.', {
    minimum: -51.9,
    maximum: 0,
    examples: [-44],
  }),
  refractory_ms: number('Refractory period in ms; 0 acts as one step of 0.1 ms.', {
    multipleOf: TIME_STEP_MS,
    minimum: 0,
    maximum: 50,
    examples: [3],
  }),
  delay_ms: number('From a spike to its arrival, in ms.', {
    multipleOf: TIME_STEP_MS,
    minimum: TIME_STEP_MS,
    maximum: 20,
    examples: [1.5],
  }),
  input_event_mv: number('Added to the potential of a stimulated neuron by one input event, in mV.', {
    minimum: 0,
    maximum: 1000,
    examples: [50],
  }),
};
type Member = keyof typeof MEMBERS;
type Constants = Readonly<Record<Member, number>>;

const NAMES = Object.keys(MEMBERS) as Member[];

/** The constant of a protocol that each member sets. Times there are in steps; all other units are the same. */
const OF_PROTOCOL: Readonly<Record<Member, keyof NetworkConstants>> = {
  synapse_mv: 'synapseMv',
  excitatory_scale: 'excitatoryScale',
  inhibitory_scale: 'inhibitoryScale',
  threshold_mv: 'thresholdMv',
  refractory_ms: 'refractorySteps',
  delay_ms: 'delaySteps',
  input_event_mv: 'inputEventMv',
};

/** The values that an engine uses if a protocol names none. */
export const USUAL_CONSTANTS = Object.fromEntries(
  NAMES.map((name) => [name, DEFAULT_CONSTANTS[OF_PROTOCOL[name]] / (isTime(name) ? STEPS_PER_MS : 1)]),
) as Constants;

function isTime(name: Member): boolean {
  return name.endsWith('_ms');
}

const SCHEMA = object(
  'Constants of the network that differ from those of the model. Its time constants are fixed.',
  Object.fromEntries(Object.entries(MEMBERS).map(([name, schema]) => [`${name}?`, schema])) as {
    [K in Member as `${K}?`]: (typeof MEMBERS)[K];
  },
  {
    component: 'Constants',
    examples: [{ synapse_mv: 0.3 }],
    refused: {
      '^tau[a-z_]{0,30}$':
        'the time constants are fixed, because the bound by which the engine passes over neurons that cannot spike ' +
        'rests on their ratio',
    },
  },
);

/** Changes constants of the network. */
export const constants = {
  schema: SCHEMA,
  resolved: {
    schema: object(
      'All constants in force, if the experiment or the model changes one; of one that a sweep sets the parameters of each ' +
        'condition say more.',
      MEMBERS,
      { component: 'ConstantsInForce' },
    ),
    linesOf: (values: Constants) => [['constants', Object.entries(values).flat().join(' ')]],
  },
  words: (values, swept) =>
    Object.entries(values)
      .filter(([name]) => !swept.includes(parameterOf(name as Member)))
      .map(([name, value]) => `${name} ${value}`)
      .join(', '),
  numbers: () => Object.fromEntries(NAMES.map((name) => [parameterOf(name), MEMBERS[name]])),
  parsed: (values) => (Object.keys(values).length > 0 ? values : undefined),
  *planned({ grid, connectome }, given) {
    yield;
    const isSwept = NAMES.some((name) => grid.axisOf(parameterOf(name)) >= 0);
    const gainMv = connectome.metadata.synapseMv;
    if (given === undefined && !isSwept && gainMv === undefined) return {};
    const inForce: Constants = {
      ...USUAL_CONSTANTS,
      ...(gainMv !== undefined && { synapse_mv: gainMv }),
      ...given,
    };
    return {
      resolved: { constants: inForce },
      networkIn(valueOf) {
        const changed = NAMES.flatMap((name) => {
          const value = valueOf(parameterOf(name)) ?? inForce[name];
          if (value === USUAL_CONSTANTS[name]) return [];
          return [[OF_PROTOCOL[name], isTime(name) ? stepsOf(value) : value] as const];
        });
        return changed.length > 0 ? { constants: Object.fromEntries(changed) } : {};
      },
    };
  },
} satisfies EditKind<Static<typeof SCHEMA>>;

function parameterOf(name: Member): string {
  return `constants.${name}`;
}
