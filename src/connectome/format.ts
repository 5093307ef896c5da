/**
 * The connectome file: one little-endian buffer that is its own in-memory form.
 *
 *   0   magic "NESCONN\n"                          8 bytes
 *   8   format version                             u32
 *  12   number of sections                         u32
 *  16   length of the file in bytes                u64
 *  24   zero                                       8 bytes
 *  32   SHA-256 of bytes 0..31 and 64..end         32 bytes
 *  64   section table: name (16 bytes ASCII, zero-padded), offset u64, length in bytes u64, for each section
 *       sections, each at a multiple of 64, zero-padded between
 *
 * The digest covers every byte but itself, so no altered file is ever opened. docs/connectome-format.md says
 * what each section holds.
 */
import { createHash } from 'node:crypto';
import { CodedError, shown } from '../errors.js';
import {
  type Connectome,
  type ConnectomeMetadata,
  MAXIMUM_NEURONS,
  MAXIMUM_SYNAPSES_PER_CONNECTION,
  SIDES,
} from './connectome.js';
import { metadataFault } from './metadata.js';

const MAGIC = 'NESCONN\n';
export const FORMAT_VERSION = 1;
const HEADER_BYTES = 64;
const DIGEST_OFFSET = 32;
const DIGEST_BYTES = 32;
const TABLE_ENTRY_BYTES = 32;
const NAME_BYTES = 16;
const ALIGNMENT = 64;

/** Sections of a file, in this order. `each` names what there is one element of. */
const SECTIONS = {
  metadata: Uint8Array,
  rowStart: Uint32Array,
  targets: Uint32Array,
  synapseCounts: Uint16Array,
  signs: Int8Array,
  typeIndices: Uint16Array,
  sides: Uint8Array,
  positionsNm: Int32Array,
  positionEstimated: Uint8Array,
  idStart: Uint32Array,
  idText: Uint8Array,
  populationStart: Uint32Array,
  populationNeurons: Uint32Array,
} as const;

type SectionName = keyof typeof SECTIONS;
interface Sections extends Record<SectionName, ArrayBufferView & { readonly length: number }> {
  readonly metadata: Uint8Array;
  readonly rowStart: Uint32Array;
  readonly targets: Uint32Array;
  readonly synapseCounts: Uint16Array;
  readonly signs: Int8Array;
  readonly typeIndices: Uint16Array;
  readonly sides: Uint8Array;
  readonly positionsNm: Int32Array;
  readonly positionEstimated: Uint8Array;
  readonly idStart: Uint32Array;
  readonly idText: Uint8Array;
  readonly populationStart: Uint32Array;
  readonly populationNeurons: Uint32Array;
}
const SECTION_NAMES = Object.keys(SECTIONS) as SectionName[];

/** What a compiler hands over to be written; the rest follows from it. */
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
 * Lays a connectome out as the bytes of a file.
 * The result depends on the content alone, so equal tables give equal files everywhere.
 */
export function encodeConnectome(content: ConnectomeContent): Uint8Array {
  const encoder = new TextEncoder();
  const ids = joined(content.neuronIds.map((id) => encoder.encode(id)));
  const populations = joined(content.populations);
  const sections: Sections = {
    metadata: encoder.encode(JSON.stringify(content.metadata)),
    rowStart: content.rowStart,
    targets: content.targets,
    synapseCounts: content.synapseCounts,
    signs: content.signs,
    typeIndices: content.typeIndices,
    sides: content.sides,
    positionsNm: content.positionsNm,
    positionEstimated: content.positionEstimated,
    idStart: ids.start,
    idText: Uint8Array.from(ids.values),
    populationStart: populations.start,
    populationNeurons: populations.values,
  };

  let end = align(HEADER_BYTES + SECTION_NAMES.length * TABLE_ENTRY_BYTES);
  const offsets = SECTION_NAMES.map((name) => {
    const offset = end;
    end = align(offset + sections[name].byteLength);
    return offset;
  });

  const file = new Uint8Array(end);
  const view = new DataView(file.buffer);
  file.set(encoder.encode(MAGIC), 0);
  view.setUint32(8, FORMAT_VERSION, true);
  view.setUint32(12, SECTION_NAMES.length, true);
  view.setBigUint64(16, BigInt(end), true);
  SECTION_NAMES.forEach((name, i) => {
    const section = sections[name];
    const offset = offsets[i]!;
    const entry = HEADER_BYTES + i * TABLE_ENTRY_BYTES;
    file.set(encoder.encode(name.slice(0, NAME_BYTES)), entry);
    view.setBigUint64(entry + NAME_BYTES, BigInt(offset), true);
    view.setBigUint64(entry + NAME_BYTES + 8, BigInt(section.byteLength), true);
    file.set(new Uint8Array(section.buffer, section.byteOffset, section.byteLength), offset);
  });
  file.set(digestOf(file), DIGEST_OFFSET);
  return file;
}

