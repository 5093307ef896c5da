/** Turns a session with a live fly into a readable document. */
import type { ExperimentDocument } from '#client';
import { drivesOf } from '../../../src/experiments/presets/drives.js';
import type { Model } from '../service/client.js';

const BIN_MS = 20;
/** A drive that reached this value gets a report of its neurons. */
const REPORTED_FROM = 0.5;

/**
 * Removes unused inputs, which changes no spike, and adds reports of the channels whose drives the fly acted out.
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
