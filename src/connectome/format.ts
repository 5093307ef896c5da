/** Writes and opens connectome files; sections.ts defines the layout. */
import { createHash } from 'node:crypto';
import { describeValue } from '../errors.js';
import { type Connectome, type ConnectomeMetadata, MAXIMUM_NEURONS } from './connectome.js';
import { metadataFault } from './metadata.js';
import {
  connectomeOf,
  DIGEST_BYTES,
  DIGEST_OFFSET,
  encodeSections,
  FORMAT_VERSION,
  HEADER_BYTES,
  invalid,
  latin1,
  LENGTH_OFFSET,
  MAGIC,
  parseMetadata,
  readSections,
  type Section,
  type SectionName,
  SECTIONS,
  type Sections,
  storedDigest,
  VERSION_OFFSET,
} from './sections.js';

/** The content of a file, from which its other sections are computed. */
export interface ConnectomeContent extends Omit<
  Sections,
  'metadata' | 'idStart' | 'idText' | 'populationStart' | 'populationNeurons'
> {
  readonly metadata: ConnectomeMetadata;
  readonly neuronIds: readonly string[];
  /** One list for each stimulus, then one for each channel, in the order of the metadata. */
  readonly populations: readonly Uint32Array[];
}

/**
 * Writes a connectome as the bytes of a file.
 * The result depends only on the content, so equal tables give equal files everywhere.
 */
export function encodeConnectome(content: ConnectomeContent): Uint8Array<ArrayBuffer> {
  const { metadata, neuronIds, populations, ...columns } = content;
  const encoder = new TextEncoder();
  const ids = joined(neuronIds.map((id) => encoder.encode(id)));
  const lists = joined(populations);
  const file = encodeSections({
    ...columns,
    metadata: encoder.encode(JSON.stringify(metadata)),
    idStart: ids.start,
    idText: Uint8Array.from(ids.values),
    populationStart: lists.start,
    populationNeurons: lists.values,
  });
  file.set(digestOf(file), DIGEST_OFFSET);
  return file;
}

/**
 * Checks all bytes of a connectome file and opens it without a copy.
 * @param buffer shared between threads when it is a SharedArrayBuffer
 * @throws CodedError CONNECTOME_INVALID with what was expected and what was found
 */
export function openConnectome(buffer: ArrayBuffer | SharedArrayBuffer): Connectome {
  const bytes = new Uint8Array(buffer);
  if (bytes.length < HEADER_BYTES) {
    throw invalid(`expected at least ${HEADER_BYTES} bytes, found ${bytes.length}`);
  }
  const magic = latin1(bytes.subarray(0, MAGIC.length));
  if (magic !== MAGIC) {
    throw invalid(
      `expected it to begin with ${describeValue(MAGIC)}, found ${describeValue(magic)}: this is another kind of file`,
    );
  }
  const view = new DataView(buffer);
  const version = view.getUint32(VERSION_OFFSET, true);
  if (version !== FORMAT_VERSION) {
    throw invalid(
      `expected format version ${FORMAT_VERSION}, found ${version}; compile it again, ` +
        'npm run model:compile -- --help says how',
    );
  }
  const length = view.getBigUint64(LENGTH_OFFSET, true);
  if (length !== BigInt(bytes.length)) {
    throw invalid(`its header gives a length of ${length} bytes, found ${bytes.length}`);
  }
  const promised = storedDigest(buffer);
  const actual = Buffer.from(digestOf(bytes)).toString('hex');
  if (actual !== promised) {
    throw invalid(`its header gives the digest ${promised}, its content has ${actual}`);
  }
  const sections = readSections(buffer);
  const metadata = parseMetadata(sections);
  const fault = metadataFault(metadata);
  if (fault !== null) throw invalid(fault);
  checkContent(sections, metadata as ConnectomeMetadata);
  return connectomeOf(buffer, sections, metadata as ConnectomeMetadata);
}

