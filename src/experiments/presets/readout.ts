/**
 * Counts the spikes of a run of version 1 in one pass: in total, for each channel, for each frame and for each cell type.
 */
import { sha256Hex } from '#platform';
import type { CellType, Connectome } from '../../engine/connectome/connectome.js';
import { rowsByKey } from '../../engine/connectome/rows.js';
import { firstNotBelow } from '../../engine/connectome/sorted-array.js';
import { STEPS_PER_MS } from '../../engine/simulation/network.js';
import type { SpikeRaster } from '../../engine/simulation/simulation.js';

export const FRAME_MS = 5;
export const MAX_TOP_TYPES = 20;
const FRAME_STEPS = FRAME_MS * STEPS_PER_MS;

/** Rates in Hz by channel, in the order of the connectome's channels. */
export type Rates = Readonly<Record<string, number>>;
export type Result = ReturnType<Readout['read']>;
export type DetailedResult = ReturnType<Readout['readInDetail']>;
/** Counts of spikes, by channel in each frame and by type. */
interface Counted {
  readonly responding: number;
  readonly ofFrames: readonly Uint32Array[];
  readonly types: readonly { readonly type: number; readonly spikes: number; readonly responding: number }[];
}

/** The name of a type in top_types. Neurons without a type are grouped by super-class. */
export function labelOfType({ name, superClass }: CellType): string {
  return name || `untyped ${superClass}`.trim();
}

/** Reads rasters of one connectome. It reuses its counters, so use it for one raster at a time. */
export class Readout {
  readonly #channelIds: readonly string[];
  /** Channels of neuron i: #channels from #firstChannel[i] up to, not including, #firstChannel[i + 1]. */
  readonly #firstChannel: Uint32Array;
  readonly #channels: Uint16Array;
  readonly #channelSizes: readonly number[];
  readonly #typeSizes: Uint32Array;
  readonly #typeLabels: readonly string[];
  readonly #hasSpiked: Uint8Array;
  readonly #typeSpikes: Uint32Array;
  readonly #typeResponding: Uint32Array;

  constructor(private readonly connectome: Connectome) {
    const typeCount = connectome.metadata.types.length;
    this.#channelIds = connectome.metadata.channels.map(({ id }) => id);
    const members = this.#channelIds.map((id) => connectome.channelNeurons(id));
    this.#channelSizes = members.map(({ length }) => length);
    const channelOf = members.flatMap((neurons, channel) => Array.from(neurons, () => channel));
    const neurons = Uint32Array.from(members.flatMap((each) => [...each]));
    const { start, items } = rowsByKey(neurons, connectome.neuronCount);
    this.#firstChannel = start;
    this.#channels = Uint16Array.from(items, (item) => channelOf[item]!);
    this.#typeSizes = new Uint32Array(typeCount);
    for (const type of connectome.typeIndices) this.#typeSizes[type]!++;
    this.#typeLabels = connectome.metadata.types.map(labelOfType);
    this.#hasSpiked = new Uint8Array(connectome.neuronCount);
    this.#typeSpikes = new Uint32Array(typeCount);
    this.#typeResponding = new Uint32Array(typeCount);
  }

  /** Counts and rates of the whole run: the content of view=drive. */
  read({ neurons }: Pick<SpikeRaster, 'neurons'>, durationMs: number) {
    return this.#summary(neurons.length, durationMs, this.#count(neurons, [neurons.length]));
  }

  /** The same with frames and cell types: the content of view=full. */
  readInDetail({ steps, neurons }: SpikeRaster, durationMs: number, stimulated: Uint32Array) {
    const ends = Array.from({ length: durationMs / FRAME_MS }, (_, frame) =>
      firstNotBelow(steps, (frame + 1) * FRAME_STEPS),
    );
    const counted = this.#count(neurons, ends);
    return {
      ...this.#summary(neurons.length, durationMs, counted),
      // The spikes of a frame are [from, to) of the raster.
      frames: ends.map((to, frame) => ({
        tMs: frame * FRAME_MS,
        rates: this.#rates(counted.ofFrames[frame]!, FRAME_MS),
        from: ends[frame - 1] ?? 0,
        to,
      })),
      topTypes: this.#topTypes(counted.types, durationMs, stimulated),
    };
  }

