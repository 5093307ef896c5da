/**
 * The layout of the connectome file: one little-endian buffer, which is used in memory unchanged.
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
 * The digest covers every byte except itself, so an altered file is never opened. docs/wiring.md describes each
 * section.
 */
import { hexOf, latin1 } from '../bytes.js';
import { CodedError, describeValue } from '../errors.js';
import { own } from '../own.js';
import {
  type Connectome,
  type ConnectomeMetadata,
  MAX_SYNAPSES_PER_CONNECTION,
  SIDES,
} from './connectome.js';
import { populationKeys } from './populations.js';

export const MAGIC = 'NESCONN\n';
export const FORMAT_VERSION = 2;
export const HEADER_BYTES = 64;
export const VERSION_OFFSET = 8;
const SECTION_COUNT_OFFSET = 12;
export const LENGTH_OFFSET = 16;
export const DIGEST_OFFSET = 32;
export const DIGEST_BYTES = 32;
const TABLE_ENTRY_BYTES = 32;
const NAME_BYTES = 16;
const ALIGNMENT = 64;

const neurons = ({ neuronCount }: ConnectomeMetadata): number => neuronCount;
const connections = ({ connectionCount }: ConnectomeMetadata): number => connectionCount;

/**
 * The sections of a file, in order: the type and number of the elements, and the limits of their values. If there is no
 * limit or length, the elements are unrestricted or depend on another section.
 */
export const SECTIONS = {
  metadata: { array: Uint8Array },
  rowStart: { array: Uint32Array, length: (metadata) => neurons(metadata) + 1, startsIn: 'targets' },
  targets: { array: Uint32Array, length: connections, below: neurons },
  synapseCounts: {
    array: Uint16Array,
    length: connections,
    from: 1,
    below: () => MAX_SYNAPSES_PER_CONNECTION + 1,
  },
  signs: { array: Int8Array, length: neurons, from: -1, below: () => 2 },
  typeIndices: { array: Uint16Array, length: neurons, below: ({ types }) => types.length },
  classIndices: { array: Uint16Array, length: neurons, below: ({ classes }) => classes.length },
  sides: { array: Uint8Array, length: neurons, below: () => SIDES.length },
  positionsNm: { array: Int32Array, length: (metadata) => 3 * neurons(metadata) },
  positionEstimated: { array: Uint8Array, length: neurons, below: () => 2 },
  idStart: { array: Uint32Array, length: (metadata) => neurons(metadata) + 1, startsIn: 'idText' },
  idText: { array: Uint8Array },
  populationStart: {
    array: Uint32Array,
    length: ({ stimuli, channels }) => stimuli.length + channels.length + 1,
    startsIn: 'populationNeurons',
  },
  populationNeurons: { array: Uint32Array, below: neurons },
  signProbabilities: { array: Uint8Array, length: (metadata) => 2 * neurons(metadata), isOptional: true },
} as const satisfies Readonly<Record<string, Section>>;

export interface Section {
  readonly array:
    | Uint8ArrayConstructor
    | Int8ArrayConstructor
    | Uint16ArrayConstructor
    | Uint32ArrayConstructor
    | Int32ArrayConstructor;
  readonly length?: (metadata: ConnectomeMetadata) => number;
  /** The lowest value; 0 if absent. */
  readonly from?: number;
  readonly below?: (metadata: ConnectomeMetadata) => number;
  /** The elements are the beginnings of pieces of this section: they rise from 0 to its length. */
  readonly startsIn?: string;
  /** A file may lack the section. Optional sections come last. */
  readonly isOptional?: true;
}

type AnySection = keyof typeof SECTIONS;
type OptionalSection = {
  [Name in AnySection]: (typeof SECTIONS)[Name] extends { isOptional: true } ? Name : never;
}[AnySection];
type ArrayOf<Name extends AnySection> = (typeof SECTIONS)[Name]['array']['prototype'];
/** A section that every file has. */
export type SectionName = Exclude<AnySection, OptionalSection>;
export type Sections = { readonly [Name in SectionName]: ArrayOf<Name> } & {
  readonly [Name in OptionalSection]?: ArrayOf<Name>;
};
const ALL_SECTIONS = Object.keys(SECTIONS) as AnySection[];
const REQUIRED = ALL_SECTIONS.filter((name) => !('isOptional' in SECTIONS[name])).length;

/** The sections of a file, in order. */
export function sectionNames(sections: Sections): AnySection[] {
  return ALL_SECTIONS.filter((name) => own(sections, name) !== undefined);
}

