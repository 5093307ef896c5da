/**
 * The ids of all neurons as text, in the order of the atlas. Tables of spikes name neurons by id, so a page needs them to
 * find the neurons in its atlas. They are a fraction of the JSON of the atlas.
 *
 * Each neuron has a line. Often an id differs from the one before only in the number at its end. Its line is then the
 * difference, or empty if that is 1. Other lines are `=` and the id.
 */
import type { Connectome } from './connectome.js';

const WHOLE = '=';

export function encodeIds(connectome: Connectome): string {
  let before = partsOf('');
  const lines: string[] = [];
  for (let neuron = 0; neuron < connectome.neuronCount; neuron++) {
    const id = connectome.neuronId(neuron);
    const parts = partsOf(id);
    lines.push(`${differenceOf(before, parts) ?? WHOLE + id}\n`);
    before = parts;
  }
  return lines.join('');
}

export function decodeIds(text: string): string[] {
  let id = '';
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      if (line.startsWith(WHOLE)) return (id = line.slice(WHOLE.length));
      const { stem, digits } = partsOf(id);
      const number = BigInt(digits) + BigInt(line === '' ? 1 : line);
      return (id = stem + String(number).padStart(digits.length, '0'));
    });
}

interface IdParts {
  readonly stem: string;
  /** The number at the end, with zeros before it; may be empty. */
  readonly digits: string;
}

function partsOf(id: string): IdParts {
  const [digits] = /\d*$/.exec(id)!;
  return { stem: id.slice(0, id.length - digits.length), digits };
}

/** @returns undefined if the ids differ in more than the number */
function differenceOf(before: IdParts, { stem, digits }: IdParts): string | undefined {
  if (stem !== before.stem || digits === '' || digits.length !== before.digits.length) return undefined;
  const difference = BigInt(digits) - BigInt(before.digits);
  return difference === 1n ? '' : String(difference);
}
