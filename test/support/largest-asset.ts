import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** @returns the path of the largest file of the pages: more than the buffers of a connection hold */
export function largestAsset(): string {
  const folder = 'dist/pages/assets';
  const sizeOf = (name: string) => statSync(join(folder, name)).size;
  const [largest] = readdirSync(folder).sort((a, b) => sizeOf(b) - sizeOf(a));
  return `/assets/${largest!}`;
}