/** Writes sections to a file whose digest is still zero. */
export function encodeSections(sections: Sections): Uint8Array<ArrayBuffer> {
  const names = sectionNames(sections);
  let end = align(HEADER_BYTES + names.length * TABLE_ENTRY_BYTES);
  const offsets = names.map((name) => {
    const offset = end;
    end = align(offset + sections[name]!.byteLength);
    return offset;
  });
  const encoder = new TextEncoder();
  const file = new Uint8Array(end);
  const view = new DataView(file.buffer);
  file.set(encoder.encode(MAGIC), 0);
  view.setUint32(VERSION_OFFSET, FORMAT_VERSION, true);
  view.setUint32(SECTION_COUNT_OFFSET, names.length, true);
  view.setBigUint64(LENGTH_OFFSET, BigInt(end), true);
  names.forEach((id, i) => {
    const section = sections[id]!;
    const entry = HEADER_BYTES + i * TABLE_ENTRY_BYTES;
    file.set(encoder.encode(id.slice(0, NAME_BYTES)), entry);
    view.setBigUint64(entry + NAME_BYTES, BigInt(offsets[i]!), true);
    view.setBigUint64(entry + NAME_BYTES + 8, BigInt(section.byteLength), true);
    file.set(new Uint8Array(section.buffer, section.byteOffset, section.byteLength), offsets[i]);
  });
  return file;
}

/**
 * @returns views of the sections of a file, whose content is not checked
 * @throws CodedError CONNECTOME_INVALID if a section does not lie inside the file
 */
export function readSections(buffer: ArrayBuffer | SharedArrayBuffer): Sections {
  const view = new DataView(buffer);
  const count = view.getUint32(SECTION_COUNT_OFFSET, true);
  const isKnown = count >= REQUIRED && count <= ALL_SECTIONS.length;
  if (!isKnown || HEADER_BYTES + count * TABLE_ENTRY_BYTES > buffer.byteLength) {
    throw invalid(`expected ${REQUIRED} to ${ALL_SECTIONS.length} sections, found ${count}`);
  }
  const sections: Partial<Record<AnySection, unknown>> = {};
  ALL_SECTIONS.slice(0, count).forEach((name, i) => {
    const entry = HEADER_BYTES + i * TABLE_ENTRY_BYTES;
    const stored = latin1(new Uint8Array(buffer, entry, NAME_BYTES)).replace(/\0+$/, '');
    if (stored !== name.slice(0, NAME_BYTES)) {
      throw invalid(`expected section ${i} to be ${name}, found ${describeValue(stored)}`);
    }
    const offset = Number(view.getBigUint64(entry + NAME_BYTES, true));
    const length = Number(view.getBigUint64(entry + NAME_BYTES + 8, true));
    const { array: SectionArray } = SECTIONS[name];
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

/** @throws CodedError CONNECTOME_INVALID */
export function parseMetadata({ metadata }: Sections): unknown {
  try {
    // A copy, because TextDecoder rejects shared memory.
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(metadata)));
  } catch (error) {
    throw invalid(`its metadata is not JSON: ${(error as Error).message}`);
  }
}

/**
 * Opens a file without checks or copies. For workers: openConnectome() must have accepted these bytes in this process.
 */
export function viewConnectome(buffer: ArrayBuffer | SharedArrayBuffer): Connectome {
  const sections = readSections(buffer);
  return connectomeOf(buffer, sections, parseMetadata(sections) as ConnectomeMetadata);
}

export function connectomeOf(
  buffer: ArrayBuffer | SharedArrayBuffer,
  sections: Sections,
  metadata: ConnectomeMetadata,
): Connectome {
  const { idStart, idText, populationStart, populationNeurons } = sections;
  /** All ids in one string, because callers read a hundred thousand ids. */
  let ids: string | undefined;
  const keys = populationKeys(metadata);
  const neuronsOf = new Map(
    keys.map((key, i) => [key, populationNeurons.subarray(populationStart[i]!, populationStart[i + 1]!)]),
  );
  const population = (key: string): Uint32Array => {
    const found = neuronsOf.get(key);
    if (found === undefined) {
      throw new Error(`the connectome has no ${key}; it has ${keys.join(', ')}`);
    }
    return found;
  };
  return {
    ...sections,
    metadata,
    digest: metadata.contentDigest ?? storedDigest(buffer),
    neuronCount: metadata.neuronCount,
    connectionCount: metadata.connectionCount,
    neuronId: (i) => (ids ??= latin1(idText)).slice(idStart[i]!, idStart[i + 1]!),
    stimulusNeurons: (id) => population(`stimulus ${id}`),
    channelNeurons: (id) => population(`channel ${id}`),
  };
}

/** @returns the digest in the header of a file, lower-case hex */
export function storedDigest(buffer: ArrayBuffer | SharedArrayBuffer): string {
  return hexOf(new Uint8Array(buffer, DIGEST_OFFSET, DIGEST_BYTES));
}

export function invalid(what: string): CodedError {
  return new CodedError('CONNECTOME_INVALID', `This connectome file cannot be used: ${what}.`);
}

function align(offset: number): number {
  return Math.ceil(offset / ALIGNMENT) * ALIGNMENT;
}
