/** Describes how much of the brain is loaded. */
import type { LoadProgress } from '#client';

const BYTES_PER_MB = 1e6;

/** In whole MB, so that screen readers read few of them. */
export function loadingSentence({ loadedBytes, totalBytes }: LoadProgress): string {
  const loaded = Math.round(loadedBytes / BYTES_PER_MB);
  return totalBytes === undefined
    ? `Loading the brain: ${loaded} MB …`
    : `Loading the brain: ${loaded} of ${Math.round(totalBytes / BYTES_PER_MB)} MB …`;
}
