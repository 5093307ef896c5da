/** What scripts/recordings.mjs records of the default brain, for the page to show without a request. */
import type { Model } from '../../../answers/v1/api/model.dto.js';
import type { DriveRun } from '../../../answers/v1/api/run-response.dto.js';
import gallery from './gallery.json';

export interface GalleryEntry {
  readonly title: string;
  /** What flies do, in plain words; the model names the publications. */
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

/** Address of the body of the run that plays when somebody arrives, view=full. */
export const OPENING_URL = new URL('./opening.json', import.meta.url).href;

/** Whether the recordings are of this model, so that a run gives the same again. */
export function isOf({ connectome_digest, version }: Model): boolean {
  return GALLERY.connectome_digest === connectome_digest && GALLERY.version === version;
}