/** Checks the content for consistency. The digest proves only that the file has not changed since it was written. */
function checkContent(sections: Sections, metadata: ConnectomeMetadata): void {
  const { neuronCount } = metadata;
  if (neuronCount === 0 || neuronCount > MAXIMUM_NEURONS) {
    throw invalid(`expected 1 to ${MAXIMUM_NEURONS} neurons, found ${describeValue(neuronCount)}`);
  }
  const rules = Object.entries(SECTIONS) as [SectionName, Section][];
  for (const [name, { length }] of rules) {
    const expected = length?.(metadata);
    const found = sections[name].length;
    if (expected !== undefined && found !== expected) {
      throw invalid(`section ${name} should have ${expected} elements, found ${found}`);
    }
  }
  for (const [name, { from, below, startsIn }] of rules) {
    if (startsIn !== undefined) checkStarts(name, sections[name], sections[startsIn as SectionName].length);
    if (below !== undefined) checkRange(name, sections[name], from, below(metadata));
  }
  checkRows(sections, neuronCount);
  let synapses = 0;
  for (let k = 0; k < sections.synapseCounts.length; k++) synapses += sections.synapseCounts[k]!;
  if (synapses !== metadata.synapseCount) {
    throw invalid(`its metadata gives ${metadata.synapseCount} synapses, its connections have ${synapses}`);
  }
  checkPopulations(sections, metadata);
}

/** Ascending targets also mean that no pair of neurons has two connections. */
function checkRows({ rowStart, targets }: Sections, neuronCount: number): void {
  for (let i = 0; i < neuronCount; i++) {
    for (let k = rowStart[i]! + 1; k < rowStart[i + 1]!; k++) {
      if (targets[k]! <= targets[k - 1]!) {
        throw invalid(
          `expected the targets of neuron ${i} to ascend, found ${targets[k]!} after ${targets[k - 1]!}`,
        );
      }
    }
  }
}

function checkPopulations(
  { populationStart, populationNeurons }: Sections,
  { stimuli, channels }: ConnectomeMetadata,
): void {
  [...stimuli, ...channels].forEach(({ id, neuronCount }, k) => {
    const neurons = populationNeurons.subarray(populationStart[k]!, populationStart[k + 1]!);
    const distinct = new Set(neurons).size;
    if (neurons.length !== neuronCount || distinct !== neuronCount) {
      throw invalid(
        `expected ${neuronCount} different neurons in the population ${id}, found ${distinct} in a list of ${neurons.length}`,
      );
    }
  });
}

function checkStarts(name: string, starts: ArrayLike<number>, end: number): void {
  let previous = 0;
  for (let i = 0; i < starts.length; i++) {
    const start = starts[i]!;
    const isWrongEnd = (i === 0 && start !== 0) || (i === starts.length - 1 && start !== end);
    if (start < previous || start > end || isWrongEnd) {
      throw invalid(`section ${name} should rise from 0 to ${end}, found ${start} at ${i}`);
    }
    previous = start;
  }
}

function checkRange(name: string, values: ArrayLike<number>, from = 0, limit: number): void {
  for (let i = 0; i < values.length; i++) {
    if (values[i]! < from || values[i]! >= limit) {
      const allowed = from === 0 ? `below ${limit}` : `from ${from} and below ${limit}`;
      throw invalid(`expected values ${allowed} in section ${name}, found ${values[i]!} at ${i}`);
    }
  }
}

function joined(lists: readonly ArrayLike<number>[]): { start: Uint32Array; values: Uint32Array } {
  const start = new Uint32Array(lists.length + 1);
  lists.forEach((list, i) => (start[i + 1] = start[i]! + list.length));
  const values = new Uint32Array(start[lists.length]!);
  lists.forEach((list, i) => values.set(list, start[i]!));
  return { start, values };
}

function digestOf(file: Uint8Array): Uint8Array {
  return createHash('sha256')
    .update(file.subarray(0, DIGEST_OFFSET))
    .update(file.subarray(DIGEST_OFFSET + DIGEST_BYTES))
    .digest();
}
