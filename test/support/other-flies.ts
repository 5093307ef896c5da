/** Tables of other flies, as their files are documented: columns, types and compression, with few neurons. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DataType, Field, Float64, Int32, Int64, List, Utf8 } from 'apache-arrow';
import { type FeatherColumn, writeFeather } from './feather.js';

const INT64 = new Int64();
const TEXT = new Utf8();

/** Values by column, a row after the other. */
export function columnsOf(
  types: Readonly<Record<string, DataType>>,
  rows: readonly Readonly<Record<string, unknown>>[],
): Record<string, FeatherColumn> {
  return Object.fromEntries(
    Object.entries(types).map(([name, type]) => [
      name,
      { type, values: rows.map((row) => row[name] ?? null) },
    ]),
  );
}

export const MALECNS_FILES = {
  annotations: 'body-annotations-male-cns-v1.0-minconf-0.5.feather',
  transmitters: 'body-neurotransmitters-male-cns-v1.0.feather',
  weights: 'connectome-weights-male-cns-v1.0-minconf-0.5.feather',
};

const ANNOTATIONS = {
  bodyId: INT64,
  status: TEXT,
  superclass: TEXT,
  class: TEXT,
  subclass: TEXT,
  type: TEXT,
  instance: TEXT,
  somaSide: TEXT,
  rootSide: TEXT,
  somaLocation: new List(new Field('item', INT64, true)),
  flywireType: TEXT,
  hemibrainType: TEXT,
  mancType: TEXT,
  itoleeHl: TEXT,
  trumanHl: TEXT,
};
const TRANSMITTERS = {
  body: INT64,
  total_nt_predictions: new Int32(),
  predicted_nt: TEXT,
  predicted_nt_confidence: new Float64(),
  consensus_nt: TEXT,
};
const WEIGHTS = { body_pre: INT64, body_post: INT64, weight: INT64 };

export interface MaleBody {
  readonly bodyId: number;
  readonly transmitter?: string;
  readonly somaLocation?: readonly number[];
  readonly [column: string]: unknown;
}

/** @returns a directory with the three files of MaleCNS 1.0 */
export function writeMaleCns(
  bodies: readonly MaleBody[],
  weights: readonly (readonly [pre: number, post: number, weight: number])[],
  rowsPerBatch = 400,
): string {
  const dir = mkdtempSync(join(tmpdir(), 'malecns-'));
  const write = (file: string, columns: Record<string, FeatherColumn>) =>
    writeFeather(file, columns, 'lz4', rowsPerBatch, dir);
  const annotated = bodies.map(({ bodyId, somaLocation, ...labels }) => ({
    ...labels,
    bodyId: BigInt(bodyId),
    somaLocation: somaLocation?.map(BigInt) ?? null,
  }));
  write(MALECNS_FILES.annotations, columnsOf(ANNOTATIONS, annotated));
  const transmitters = bodies
    .filter(({ transmitter }) => transmitter !== undefined)
    .map(({ bodyId, transmitter }) => ({
      body: BigInt(bodyId),
      total_nt_predictions: 10,
      predicted_nt: 'unclear',
      predicted_nt_confidence: 0.5,
      consensus_nt: transmitter,
    }));
  write(MALECNS_FILES.transmitters, columnsOf(TRANSMITTERS, transmitters));
  const rows = weights.map(([pre, post, weight]) => ({
    body_pre: BigInt(pre),
    body_post: BigInt(post),
    weight: BigInt(weight),
  }));
  write(MALECNS_FILES.weights, columnsOf(WEIGHTS, rows));
  return dir;
}

const META = Object.fromEntries(
  [
    'banc_888_id',
    'proofread',
    'roughly_proofread',
    'super_class',
    'cell_class',
    'cell_type',
    'side',
    'position',
    'neurotransmitter_predicted',
    'fafb_cell_type',
    'manc_cell_type',
    'malecns_cell_type',
  ].map((name) => [name, TEXT]),
);
const EDGES = { pre: TEXT, post: TEXT, count: new Int32(), norm: new Float64() };

/** @returns a directory with the two files of BANC 888, whose ids are text, compressed with Zstandard */
export function writeBanc(
  neurons: readonly Readonly<Record<string, string>>[],
  edges: readonly (readonly [pre: string, post: string, count: number])[],
): string {
  const dir = mkdtempSync(join(tmpdir(), 'banc-'));
  writeFeather('banc_888_meta.feather', columnsOf(META, neurons), 'zstd', 3, dir);
  const rows = edges.map(([pre, post, count]) => ({ pre, post, count, norm: 0.1 }));
  writeFeather('banc_888_edgelist_simple_v2.feather', columnsOf(EDGES, rows), 'zstd', 3, dir);
  return dir;
}
