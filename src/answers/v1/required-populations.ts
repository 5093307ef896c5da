import type { ConnectomeMetadata } from '../../connectome/connectome.js';
import { CHANNEL_IDS, STIMULUS_IDS } from '../../connectome/populations.js';
import { CodedError } from '../../errors.js';

/**
 * A connectome file may have any stimuli and channels. Version 1 of the interface names its own, so a connectome
 * that it serves must have all of these; others may be there, too.
 * @throws CodedError CONNECTOME_INVALID that lists what is missing
 */
export function requirePopulations({ stimuli, channels }: ConnectomeMetadata): void {
  const missing = [
    ...missingIds('stimulus', STIMULUS_IDS, stimuli),
    ...missingIds('channel', CHANNEL_IDS, channels),
  ];
  if (missing.length > 0) {
    throw new CodedError(
      'CONNECTOME_INVALID',
      `This connectome cannot be served: version 1 of the interface needs ${missing.join(', ')}, which it does not have.`,
    );
  }
}

function missingIds(
  kind: string,
  wanted: readonly string[],
  populations: readonly { readonly id: string }[],
): string[] {
  const found = new Set(populations.map(({ id }) => id));
  return wanted.filter((id) => !found.has(id)).map((id) => `the ${kind} ${id}`);
}
