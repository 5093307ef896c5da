/** Runs with some cell types silenced, in the form of runs of version 1, so that the fly can act them out. */
import type { ExperimentAnswer, ExperimentDocument } from '#client';
import { asInRun, lesionDocument } from '../../src/experiments/presets/lesion-document.js';
import { drivesFrom } from '../fly/src/drive-formulas.js';
import { checkBrain, type FullRun, type Model } from './service/client.js';

/** The run as it is, and without all neurons of the types. */
export function lesionOf(run: FullRun, model: Model, types: readonly string[]): ExperimentDocument {
  const { nominal_rate_hz: rateHz } = model.stimuli.find(({ id }) => id === run.stimulus)!;
  const channels = model.channels.map(({ id }) => id);
  return lesionDocument(run, rateHz, channels, types) as ExperimentDocument;
}

/**
 * The two conditions of a lesion. The answer leaves the second one out if the silenced neurons never spike.
 * @param run the run that the document repeats
 * @throws ServiceFailure if the answer is of another brain
 */
export function asRuns(
  answer: ExperimentAnswer,
  run: FullRun,
  model: Model,
): readonly [intact: FullRun, lesioned: FullRun] {
  checkBrain(answer, model);
  const [intact, lesioned] = answer.conditions.map(({ reports, spikes }) =>
    asRun(run, model, reports as unknown as BinnedReports, spikes?.mean ?? 0),
  );
  return [intact!, lesioned ?? intact!];
}

type BinnedReports = Readonly<Record<string, readonly [BinnedGroup]>>;

/** Group of a report of type histogram. */
interface BinnedGroup {
  readonly rate_hz: { readonly mean: number };
  readonly bins_hz: readonly number[];
}

function asRun(run: FullRun, model: Model, reports: BinnedReports, total: number): FullRun {
  const ofChannels = (read: (group: BinnedGroup) => number) =>
    Object.fromEntries(Object.entries(reports).map(([id, [group]]) => [id, read(group)]));
  const channels = ofChannels(({ rate_hz: rate }) => asInRun(rate.mean));
  return {
    ...run,
    channels,
    drive: drivesFrom(model.drives)(channels),
    spikes: { ...run.spikes, total },
    frames: run.frames.map((frame, at) => ({
      ...frame,
      channels: ofChannels(({ bins_hz: bins }) => bins[at] ?? 0),
    })),
  } as FullRun;
}
