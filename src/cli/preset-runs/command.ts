/** npm run experiment -- --stimulus NAME: runs of version 1, here or on a service. */
import { extname, resolve } from 'node:path';
import type { Experiment, View } from '../../answers/v1/experiment.js';
import { FIELDS } from '../../answers/v1/fields.js';
import { neuronsOfTypes } from '../../connectome/selection.js';
import { KernelEngine } from '../../engine/backends/cpu/kernel-engine.js';
import { describeValue } from '../../errors.js';
import { plottingLibrary, renderSvg } from '../../plot/svg.js';
import { compileKernel } from '../../pool/kernel-file.js';
import { defineCommand } from '../command.js';
import { COMMAND_NAME, usageError } from '../experiment-usage.js';
import type { ProgressLine } from '../progress.js';
import { readConnectome } from '../read-connectome.js';
import { servedFile } from '../served-file.js';
import { checkServiceUrl, ServiceClient } from '../service-client.js';
import { writeWhole } from '../write-whole.js';
import { armsOf, type Arm } from './arms.js';
import { PRESET_OPTIONS } from './options.js';
import { spikesCsv } from './spikes-csv.js';
import { plotOf } from './plot.js';
import type { RunSource, RunBody } from './source.js';
import { summaryJson, type Condition } from './summary.js';
import { tableOf } from './table.js';
import { LocalRuns } from './local-runs.js';
import { RemoteRuns } from './remote-runs.js';

export const PRESET_RUNS = defineCommand({
  name: COMMAND_NAME,
  summary:
    'Simulates the response of the brain to a stimulus: spikes, rates and drives.\n' +
    `Stimuli: ${FIELDS.stimulus.allowed.join(' ')}`,
  options: PRESET_OPTIONS,
  async run({ url, connectome, json, view, csv, plot, ...request }, _, progress) {
    if (view === 'drive' && (csv !== undefined || plot !== undefined)) {
      throw usageError('--csv and --plot need the spikes, which --view drive leaves out');
    }
    if (csv !== undefined && plot !== undefined && resolve(csv) === resolve(plot)) {
      throw usageError(`--csv and --plot should be two files, found ${describeValue(csv)} for both`);
    }
    if (plot !== undefined && extname(plot).toLowerCase() !== '.svg') {
      throw usageError(`--plot writes SVG: its file should end in .svg, found ${describeValue(plot)}`);
    }
    const arms = armsOf(request);
    if (plot !== undefined) await plottingLibrary();
    const sourceOf = await openSources(arms, url, connectome, progress);
    const single = isSingle(arms) ? await sourceOf(arms[0]!).run(firstOf(arms[0]!), view) : undefined;
    // Means do not need the spikes, which take much memory for many runs.
    const needsSpikes = arms.length > 1 || csv !== undefined || plot !== undefined;
    const conditions =
      single === undefined
        ? await runAll(arms, sourceOf, needsSpikes ? 'full' : 'drive', progress)
        : [{ ...arms[0]!, runs: [parsed(single)] }];
    const model = () => sourceOf(arms[0]!).model();
    const labels = () => sourceOf(arms[0]!).labels();

    // Printed before the files are written: the results are not lost if writing fails.
    if (!json) {
      process.stdout.write(tableOf(conditions, await model()));
    } else {
      process.stdout.write(single ?? summaryJson(conditions));
    }
    if (csv !== undefined) {
      await writeWhole(csv, spikesCsv(conditions, await labels()));
      progress.note(`Wrote every spike to ${csv}.`);
    }
    if (plot !== undefined) {
      await writeWhole(plot, await renderSvg(plotOf(conditions, await labels(), (await model()).name)));
      progress.note(`Wrote raster and rates to ${plot}.`);
    }
  },
});

function isSingle(arms: readonly Arm[]): boolean {
  return arms.length === 1 && arms[0]!.seeds.length === 1;
}

function runsOf(arms: readonly Arm[]): number {
  return arms.reduce((sum, { seeds }) => sum + seeds.length, 0);
}

function firstOf({ experiment, seeds }: Arm): Experiment {
  return { ...experiment, seed: seeds[0]! };
}

async function openSources(
  arms: readonly Arm[],
  url: string | undefined,
  file: string | undefined,
  progress: ProgressLine,
): Promise<(arm: Arm) => RunSource> {
  const lesion = arms.at(-1)!.silenced;
  if (url !== undefined) {
    if (file !== undefined || lesion.length > 0) {
      throw usageError(
        '--url cannot be combined with --connectome or --silence: a service uses its own connectome',
      );
    }
    checkServiceUrl(url, { name: COMMAND_NAME });
    const service = new ServiceClient(url, (seconds) =>
      progress.note(`Waiting ${seconds} s for the rate limit of the service.`),
    );
    const remote = new RemoteRuns(service);
    return () => remote;
  }
  const { connectome } = await readConnectome(file ?? (await servedFile()));
  const engine = new KernelEngine(compileKernel(), connectome);
  const intact = new LocalRuns(connectome, engine);
  const lesioned =
    lesion.length === 0 ? intact : new LocalRuns(connectome, engine, neuronsOfTypes(connectome, lesion));
  return (arm) => (arm.silenced.length === 0 ? intact : lesioned);
}

async function runAll(
  arms: readonly Arm[],
  sourceOf: (arm: Arm) => RunSource,
  view: View,
  progress: ProgressLine,
): Promise<Condition[]> {
  progress.begin('Running experiments', runsOf(arms), 'items');
  const conditions: Condition[] = [];
  let done = 0;
  for (const arm of arms) {
    const runs: RunBody[] = [];
    for (const seed of arm.seeds) {
      runs.push(parsed(await sourceOf(arm).run({ ...arm.experiment, seed }, view)));
      progress.reached(++done);
    }
    conditions.push({ ...arm, runs });
  }
  progress.end();
  return conditions;
}

function parsed(body: Uint8Array): RunBody {
  return JSON.parse(new TextDecoder().decode(body)) as RunBody;
}
