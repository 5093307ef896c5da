/** npm run validate: compares the model with what is known about flies; writes docs/validation.md. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Brain } from '../compiler/brain.js';
import { sampleBrain } from '../compiler/statistics/sample-brain.js';
import { readStatistics } from '../compiler/statistics/statistics-files.js';
import { layOut } from '../compiler/lay-out.js';
import { DEFAULT_DATASET, readDataset } from '../compiler/dataset.js';
import { defaultPopulations } from '../compiler/populations.js';
import { MAXIMUM_SYNAPSES_PER_CONNECTION, type TableSignRule } from '../connectome/connectome.js';
import { readTables } from '../compiler/tables.js';
import { encodeConnectome, openConnectome } from '../connectome/format.js';
import { drawSvg } from '../experiments/figures/draw.js';
import {
  checkPlaces,
  outcomeTable,
  publishedTable,
  tablesOf,
  withTable,
  withTables,
} from '../validation/document.js';
import { outcomes } from '../validation/outcomes.js';
import { publishedResults } from '../validation/published.js';
import { plotsOf } from '../validation/plots.js';
import { report } from '../validation/report.js';
import { Subject } from '../validation/subject.js';
import { defineCommand, demand, flag, integer, text as textOption } from './command.js';
import { compiledSimulators } from './simulators.js';
import { attempt, writeAtomically } from './atomic-file.js';

const IMAGE_WIDTH = 720;

export const command = defineCommand({
  name: 'validate',
  summary:
    'Validates the model on the tables of a release: published results, sign rules, doses, lesions, shuffled\n' +
    'wiring, drives and the synthetic brain. Prints the tables of docs/validation.md.',
  options: {
    tables: textOption('DIR', 'Directory with the tables of the data set.', { required: true }),
    dataset: textOption('NAME', 'With --published: data set of the tables.', { default: DEFAULT_DATASET }),
    'minimum-synapses': integer('With --published: leave out pairs with fewer synapses; default 5.', [
      1,
      MAXIMUM_SYNAPSES_PER_CONNECTION,
    ]),
    statistics: textOption('DIR', 'Directory with the statistics of the synthetic brain.', {
      default: 'data/cell-types',
    }),
    document: textOption('FILE', 'Update the tables in this document.'),
    images: textOption('DIR', 'Directory for the plots.'),
    published: flag('Reproduce only the published results, and predict published outcomes.'),
    json: flag('Print all numbers as JSON instead.'),
  },
  async run(options, _, { print, progress }) {
    const {
      tables,
      dataset,
      statistics,
      document,
      images,
      published,
      json,
      'minimum-synapses': minimum,
    } = options;
    const isOther = dataset !== DEFAULT_DATASET;
    demand(
      published || (!isOther && minimum === undefined),
      '--dataset and --minimum-synapses need --published',
    );
    demand(!isOther || document === undefined, `--document has the numbers of ${DEFAULT_DATASET}`);
    // Check the outputs now, not after all computations.
    const text = document === undefined ? '' : readDocument(document);
    if (images !== undefined) {
      attempt(`${images} cannot be written to`, () => mkdirSync(images, { recursive: true }));
    }
    const simulators = compiledSimulators();
    const subjectOf = (brain: Brain, signRule: TableSignRule): Subject => {
      const populations = defaultPopulations(brain);
      const { buffer } = encodeConnectome(layOut(brain, { signRule, populations }));
      return new Subject(openConnectome(buffer), simulators);
    };
    const other = readDataset(dataset);
    const measured = await readTables(tables, progress, minimum, undefined, other);
    if (published) {
      progress.begin('Repeating published experiments', 0, 'items');
      const subject = subjectOf(measured, isOther ? 'fast' : 'predicted');
      const results = publishedResults(subject, isOther ? (other.published ?? []) : undefined);
      progress.begin('Predicting outcomes of experiments on flies', 0, 'items');
      const found = outcomes(subject);
      const tables = {
        published: publishedTable(results, isOther ? 'source' : undefined),
        outcomes: outcomeTable(found),
      };
      const filled = Object.entries(tables).reduce((filled, each) => withTable(filled, ...each), text);
      if (document !== undefined) await writeAtomically(document, filled);
      print(
        json
          ? `${JSON.stringify({ published: results, outcomes: found })}\n`
          : Object.values(tables).join('\n'),
      );
      return;
    }
    const synthetic = sampleBrain(await readStatistics(statistics, progress), progress);
    const found = report(
      { predicted: subjectOf(measured, 'predicted'), corrected: subjectOf(measured, 'corrected') },
      subjectOf(synthetic, 'corrected'),
      simulators,
      (study) => progress.begin(study, 0, 'items'),
    );
    const written = tablesOf(found);
    if (document !== undefined) await writeAtomically(document, withTables(text, written));
    for (const [name, plot] of images === undefined ? [] : Object.entries(plotsOf(found))) {
      progress.begin(`Drawing ${name}`, 0, 'items');
      await writeAtomically(join(images!, name), `${drawSvg(plot, IMAGE_WIDTH)}\n`);
    }
    const allTables = Object.entries(written).map(([name, table]) => `${name}\n\n${table}\n`);
    print(json ? `${JSON.stringify(found)}\n` : allTables.join(''));
  },
});

/** @throws CodedError USAGE when it cannot be read or has no place for a table */
function readDocument(path: string): string {
  const text = attempt(`${path} cannot be read`, () => readFileSync(path, 'utf8'));
  checkPlaces(text);
  return text;
}
