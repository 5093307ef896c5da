/** Writes and opens connectome files; sections.ts defines the layout. */
import { sha256 } from '#platform';
import { hexOf, latin1 } from '../bytes.js';
import { describeValue } from '../errors.js';
import { type Connectome, type ConnectomeMetadata, MAX_NEURONS } from './connectome.js';
import { metadataFault } from './metadata.js';
import {
  connectomeOf,
  DIGEST_BYTES,
  DIGEST_OFFSET,
  encodeSections,
  FORMAT_VERSION,
  HEADER_BYTES,
  invalid,
  LENGTH_OFFSET,
  MAGIC,
  parseMetadata,
  readSections,
  type Section,
  sectionNames,
  type SectionName,
  SECTIONS,
  type Sections,
  storedDigest,
  VERSION_OFFSET,
} from './sections.js';

/** The content of a file. The remaining sections are computed from it. */
export interface ConnectomeContent extends Omit<
  Sections,
  'metadata' | 'idStart' | 'idText' | 'populationStart' | 'populationNeurons'
> {
  readonly metadata: ConnectomeMetadata;
  /** If true, the digest depends only on the content, and not on the files that it was compiled from. */
  readonly hasContentDigest?: boolean;
  readonly neuronIds: readonly string[];
  /** A list for each stimulus, then a list for each channel, in the order of the metadata. */
  readonly populations: readonly Uint32Array[];
}

/**
 * Encodes a connectome as the bytes of a file. The result depends only on the content, so equal tables give equal files
 * on every machine.
 */
export function encodeConnectome(content: ConnectomeContent): Uint8Array<ArrayBuffer> {
  const { metadata, hasContentDigest = false, neuronIds, populations, ...columns } = content;
  const encoder = new TextEncoder();
  const ids = joined(neuronIds.map((id) => encoder.encode(id)));
  const lists = joined(populations);
  const sections = {
    ...columns,
    idStart: ids.start,
    idText: Uint8Array.from(ids.values),
    populationStart: lists.start,
    populationNeurons: lists.values,
  };
  const named = hasContentDigest
    ? { ...metadata, contentDigest: hexOf(sha256(...contentParts(sections, metadata))) }
    : metadata;
  const file = encodeSections({ ...sections, metadata: encoder.encode(JSON.stringify(named)) });
  file.set(sha256(...digestedParts(file)), DIGEST_OFFSET);
  return file;
}

/** Parts of a digest, in order. */
type Parts = readonly (string | Uint8Array)[];

/**
 * Checks all bytes of a connectome file and opens it without a copy.
 * @param buffer threads can share the connectome if this is a SharedArrayBuffer
 * @throws CodedError CONNECTOME_INVALID with the expected value and the value found
 */
export function openConnectome(buffer: ArrayBuffer | SharedArrayBuffer): Connectome {
  const opening = openingOf(buffer);
  let next = opening.next();
  while (next.done !== true) next = opening.next(sha256(...next.value));
  return next.value;
}

/**
 * The same, for a platform that hashes faster in another thread.
 * @param hash SHA-256 of all parts
 */
export async function openConnectomeWith(
  hash: (...parts: Parts) => Promise<Uint8Array>,
  buffer: ArrayBuffer,
): Promise<Connectome> {
  const opening = openingOf(buffer);
  let next = opening.next();
  while (next.done !== true) next = opening.next(await hash(...next.value));
  return next.value;
}

/** Yields what it needs the SHA-256 of. */
function* openingOf(buffer: ArrayBuffer | SharedArrayBuffer): Generator<Parts, Connectome, Uint8Array> {
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
  const actual = hexOf(yield digestedParts(bytes));
  if (actual !== promised) {
    throw invalid(`its header gives the digest ${promised}, its content has ${actual}`);
  }
  const sections = readSections(buffer);
  const metadata = parseMetadata(sections);
  const fault = metadataFault(metadata);
  if (fault !== null) throw invalid(fault);
  checkContent(sections, metadata as ConnectomeMetadata);
  const { contentDigest } = metadata as ConnectomeMetadata;
  if (contentDigest !== undefined) {
    const found = hexOf(yield contentParts(sections, metadata as ConnectomeMetadata));
    if (found !== contentDigest)
      throw invalid(`its metadata gives the content digest ${contentDigest}, found ${found}`);
  }
  return connectomeOf(buffer, sections, metadata as ConnectomeMetadata);
}