/**
 * Opens the bytes of a connectome file without copying them.
 * @param buffer shared between threads when it is a SharedArrayBuffer
 * @param options.verify false only for bytes that were already verified in this process, as in its workers
 * @throws CodedError CONNECTOME_INVALID with what was expected and what was found
 */
export function openConnectome(
  buffer: ArrayBuffer | SharedArrayBuffer,
  options: { verify?: boolean } = {},
): Connectome {
  const bytes = new Uint8Array(buffer);
  if (bytes.length < HEADER_BYTES) {
    throw invalid(`expected at least ${HEADER_BYTES} bytes, found ${bytes.length}`);
  }
  const magic = latin1(bytes.subarray(0, MAGIC.length));
  if (magic !== MAGIC) {
    throw invalid(
      `expected it to begin with ${shown(MAGIC)}, found ${shown(magic)}: this is another kind of file`,
    );
  }
  const view = new DataView(buffer);
  const version = view.getUint32(8, true);
  if (version !== FORMAT_VERSION) {
    throw invalid(`expected format version ${FORMAT_VERSION}, found ${version}: compile it again`);
  }
  const length = view.getBigUint64(16, true);
  if (length !== BigInt(bytes.length)) {
    throw invalid(`its header promises ${length} bytes, found ${bytes.length}`);
  }
  const digest = hex(bytes.subarray(DIGEST_OFFSET, DIGEST_OFFSET + DIGEST_BYTES));
  if (options.verify !== false) {
    const actual = hex(digestOf(bytes));
    if (actual !== digest) {
      throw invalid(`its header promises the digest ${digest}, its content has ${actual}`);
    }
  }
  const sections = readSections(buffer, view);
  const metadata = readMetadata(sections.metadata);
  checkShape(sections, metadata);
  if (options.verify !== false) {
    checkContent(sections, metadata);
  }
  return new OpenedConnectome(sections, metadata, digest);
}

class OpenedConnectome implements Connectome {
  readonly neuronCount: number;
  readonly connectionCount: number;
  readonly rowStart: Uint32Array;
  readonly targets: Uint32Array;
  readonly synapseCounts: Uint16Array;
  readonly signs: Int8Array;
  readonly typeIndices: Uint16Array;
  readonly sides: Uint8Array;
  readonly positionsNm: Int32Array;
  readonly positionEstimated: Uint8Array;
  readonly #idStart: Uint32Array;
  readonly #idText: Uint8Array;
  readonly #populations = new Map<string, Uint32Array>();

  constructor(
    sections: Sections,
    readonly metadata: ConnectomeMetadata,
    readonly digest: string,
  ) {
    this.neuronCount = metadata.neuronCount;
    this.connectionCount = metadata.connectionCount;
    this.rowStart = sections.rowStart;
    this.targets = sections.targets;
    this.synapseCounts = sections.synapseCounts;
    this.signs = sections.signs;
    this.typeIndices = sections.typeIndices;
    this.sides = sections.sides;
    this.positionsNm = sections.positionsNm;
    this.positionEstimated = sections.positionEstimated;
    this.#idStart = sections.idStart;
    this.#idText = sections.idText;
    populationKeys(metadata).forEach((key, i) => {
      const start = sections.populationStart;
      this.#populations.set(key, sections.populationNeurons.subarray(start[i]!, start[i + 1]!));
    });
  }

  neuronId(i: number): string {
    return latin1(this.#idText.subarray(this.#idStart[i]!, this.#idStart[i + 1]!));
  }

  stimulusNeurons(id: string): Uint32Array {
    return this.#population(`stimulus ${id}`);
  }

  channelNeurons(id: string): Uint32Array {
    return this.#population(`channel ${id}`);
  }

  #population(key: string): Uint32Array {
    const neurons = this.#populations.get(key);
    if (neurons === undefined) {
      throw new Error(`the connectome has no ${key}; it has ${[...this.#populations.keys()].join(', ')}`);
    }
    return neurons;
  }
}

function populationKeys(metadata: ConnectomeMetadata): string[] {
  return [
    ...metadata.stimuli.map(({ id }) => `stimulus ${id}`),
    ...metadata.channels.map(({ id }) => `channel ${id}`),
  ];
}

function readSections(buffer: ArrayBuffer | SharedArrayBuffer, view: DataView): Sections {
  const count = view.getUint32(12, true);
  if (count !== SECTION_NAMES.length || HEADER_BYTES + count * TABLE_ENTRY_BYTES > buffer.byteLength) {
    throw invalid(`expected ${SECTION_NAMES.length} sections, found ${count}`);
  }
  const sections: Partial<Record<SectionName, unknown>> = {};
  SECTION_NAMES.forEach((name, i) => {
    const entry = HEADER_BYTES + i * TABLE_ENTRY_BYTES;
    const stored = latin1(new Uint8Array(buffer, entry, NAME_BYTES)).replace(/\0+$/, '');
    if (stored !== name.slice(0, NAME_BYTES)) {
      throw invalid(`expected section ${i} to be ${name}, found ${shown(stored)}`);
    }
    const offset = Number(view.getBigUint64(entry + NAME_BYTES, true));
    const length = Number(view.getBigUint64(entry + NAME_BYTES + 8, true));
    const SectionArray = SECTIONS[name];
    const elementBytes = SectionArray.BYTES_PER_ELEMENT;
    if (offset % ALIGNMENT !== 0 || offset + length > buffer.byteLength || length % elementBytes !== 0) {
      throw invalid(
        `section ${name} should lie inside the ${buffer.byteLength} bytes of the file, at a multiple of ${ALIGNMENT}, ` +
          `in elements of ${elementBytes} bytes; found offset ${offset}, length ${length}`,
      );
    }
    sections[name] = new SectionArray(buffer as ArrayBuffer, offset, length / elementBytes);
  });
  return sections as Sections;
}

