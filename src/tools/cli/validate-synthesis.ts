/** npm run validate:synthesis compares the responses of synthetic brains with those of the tables. */
import { mean } from 'd3-array';
import { sampleBrain, DEFAULT_SEED } from '../statistics/sample-brain.js';
import { readStatistics } from '../statistics/statistics-files.js';
import type { Brain } from '../compiler/brain.js';
import { readTables } from '../compiler/tables.js';
import { deviations, type Deviation, meanResponses, type Response } from '../studies/synthesis-check.js';
import { defineCommand, integer, text } from './command.js';
import { compiledSimulators, subjectOf } from './simulators.js';

export const command = defineCommand({
  name: 'validate:synthesis',
  summary:
    'Compares the responses of synthetic brains with those of the tables. Exits with 1 if the default brain\n' +
    'exceeds a tolerance.',
  options: {
    tables: text('DIR', 'Tables from which the statistics were measured.', { required: true }),
    statistics: text('DIR', 'Directory with the statistics.', { default: 'data/cell-types' }),
    brains: integer('Number of brains: the default one and others with other seeds.', [1, 999], {
      default: 5,
    }),
    seeds: integer('Runs of each stimulus, with the seeds 1 to N.', [1, 999], { default: 4 }),
  },
  async run({ brains, ...options }, _, { print, progress }) {
    const seeds = Array.from({ length: options.seeds }, (_, i) => i + 1);
    const simulators = compiledSimulators();
    const responsesOf = (brain: Brain): Response[] =>
      meanResponses(subjectOf(brain, 'corrected', simulators), seeds);
    const measured = responsesOf(await readTables(options.tables, progress));
    const statistics = await readStatistics(options.statistics, progress);
    const ofBrains = Array.from({ length: brains }, (_, brain) =>
      deviations(measured, responsesOf(sampleBrain(statistics, progress, DEFAULT_SEED + brain))),
    );
    print(tableOf(ofBrains));
    return ofBrains[0]!.some(isBeyond) ? 1 : 0;
  },
});

function isBeyond({ difference, tolerance }: Deviation): boolean {
  return Math.abs(difference) > tolerance;
}

/** A Markdown table with one row for each response, over all brains. */
function tableOf(ofBrains: readonly (readonly Deviation[])[]): string {
  const meanOf = (i: number) => mean(ofBrains, (each) => each[i]!.difference)!;
  const rows = ofBrains[0]!.map(({ name, unit, measured, tolerance, synthetic }, i) => {
    const all = ofBrains.map((each) => each[i]!);
    const worst = all.reduce((a, b) => (Math.abs(b.difference) > Math.abs(a.difference) ? b : a));
    const beyond = all.filter(isBeyond).length;
    const digits = unit === '%' ? 0 : 1;
    return (
      `| ${name} | ${measured.toFixed(digits)} | ${synthetic.toFixed(digits)} | ${signed(meanOf(i))} | ` +
      `${signed(worst.difference)} | ${unit} | ${tolerance === Infinity ? '' : tolerance} | ${beyond} |\n`
    );
  });
  const responding = ofBrains[0]!.flatMap(({ unit }, i) => (unit === '%' ? [i] : []));
  const rms = (places: readonly number[]) => Math.sqrt(mean(places, (i) => meanOf(i) ** 2)!).toFixed(1);
  const served = responding.filter((i) => ofBrains[0]![i]!.tolerance !== Infinity);
  const untuned = responding.filter((i) => ofBrains[0]![i]!.tolerance === Infinity);
  return (
    '| | tables | default brain | mean difference | worst | unit | tolerance | brains beyond |\n' +
    '|---|---|---|---|---|---|---|---|\n' +
    rows.join('') +
    `\n${ofBrains.length} brains. Root mean square of the mean differences: ${rms(served)} % for the stimuli of the ` +
    `service, ${rms(untuned)} % for the others.\n`
  );
}

function signed(value: number): string {
  const text = Math.abs(value).toFixed(1);
  return text === '0.0' ? text : `${value < 0 ? '-' : '+'}${text}`;
}
