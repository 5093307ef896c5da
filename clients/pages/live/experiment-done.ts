/** The experiment that somebody did with a live fly, as a document that a person reads. */
import type { ExperimentDocument } from '#client';
import { drivesOf } from '../../../src/presets/drives.js';
import type { Model } from '../service/client.js';

const BIN_MS = 20;
/** Drives that have been so strong have their neurons reported. */
const REPORTED_FROM = 0.5;

/**
 * Leaves out what was not done, which changes no spike, and reports the channels of the drives that the fly acted out.
 * @param document of the session
 * @param strongest the strongest value of each drive during it
 */
export function experimentDone(
  document: ExperimentDocument,
  model: Model,
  strongest: Readonly<Record<string, number>>,
): ExperimentDocument {
  const inputs = Object.fromEntries(
    Object.entries(document.inputs ?? {}).filter(([, input]) => !('rate_hz' in input) || input.rate_hz !== 0),
  );
  const labels = Object.keys(inputs).map((id) => model.stimuli.find((each) => each.id === id)?.label ?? id);
  const channels = model.channels.map(({ id }) => id);
  const read = drivesOf(channels)
    .filter(({ id }) => Math.abs(strongest[id] ?? 0) >= REPORTED_FROM)
    .flatMap(({ id, channels: names }) => (id === 'walk' ? names.slice(0, 1) : names));
  const reports = [...new Set(read.length > 0 ? read : channels.slice(0, 1))].map(
    (id) => [id, { node_set: `@channel/${id}`, type: 'histogram', bin_ms: BIN_MS }] as const,
  );
  return {
    ...document,
    name: `A live fly: ${labels.join(', ') || 'nothing done'}`,
    inputs,
    reports: Object.fromEntries(reports),
  };
}
