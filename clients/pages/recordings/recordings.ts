/** Recordings of the default brain by scripts/recordings.mjs, which the page shows without a request. */
import type { Model } from '../service/client.js';
import type { DriveRun } from '../service/client.js';
import gallery from './gallery.json';

export interface GalleryEntry {
  readonly title: string;
  /** Behaviour of flies, in plain words; the model names the publications. */
  readonly expected: string;
  /** The channels to look at. */
  readonly channels: readonly string[];
  /** The body of the answer, view=drive. */
  readonly answer: DriveRun;
}

export interface Gallery {
  readonly model: string;
  readonly connectome_digest: string;
  readonly version: string;
  readonly entries: readonly GalleryEntry[];
}

export const GALLERY = gallery as Gallery;

/** The run that plays when somebody arrives. */
export const OPENING = { stimulus: 'loom', duration_ms: 100, intensity: 1, seed: 42 } as const;
/** Address of the body of the run that plays when somebody arrives, view=full. */
export const OPENING_URL = new URL('./opening.json', import.meta.url).href;

/** Tells whether the recordings are of this model, so that a run gives the same again. */
export function isOf({ connectome_digest, version }: Model): boolean {
  return GALLERY.connectome_digest === connectome_digest && GALLERY.version === version;
}
