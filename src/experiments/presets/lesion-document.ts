/** The document of a lesion: a run of version 1 as it is, and without some cell types. Pages and the service make the same. */
import { own } from '../../engine/own.js';

/** A dare silences at most this many types. */
export const MAX_DARED_TYPES = 2;
const BIN_MS = 5;

type LesionedRun = Readonly<Record<'intensity' | 'duration_ms' | 'seed', number> & { stimulus: string }>;

/**
 * @param rateHz the nominal rate of the stimulus
 * @param channels ids of all channels of the model, in its order; the document reads each over time
 * @param types are silenced together, in the second condition
 */
export function lesionDocument(
  { stimulus, intensity, duration_ms, seed }: LesionedRun,
  rateHz: number,
  channels: readonly string[],
  types: readonly string[],
) {
  return {
    inputs: { [stimulus]: { node_set: `@stimulus/${stimulus}`, rate_hz: rateHz * intensity } },
    duration_ms,
    trials: 1,
    seed,
    sweep: [{ each: [...types], group_by: [], as: 'silence' }],
    reports: Object.fromEntries(
      channels.map((id) => [id, { node_set: `@channel/${id}`, type: 'histogram', bin_ms: BIN_MS }]),
    ),
  };
}

/**
 * The types that a dare must not silence, because the dare is about neurons between stimulus and deed.
 * @param counts neurons by type of the stimulus, or of the channel from which the deed is read
 */
export function refusedTypes(
  types: readonly string[],
  counts: Readonly<Record<string, number>> | undefined,
): readonly string[] {
  return types.filter((type) => own(counts, type) !== undefined);
}

/** The rate of a channel as in the answer to a run: with two decimals. */
export function asInRun(rateHz: number): number {
  return Math.round(100 * rateHz) / 100;
}
