/** npm run validate:synthesis: compares the responses of synthetic brains with those of the tables. */
import { sampleBrain, DEFAULT_SEED } from '../compiler/statistics/sample-brain.js';
import { readStatistics } from '../compiler/statistics/statistics-files.js';
import { layOut } from '../compiler/lay-out.js';
import { readPopulations } from '../compiler/populations.js';
import type { Brain } from '../compiler/brain.js';
import { readTables } from '../compiler/tables.js';
import type { Connectome } from '../connectome/connectome.js';
import { encodeConnectome, openConnectome } from '../connectome/format.js';
import { KernelEngine } from '../engine/backends/cpu/kernel-engine.js';
import { compiledDrawing } from '../experiment/compiled-drawing.js';
import { compileDrawingKernel, compileKernel } from '../pool/kernel-file.js';
import { runCommand, usage } from './command.js';
import { deviations, UNTUNED_STIMULATIONS, type Deviation } from '../validation/synthesis-check.js';
import { meanResponses, servedStimulations, type Response } from '../validation/responses.js';

const COMMAND_NAME = 'validate:synthesis';

await runCommand({
  name: COMMAND_NAME,
  summary:
    'Compares the responses of synthetic brains with those of the tables. Exits with 1 if the default brain\n' +
    'exceeds a tolerance.',
  options: {
    tables: {
      type: 'string',
      value: 'DIR',
      required: true,
      help: 'Tables from which the statistics were measured.',
    },
    statistics: {
      type: 'string',
      value: 'DIR',
      default: 'data/cell-types',
      help: 'Directory with the statistics.',
    },
    brains: {
      type: 'string',
      value: 'N',
      default: '5',
      help: 'Number of brains: the default one and others with other seeds.',
    },
    seeds: {
      type: 'string',
      value: 'N',
      default: '4',
      help: 'Runs of each stimulus, with the seeds 1 to N.',
    },
  },
  async run(options, _, progress) {
    const brains = countOf('brains', options.brains);
    const seeds = Array.from({ length: countOf('seeds', options.seeds) }, (_, i) => i + 1);
    const kernel = compileKernel();
    const draw = compiledDrawing(compileDrawingKernel());
    const populations = readPopulations();
    const responsesOf = (brain: Brain): Response[] => {
      const connectome = opened(encodeConnectome(layOut(brain, { signRule: 'corrected', populations })));
      const stimulations = [...servedStimulations(connectome), ...UNTUNED_STIMULATIONS];
      return meanResponses(
        connectome,
        { draw, engine: new KernelEngine(kernel, connectome) },
        stimulations,
        seeds,
      );
    };
    const measured = responsesOf(await readTables(options.tables, progress));
    const statistics = await readStatistics(options.statistics, progress);
    const ofBrains: Deviation[][] = [];
    for (let brain = 0; brain < brains; brain++) {
      ofBrains.push(
        deviations(measured, responsesOf(sampleBrain(statistics, progress, DEFAULT_SEED + brain))),
      );
    }
    progress.end();
    process.stdout.write(tableOf(ofBrains));
    return ofBrains[0]!.some(isBeyond) ? 1 : 0;
  },
});

function countOf(option: string, text: string): number {
  if (!/^[1-9]\d{0,2}$/.test(text)) {
    throw usage({ name: COMMAND_NAME }, `--${option} should be a whole number from 1 to 999, found ${text}`);
  }
  return Number(text);
}

function opened(file: Uint8Array): Connectome {
  return openConnectome(file.buffer as ArrayBuffer);
}

function isBeyond({ difference, tolerance }: Deviation): boolean {
  return Math.abs(difference) > tolerance;
}

/** Markdown: one row for each thing compared, over all brains. */
function tableOf(ofBrains: readonly (readonly Deviation[])[]): string {
  const rows = ofBrains[0]!.map(({ name, unit, measured, tolerance, synthetic }, i) => {
    const all = ofBrains.map((each) => each[i]!);
    const mean = all.reduce((sum, { difference }) => sum + difference, 0) / all.length;
    const worst = all.reduce((a, b) => (Math.abs(b.difference) > Math.abs(a.difference) ? b : a));
    const beyond = all.filter(isBeyond).length;
    const digits = unit === '%' ? 0 : 1;
    return (
      `| ${name} | ${measured.toFixed(digits)} | ${synthetic.toFixed(digits)} | ${signed(mean)} | ` +
      `${signed(worst.difference)} | ${unit} | ${tolerance === Infinity ? '' : tolerance} | ${beyond} |\n`
    );
  });
  const responding = ofBrains[0]!.flatMap(({ unit }, i) => (unit === '%' ? [i] : []));
  const rms = (places: readonly number[]): string => {
    const means = places.map(
      (i) => ofBrains.reduce((sum, each) => sum + each[i]!.difference, 0) / ofBrains.length,
    );
    return Math.sqrt(means.reduce((sum, x) => sum + x * x, 0) / means.length).toFixed(1);
  };
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
