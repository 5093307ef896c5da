import { type Brain, FLYWIRE_783 } from '../../src/tools/compiler/brain.js';

export interface SmallNeuron {
  readonly id: string;
  readonly type?: string;
  readonly side?: string;
  readonly superClass?: string;
  readonly class?: string;
  readonly subClass?: string;
  readonly predictedSign?: number;
  readonly correctedSign?: number;
  readonly positionNm?: readonly [number, number, number];
}

/** Presynaptic id, postsynaptic id, synapses. */
export type SmallConnection = readonly [string, string, number];

/** A brain written down in a test; labels that are not given are plain: type T, left, central, excitatory. */
export function smallBrain(neurons: readonly SmallNeuron[], connections: readonly SmallConnection[]): Brain {
  const sorted = [...neurons].sort((a, b) => (a.id < b.id ? -1 : 1));
  const indexOf = new Map(sorted.map(({ id }, i) => [id, i]));
  const rows = connections
    .map(([pre, post, synapses]) => [indexOf.get(pre)!, indexOf.get(post)!, synapses] as const)
    .sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  return {
    identity: FLYWIRE_783,
    neurons: {
      count: sorted.length,
      ids: sorted.map(({ id }) => id),
      labels: {
        type: sorted.map(({ type }) => type ?? 'T'),
        side: sorted.map(({ side }) => side ?? 'left'),
        super_class: sorted.map(({ superClass }) => superClass ?? 'central'),
        class: sorted.map((neuron) => neuron.class ?? ''),
        sub_class: sorted.map(({ subClass }) => subClass ?? ''),
      },
      signs: {
        predicted: Int8Array.from(sorted, ({ predictedSign }) => predictedSign ?? 1),
        corrected: Int8Array.from(
          sorted,
          ({ correctedSign, predictedSign }) => correctedSign ?? predictedSign ?? 1,
        ),
      },
      positionsNm: Int32Array.from(sorted.flatMap(({ positionNm }) => positionNm ?? [0, 0, 0])),
      positionEstimated: new Uint8Array(sorted.length),
    },
    connections: {
      count: rows.length,
      pre: Uint32Array.from(rows, ([pre]) => pre),
      post: Uint32Array.from(rows, ([, post]) => post),
      synapseCounts: Uint16Array.from(rows, ([, , synapses]) => synapses),
    },
    minimumSynapses: 5,
    sources: [{ file: 'hand.csv', sha256: '0'.repeat(64) }],
    provenance: ['Worked out by hand.'],
  };
}
