/**
 * Small tables in the layout of Codex, written as the real ones are: gzipped, two of them with CRLF. Tests
 * state the neurons and connections that matter to them; every other column gets a plain value.
 */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { PopulationDefinitions } from '../../src/tools/compiler/populations.js';
import { type ChannelKind, type Selector } from '../../src/engine/connectome/populations.js';
import { CHANNEL_IDS, STIMULUS_IDS } from '../../src/experiments/presets/populations.js';

export interface TableNeuron {
  readonly id: string;
  readonly transmitter?: string;
  /** da, ser, gaba, glut, ach, oct. */
  readonly averages?: readonly number[];
  readonly type?: string;
  readonly superClass?: string;
  readonly class?: string;
  readonly subClass?: string;
  readonly side?: string;
  readonly positionNm?: readonly [number, number, number];
}

/** pre, post, neuropil, synapses */
export type TableConnection = readonly [string, string, string, number];

export type TableTexts = Record<string, string>;

/** The five tables as texts, to be changed before they are written. */
export function tableTexts(
  neurons: readonly TableNeuron[],
  connections: readonly TableConnection[],
): TableTexts {
  const table = (lines: readonly (readonly (string | number)[])[], lineEnd: string) =>
    lines.map((line) => line.join(',') + lineEnd).join('');
  return {
    'neurons.csv.gz': table(
      [
        'root_id,group,nt_type,nt_type_score,da_avg,ser_avg,gaba_avg,glut_avg,ach_avg,oct_avg'.split(','),
        ...neurons.map((n) => [
          n.id,
          'GNG',
          n.transmitter ?? 'ACH',
          0.9,
          ...(n.averages ?? [0, 0, 0, 0, 0.9, 0]),
        ]),
      ],
      '\r\n',
    ),
    'classification.csv.gz': table(
      [
        'root_id,flow,super_class,class,sub_class,hemilineage,side,nerve'.split(','),
        ...neurons.map((n) => [
          n.id,
          'intrinsic',
          n.superClass ?? 'central',
          n.class ?? '',
          n.subClass ?? '',
          '',
          n.side ?? 'left',
          '',
        ]),
      ],
      '\r\n',
    ),
    'consolidated_cell_types.csv.gz': table(
      [
        ['root_id', 'primary_type', 'additional_type(s)'],
        ...neurons
          .filter((n) => n.type !== undefined)
          .map((n) => [n.id, n.type!.includes(',') ? `"${n.type!}"` : n.type!, '']),
      ],
      '\n',
    ),
    'coordinates.csv.gz': table(
      [
        ['root_id', 'position', 'supervoxel_id'],
        ...neurons
          .filter((n) => n.positionNm !== undefined)
          .map((n) => [n.id, `[${n.positionNm!.join(' ')}]`, '']),
      ],
      '\n',
    ),
    'connections.csv.gz': table(
      [
        ['pre_root_id', 'post_root_id', 'neuropil', 'syn_count', 'nt_type'],
        ...connections.map((each) => [...each, 'ACH']),
      ],
      '\n',
    ),
  };
}

/** @returns a new directory with the tables */
export function writeTables(texts: Record<string, string>): string {
  const dir = mkdtempSync(join(tmpdir(), 'tables-'));
  for (const [file, text] of Object.entries(texts)) {
    writeFileSync(join(dir, file), gzipSync(text));
  }
  return dir;
}

/**
 * Definitions in which all stimuli and channels have the same selectors, except the given ones, and all channels one
 * kind.
 */
export function populationsOf(
  everywhere: Selector,
  others: Partial<Record<string, readonly Selector[]>> = {},
  kind: ChannelKind = 'station',
): PopulationDefinitions {
  const definition = <Id extends string>(id: Id) => ({
    id,
    label: id,
    description: `The population ${id}.`,
    selectors: others[id] ?? [everywhere],
    citations: [{ text: 'Nobody 2000', doi: '10.1000/1', subject: 'nothing' }],
  });
  return {
    stimuli: STIMULUS_IDS.map((id) => ({ ...definition(id), nominalRateHz: 150 })),
    channels: CHANNEL_IDS.map((id) => ({ ...definition(id), kind })),
  };
}