function readMetadata(section: Uint8Array): ConnectomeMetadata {
  let metadata: unknown;
  try {
    // TextDecoder refuses shared memory, so it gets a copy.
    metadata = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(section)));
  } catch (error) {
    throw invalid(`its metadata is no JSON: ${(error as Error).message}`);
  }
  const fault = metadataFault(metadata);
  if (fault !== null) {
    throw invalid(fault);
  }
  return metadata as ConnectomeMetadata;
}

function checkShape(sections: Sections, metadata: ConnectomeMetadata): void {
  const { neuronCount, connectionCount } = metadata;
  if (neuronCount === 0 || neuronCount > MAXIMUM_NEURONS) {
    throw invalid(`expected 1 to ${MAXIMUM_NEURONS} neurons, found ${shown(neuronCount)}`);
  }
  const populationCount = populationKeys(metadata).length;
  const expected: Partial<Record<SectionName, number>> = {
    rowStart: neuronCount + 1,
    targets: connectionCount,
    synapseCounts: connectionCount,
    signs: neuronCount,
    typeIndices: neuronCount,
    sides: neuronCount,
    positionsNm: 3 * neuronCount,
    positionEstimated: neuronCount,
    idStart: neuronCount + 1,
    populationStart: populationCount + 1,
  };
  for (const [name, length] of Object.entries(expected)) {
    const found = sections[name as SectionName].length;
    if (found !== length) {
      throw invalid(`section ${name} should have ${length} elements, found ${found}`);
    }
  }
}

/** A digest only proves that nobody touched the file since it was written; this proves that it makes sense. */
function checkContent(sections: Sections, metadata: ConnectomeMetadata): void {
  const { neuronCount } = metadata;
  checkStarts('rowStart', sections.rowStart, sections.targets.length);
  checkStarts('idStart', sections.idStart, sections.idText.length);
  checkStarts('populationStart', sections.populationStart, sections.populationNeurons.length);
  checkBelow('targets', sections.targets, neuronCount);
  checkBelow('populationNeurons', sections.populationNeurons, neuronCount);
  checkBelow('typeIndices', sections.typeIndices, metadata.types.length);
  checkBelow('sides', sections.sides, SIDES.length);
  checkBelow('positionEstimated', sections.positionEstimated, 2);
  checkBelow('synapseCounts', sections.synapseCounts, MAXIMUM_SYNAPSES_PER_CONNECTION + 1);
  if (sections.synapseCounts.includes(0)) {
    throw invalid('a connection without synapses');
  }
  for (const [i, sign] of sections.signs.entries()) {
    if (sign !== 1 && sign !== -1) {
      throw invalid(`expected the sign of neuron ${i} to be 1 or -1, found ${sign}`);
    }
  }
  checkRows(sections, neuronCount);
  checkSynapses(sections.synapseCounts, metadata.synapseCount);
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

function checkSynapses(synapseCounts: Uint16Array, expected: number): void {
  let sum = 0;
  for (let k = 0; k < synapseCounts.length; k++) {
    sum += synapseCounts[k]!;
  }
  if (sum !== expected) {
    throw invalid(`its metadata promises ${expected} synapses, its connections have ${sum}`);
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

function checkStarts(name: string, starts: Uint32Array, end: number): void {
  let previous = 0;
  for (let i = 0; i < starts.length; i++) {
    const start = starts[i]!;
    if (
      start < previous ||
      start > end ||
      (i === 0 && start !== 0) ||
      (i === starts.length - 1 && start !== end)
    ) {
      throw invalid(`section ${name} should rise from 0 to ${end}, found ${start} at ${i}`);
    }
    previous = start;
  }
}

function checkBelow(name: string, values: Uint8Array | Uint16Array | Uint32Array, limit: number): void {
  for (let i = 0; i < values.length; i++) {
    if (values[i]! >= limit) {
      throw invalid(`expected values below ${limit} in section ${name}, found ${values[i]!} at ${i}`);
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

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1');
}

function align(offset: number): number {
  return Math.ceil(offset / ALIGNMENT) * ALIGNMENT;
}

function invalid(what: string): CodedError {
  return new CodedError('CONNECTOME_INVALID', `This connectome file cannot be used: ${what}.`);
}
