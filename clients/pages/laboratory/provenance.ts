/** Where a saved file comes from: the same facts in SVG, PNG and CSV. */
import { escaped } from '../../../src/experiments/figures/draw.js';
import { trialsText } from '../../../src/experiments/figures/experiment-figures.js';
import type { ExperimentHead } from '../../../src/experiments/run/result.js';

const PNG_SIGNATURE_BYTES = 8;
/** Length, name, and checksum of a chunk around its data. */
const CHUNK_BYTES = 12;

/** By names that PNG and readers of metadata know, then our own. */
export function provenanceOf(head: ExperimentHead): Readonly<Record<string, string>> {
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

/** @param source one svg element as text */
export function svgWith(source: string, facts: Readonly<Record<string, string>>): string {
  const [title, ...others] = Object.entries(facts);
  const lines = others.map(([name, value]) => escaped(`${name}: ${value}`)).join('\n');
  return source.replace(
    /^<svg[^>]*>/,
    (tag) => `${tag}<title>${escaped(title![1])}</title><metadata>${lines}</metadata>`,
  );
}

/** The facts as chunks of international text before the picture. */
export async function pngWith(file: Blob, facts: Readonly<Record<string, string>>): Promise<Blob> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const headerEnd =
    PNG_SIGNATURE_BYTES + CHUNK_BYTES + new DataView(bytes.buffer).getUint32(PNG_SIGNATURE_BYTES);
  // No compression, language or translated name.
  const chunks = Object.entries(facts).map(([name, value]) => chunk('iTXt', `${name}\0\0\0\0\0${value}`));
  return new Blob([bytes.slice(0, headerEnd), ...chunks, bytes.slice(headerEnd)], { type: 'image/png' });
}

/** Lines before the header of the table; readers skip lines that begin with #. */
export function csvHeading(facts: Readonly<Record<string, string>>): string {
  return Object.entries(facts)
    .map(([name, value]) => `# ${name}: ${value.replace(/[\r\n]+/g, ' ')}\r\n`)
    .join('');
}

function chunk(type: string, text: string): Uint8Array<ArrayBuffer> {
  const data = new TextEncoder().encode(type + text);
  const bytes = new Uint8Array(data.length + 8);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, data.length - type.length);
  bytes.set(data, 4);
  view.setUint32(bytes.length - 4, crc32(data));
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
