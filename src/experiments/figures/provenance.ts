/** The origin of a file of an experiment. SVG, PNG, PDF and CSV store the same facts. */
import type { ExperimentHead } from '../document/result.js';
import { joinedBytes } from '../../engine/bytes.js';
import { trialsText } from './condition-labels.js';

const PNG_SIGNATURE_BYTES = 8;
/** Bytes of a chunk of PNG beside its data: length, name, checksum. */
const CHUNK_BYTES = 12;
const INCHES_PER_METRE = 1000 / 25.4;
/** The unit of a resolution in PNG: pixels per metre. */
const UNIT_METRE = 1;

/** Facts by name: first the standard names of PNG, then ours. */
export type Facts = Readonly<Record<string, string>>;

export function provenanceOf(head: ExperimentHead): Facts {
  const { id, model, wiring, side_convention: sides, experiment } = head;
  return {
    Title: experiment.name ?? 'Open experiment',
    Model: model,
    Wiring: wiring,
    Trials: `n = ${trialsText(experiment)}`,
    Experiment: id,
    Sides: sides,
    Document: JSON.stringify(experiment),
  };
}

/** The sentence that a preregistration needs before an experiment is run. */
export function preregistration({ id, model, experiment }: ExperimentHead): string {
  const reports = Object.keys(experiment.reports).join(', ');
  return `We will run experiment ${id} on model ${model}, and read ${reports} from it.`;
}

/** A line for each fact: `Model: fafb-783-…`. */
export function factLines(facts: Facts): string[] {
  return Object.entries(facts).map(([name, value]) => `${name}: ${value.replace(/[\r\n]+/g, ' ')}`);
}

/** Adds facts (as iTXt chunks) and the resolution in dots per inch to a PNG. */
export function pngWith(png: Uint8Array, facts: Facts, dpi: number): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset } = png;
  const header = new DataView(buffer, byteOffset).getUint32(PNG_SIGNATURE_BYTES);
  const headerEnd = PNG_SIGNATURE_BYTES + CHUNK_BYTES + header;
  const resolution = new Uint8Array(9);
  const view = new DataView(resolution.buffer);
  for (const at of [0, 4]) view.setUint32(at, Math.round(dpi * INCHES_PER_METRE));
  view.setUint8(8, UNIT_METRE);
  // No compression, language or translated name.
  const texts = Object.entries(facts).map(([name, value]) =>
    chunk('iTXt', new TextEncoder().encode(`${name}\0\0\0\0\0${value}`)),
  );
  return joinedBytes([
    png.subarray(0, headerEnd),
    chunk('pHYs', resolution),
    ...texts,
    png.subarray(headerEnd),
  ]);
}

function chunk(type: string, content: Uint8Array): Uint8Array {
  const data = joinedBytes([new TextEncoder().encode(type), content]);
  const bytes = new Uint8Array(CHUNK_BYTES + content.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, content.length);
  bytes.set(data, 4);
  view.setUint32(4 + data.length, crc32(data));
  return bytes;
}

/** The checksum of PNG (ISO 3309). */
function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}