  /** @param ends the end of the spikes of each frame */
  #count(neurons: Uint32Array, ends: readonly number[]) {
    const { typeIndices } = this.connectome;
    const ofFrames = ends.map(() => new Uint32Array(this.#channelIds.length));
    const activeTypes: number[] = [];
    let [responding, spike] = [0, 0];
    ends.forEach((end, frame) => {
      const counts = ofFrames[frame]!;
      for (; spike < end; spike++) {
        const i = neurons[spike]!;
        const type = typeIndices[i]!;
        if (this.#typeSpikes[type]!++ === 0) activeTypes.push(type);
        if (this.#hasSpiked[i] === 0) {
          this.#hasSpiked[i] = 1;
          this.#typeResponding[type]!++;
          responding++;
        }
        const lastChannel = this.#firstChannel[i + 1]!;
        for (let k = this.#firstChannel[i]!; k < lastChannel; k++) counts[this.#channels[k]!]!++;
      }
    });
    const types = activeTypes.map((type) => ({
      type,
      spikes: this.#typeSpikes[type]!,
      responding: this.#typeResponding[type]!,
    }));
    for (const i of neurons) this.#hasSpiked[i] = 0;
    for (const type of activeTypes) this.#typeSpikes[type] = this.#typeResponding[type] = 0;
    return { responding, ofFrames, types };
  }

  #summary(total: number, durationMs: number, { responding, ofFrames }: Counted) {
    const counts = new Uint32Array(this.#channelIds.length).map((_, channel) =>
      ofFrames.reduce((sum, ofFrame) => sum + ofFrame[channel]!, 0),
    );
    return {
      total,
      responding,
      /** Mean over the neurons with at least one spike. */
      meanRateHz: responding === 0 ? 0 : meanRateHz(total, responding, durationMs),
      rates: this.#rates(counts, durationMs),
    };
  }

  #rates(counts: Uint32Array, durationMs: number): Rates {
    const rates: Record<string, number> = {};
    this.#channelIds.forEach((id, channel) => {
      rates[id] = meanRateHz(counts[channel]!, this.#channelSizes[channel]!, durationMs);
    });
    return rates;
  }

  /** The types with most spikes, in the form of a response. */
  #topTypes(types: Counted['types'], durationMs: number, stimulated: Uint32Array) {
    const { metadata, typeIndices } = this.connectome;
    const labels = this.#typeLabels;
    // Compares by code unit, because the order of a locale differs between machines.
    const top = types
      .toSorted((a, b) => b.spikes - a.spikes || (labels[a.type]! < labels[b.type]! ? -1 : 1))
      .slice(0, MAX_TOP_TYPES);
    const stimulatedOf = new Uint32Array(labels.length);
    for (const i of stimulated) stimulatedOf[typeIndices[i]!]!++;
    return top.map(({ type, spikes, responding }) => ({
      type: labels[type]!,
      super_class: metadata.types[type]!.superClass,
      neurons: this.#typeSizes[type]!,
      /** Neurons of the type with at least one spike. */
      responding,
      spikes,
      /** Mean over all neurons of the type. */
      rate_hz: meanRateHz(spikes, this.#typeSizes[type]!, durationMs),
      stimulated: stimulatedOf[type]!,
    }));
  }
}

/** SHA-256 of a raster as little-endian uint32 pairs (step, neuron) in raster order, lower-case hex. */
export function rasterDigest({ steps, neurons }: SpikeRaster): string {
  const pairs = new Uint32Array(2 * steps.length);
  for (let spike = 0; spike < steps.length; spike++) {
    pairs[2 * spike] = steps[spike]!;
    pairs[2 * spike + 1] = neurons[spike]!;
  }
  return sha256Hex(new Uint8Array(pairs.buffer));
}

/** Rates in a response have 2 decimals: more would be noise, and short numbers keep responses small. */
export function roundRate(rateHz: number): number {
  return Math.round(rateHz * 100) / 100;
}

/** Spikes per neuron and second, rounded as in a response. */
function meanRateHz(spikes: number, neurons: number, durationMs: number): number {
  return roundRate((spikes * 1000) / (neurons * durationMs));
}
