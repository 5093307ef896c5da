import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeConnectome, type ConnectomeContent } from '../../src/engine/connectome/format.js';
import { type ChannelKind } from '../../src/engine/connectome/populations.js';
import type { ChannelId, StimulusId } from '../../src/experiments/presets/populations.js';
import { PhiloxSequence } from '../../src/engine/stimulus/philox.js';

/**
 * The populations of a made-up brain for tests of the rooms above the engine; a run takes a few milliseconds. They are
 * not those that the service knows today: a new stimulus or channel would move every neuron that tests name.
 */
export const SMALL_STIMULI = [
  'sugar',
  'loom',
  'food',
  'touch',
  'song',
  'pheromone',
  'colour',
  'humid',
  'heat',
  'bitter',
] as const satisfies readonly StimulusId[];
export const SMALL_CHANNELS = [
  'escape',
  'walk',
  'turn_left',
  'turn_right',
  'stop',
  'backward',
  'landing',
  'wing',
  'groom',
  'proboscis',
  'courtship',
  'descending',
  'motor',
  'food_relay',
  'pheromone_relay',
  'song_relay',
  'touch_relay',
  'colour_relay',
  'humid_relay',
  'heat_relay',
  'bitter_relay',
] as const satisfies readonly ChannelId[];

const STIMULUS_NEURONS = 12;
const CHANNEL_NEURONS = 4;
const INTERNEURONS = 100;
const PARTNERS = 12;
const CITATIONS = [{ text: 'Nobody 2000', doi: '10.1000/1', subject: 'nothing' }];

const NEURONS =
  SMALL_STIMULI.length * STIMULUS_NEURONS + SMALL_CHANNELS.length * CHANNEL_NEURONS + INTERNEURONS;

/**
 * Each stimulus excites interneurons, these excite one another and the channels, and a fifth of them inhibit.
 * Wiring is drawn from a fixed key, so the bytes never change.
 */
export function smallConnectome(): ConnectomeContent {
  const stimulus = (index: number) => range(index * STIMULUS_NEURONS, STIMULUS_NEURONS);
  const firstChannelNeuron = SMALL_STIMULI.length * STIMULUS_NEURONS;
  const channel = (index: number) => range(firstChannelNeuron + index * CHANNEL_NEURONS, CHANNEL_NEURONS);
  const firstInterneuron = firstChannelNeuron + SMALL_CHANNELS.length * CHANNEL_NEURONS;
  const random = new PhiloxSequence(7, 0, 2);

  const rowStart = new Uint32Array(NEURONS + 1);
  const targets: number[] = [];
  const synapseCounts: number[] = [];
  const signs = new Int8Array(NEURONS).fill(1);
  for (let pre = 0; pre < NEURONS; pre++) {
    const isInterneuron = pre >= firstInterneuron;
    if (isInterneuron && random.nextBelow(5) === 0) signs[pre] = -1;
    const partners = new Set<number>();
    while (partners.size < PARTNERS) {
      const post = isInterneuron
        ? firstChannelNeuron + random.nextBelow(NEURONS - firstChannelNeuron)
        : firstInterneuron + random.nextBelow(INTERNEURONS);
      partners.add(post);
    }
    for (const post of [...partners].sort((a, b) => a - b)) {
      targets.push(post);
      synapseCounts.push(5 + random.nextBelow(40));
    }
    rowStart[pre + 1] = targets.length;
  }

  const types = [
    ...SMALL_STIMULI.map((id) => ({ name: `S_${id}`, superClass: 'sensory' })),
    ...SMALL_CHANNELS.map((id) => ({
      name: `C_${id}`,
      superClass: kindOf(id) === 'station' ? 'central' : kindOf(id),
    })),
    { name: '', superClass: 'central' },
  ];
  const typeIndices = Uint16Array.from({ length: NEURONS }, (_, i) => {
    if (i < firstChannelNeuron) return Math.floor(i / STIMULUS_NEURONS);
    if (i < firstInterneuron) {
      return SMALL_STIMULI.length + Math.floor((i - firstChannelNeuron) / CHANNEL_NEURONS);
    }
    return types.length - 1;
  });
  return {
    metadata: {
      name: 'Small test brain',
      dataset: 'FlyWire FAFB',
      release: 783,
      wiring: 'synthetic',
      signRule: 'corrected',
      minimumSynapses: 5,
      neuronCount: NEURONS,
      connectionCount: targets.length,
      synapseCount: synapseCounts.reduce((sum, count) => sum + count, 0),
      provenance: ['Made up for tests.'],
      sources: [],
      types,
      classes: [
        { superClass: 'sensory', class: 'made_up', subClass: '' },
        { superClass: 'descending', class: '', subClass: '' },
        { superClass: 'central', class: '', subClass: 'inter' },
      ],
      stimuli: SMALL_STIMULI.map((id) => ({
        id,
        label: `Stimulus ${id}`,
        description: 'Made up for tests.',
        selectors: [{ type: `S_${id}` }],
        citations: CITATIONS,
        neuronCount: STIMULUS_NEURONS,
        nominalRateHz: 150,
      })),
      channels: SMALL_CHANNELS.map((id) => ({
        id,
        kind: kindOf(id),
        label: `Channel ${id}`,
        description: 'Made up for tests.',
        selectors: [{ type: `C_${id}` }],
        citations: CITATIONS,
        neuronCount: CHANNEL_NEURONS,
      })),
    },
    rowStart,
    targets: Uint32Array.from(targets),
    synapseCounts: Uint16Array.from(synapseCounts),
    signs,
    typeIndices,
    classIndices: Uint16Array.from({ length: NEURONS }, (_, i) =>
      i < firstChannelNeuron ? 0 : i < firstInterneuron ? 1 : 2,
    ),
    sides: Uint8Array.from({ length: NEURONS }, (_, i) => i % 2),
    positionsNm: Int32Array.from({ length: 3 * NEURONS }, () => random.nextBelow(800_000)),
    positionEstimated: Uint8Array.from({ length: NEURONS }, (_, i) => (i % 50 === 0 ? 1 : 0)),
    neuronIds: Array.from({ length: NEURONS }, (_, i) => `N_${String(i).padStart(4, '0')}`),
    populations: [...SMALL_STIMULI.map((_, i) => stimulus(i)), ...SMALL_CHANNELS.map((_, i) => channel(i))],
  };
}

function kindOf(id: ChannelId): ChannelKind {
  if (id.endsWith('_relay')) return 'station';
  return id === 'motor' || id === 'proboscis' ? 'motor' : 'descending';
}

/** Writes the small connectome to a file of its own, and returns its path. */
export function smallConnectomeFile(): string {
  const path = join(mkdtempSync(join(tmpdir(), 'small-connectome-')), 'small.connectome');
  writeFileSync(path, encodeConnectome(smallConnectome()));
  return path;
}

function range(from: number, length: number): Uint32Array {
  return Uint32Array.from({ length }, (_, i) => from + i);
}
