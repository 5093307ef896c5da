import { sha256Hex } from '#platform';
import { FIELD_NAMES, FIELDS, type FieldName, type QUERY_FIELDS, type ValueOf } from './fields.js';
import type { Connectome, ConnectomeMetadata } from '../../engine/connectome/connectome.js';
import type { StimulusPopulation } from '../../engine/connectome/populations.js';
import { STEPS_PER_MS } from '../../engine/simulation/network.js';
import { type Protocol, v1Protocol } from '../../engine/stimulus/protocol.js';
import { STIMULUS_IDS, type StimulusId } from './populations.js';
import { CodedError, describeValue } from '../../engine/errors.js';

/**
 * A complete and valid request of version 1, with its members in the order of FIELDS. Equal experiments have equal results. No
 * number is -0.
 */
export type Experiment = { readonly [Name in FieldName]: ValueOf<(typeof FIELDS)[Name]> };

export type View = ValueOf<(typeof QUERY_FIELDS)['view']>;

/** Completes a valid request: missing fields get their defaults. */
export function experimentOf(request: Partial<Experiment>): Experiment {
  const complete = FIELD_NAMES.map((field) => {
    const value = request[field] ?? FIELDS[field].default;
    // Adding 0 turns -0 into 0, so that equal requests have equal ids.
    return [field, typeof value === 'number' ? value + 0 : value];
  });
  return Object.fromEntries(complete) as unknown as Experiment;
}

export const DEFAULT_EXPERIMENT = experimentOf({});

/** Part of every run's id. Increment it if any result may change. */
export const ENGINE_VERSION = '2';

const ID_HEX_DIGITS = 32;

/**
 * The id of a run and of its result: the first 32 hex digits of a SHA-256. The hashed text has a line for the connectome's
 * digest, one for the version of the engine and one for each field; each ends with a line feed. Equal requests have equal ids
 * on every machine, and a client can compute them itself.
 */
export function runId(connectomeDigest: string, experiment: Experiment): string {
  const lines = [connectomeDigest, ENGINE_VERSION, ...FIELD_NAMES.map((name) => experiment[name])];
  return sha256Hex(lines.map((line) => `${line}\n`).join('')).slice(0, ID_HEX_DIGITS);
}

/** Where a connectome describes its stimuli: each is a population of neurons with a rate. */
type Presets = Pick<ConnectomeMetadata, 'stimuli' | 'types'>;

/** The stimuli of version 1 that a connectome defines, in the order of the contract. It may define others as well. */
export function availableStimuli({ stimuli }: Presets): StimulusId[] {
  return STIMULUS_IDS.filter((stimulus) => stimuli.some(({ id }) => id === stimulus));
}

/**
 * The population that a stimulus excites; undefined for the stimulus `none`.
 * @throws CodedError STIMULUS_UNAVAILABLE if the connectome lacks it
 */
export function presetOf(
  metadata: Presets,
  stimulus: Experiment['stimulus'],
): StimulusPopulation | undefined {
  if (stimulus === 'none') return undefined;
  const preset = metadata.stimuli.find(({ id }) => id === stimulus);
  if (preset !== undefined) return preset;
  const available = availableStimuli(metadata);
  const isUntyped = metadata.types.every(({ name }) => name === '');
  throw new CodedError(
    'STIMULUS_UNAVAILABLE',
    `stimulus must be ${available.length > 0 ? 'one of ' : ''}${[...available, 'none'].join(', ')} for the ` +
      `loaded connectome, got ${describeValue(stimulus)}` +
      (isUntyped
        ? ': it was compiled without cell types, so it defines no stimuli.'
        : ', which it does not define.'),
  );
}

/**
 * Converts a run to the protocol of a trial.
 * @throws CodedError STIMULUS_UNAVAILABLE
 */
export function protocolOf(connectome: Connectome, experiment: Experiment): Protocol {
  const { stimulus, duration_ms: durationMs, intensity, seed } = experiment;
  const durationSteps = durationMs * STEPS_PER_MS;
  const preset = presetOf(connectome.metadata, stimulus);
  const synapseMv = connectome.metadata.synapseMv;
  const gain = synapseMv === undefined ? {} : { constants: { synapseMv } };
  if (preset === undefined) return { inputs: [], silenced: new Uint32Array(0), durationSteps, ...gain };
  const train = { nominalRateHz: preset.nominalRateHz, intensity, seed };
  return { ...v1Protocol(connectome.stimulusNeurons(preset.id), train, durationSteps), ...gain };
}

/** The default run, with a stimulus that the connectome has. For probe runs and benchmarks. */
export function trialExperiment(metadata: Presets): Experiment {
  return { ...DEFAULT_EXPERIMENT, stimulus: availableStimuli(metadata)[0] ?? 'none' };
}