type Rule = readonly [name: string, section: Section, values: ArrayLike<number>];

/** A shuffle within super-classes has a deck for each pair of them. */
export const MAX_SUPER_CLASSES = 1000;

/** Checks that the content is consistent. The digest proves only that the file has not changed since it was written. */
function checkContent(sections: Sections, metadata: ConnectomeMetadata): void {
  const { neuronCount } = metadata;
  if (neuronCount === 0 || neuronCount > MAX_NEURONS) {
    throw invalid(`expected 1 to ${MAX_NEURONS} neurons, found ${describeValue(neuronCount)}`);
  }
  const superClasses = new Set(metadata.classes.map(({ superClass }) => superClass)).size;
  if (superClasses > MAX_SUPER_CLASSES)
    throw invalid(`expected at most ${MAX_SUPER_CLASSES} super-classes, found ${superClasses}`);
  const rules = sectionNames(sections).map((name): Rule => [name, SECTIONS[name], sections[name]!]);
  for (const [name, { length }, { length: found }] of rules) {
    const expected = length?.(metadata);
    if (expected !== undefined && found !== expected) {
      throw invalid(`section ${name} should have ${expected} elements, found ${found}`);
    }
  }
  for (const [name, { from, below, startsIn }, values] of rules) {
    if (startsIn !== undefined) checkStarts(name, values, sections[startsIn as SectionName].length);
    if (below !== undefined) checkRange(name, values, from, below(metadata));
  }
  checkRows(sections, neuronCount);
  checkProbabilities(sections);
  const { minimumSynapses } = metadata;
  let synapses = 0;
  for (let k = 0; k < sections.synapseCounts.length; k++) {
    const count = sections.synapseCounts[k]!;
    synapses += count;
    if (count < minimumSynapses)
      throw invalid(`its metadata gives at least ${minimumSynapses} synapses, a connection has ${count}`);
  }
  if (synapses !== metadata.synapseCount) {
    throw invalid(`its metadata gives ${metadata.synapseCount} synapses, its connections have ${synapses}`);
  }
  checkPopulations(sections, metadata);
}

/** Checks rows. Ascending targets also mean that no pair of neurons has two connections. */
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

function checkProbabilities({ signProbabilities = new Uint8Array(0) }: Sections): void {
  for (let i = 0; i < signProbabilities.length; i += 2) {
    const sum = signProbabilities[i]! + signProbabilities[i + 1]!;
    if (sum > 255)
      throw invalid(`expected sign probabilities of up to 255 for neuron ${i / 2}, found ${sum}`);
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

/**
 * The content digest covers all data that a run can depend on. It leaves out the files that the connectome was compiled
 * from, because their line ends, compression and order of columns do not matter.
 */
function contentParts(sections: Omit<Sections, 'metadata'>, metadata: ConnectomeMetadata): Parts {
  const { provenance: _, sources: __, contentDigest: ___, ...content } = metadata;
  const parts: (string | Uint8Array)[] = [JSON.stringify(content)];
  for (const name of sectionNames({ ...sections, metadata: new Uint8Array(0) })) {
    if (name === 'metadata') continue;
    const { buffer, byteOffset, byteLength } = sections[name]!;
    parts.push(`\n${name} ${byteLength}\n`, new Uint8Array(buffer, byteOffset, byteLength));
  }
  return parts;
}

/** The digest of a file covers every byte except itself. */
function digestedParts(file: Uint8Array): Parts {
  return [file.subarray(0, DIGEST_OFFSET), file.subarray(DIGEST_OFFSET + DIGEST_BYTES)];
}
