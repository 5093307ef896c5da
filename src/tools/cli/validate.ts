/** npm run validate compares the model with published results on flies, and writes docs/validation.md. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sampleBrain } from '../statistics/sample-brain.js';
import { readStatistics } from '../statistics/statistics-files.js';
import { DEFAULT_DATASET, readDataset } from '../compiler/dataset.js';
import { MAX_SYNAPSES_PER_CONNECTION } from '../../engine/connectome/connectome.js';
import { readTables } from '../compiler/tables.js';
import { drawSvg } from '../../experiments/figures/draw.js';
import { checkMarkers, outcomeTable, publishedTable, tablesOf, withSomeTables } from '../studies/document.js';
import { plotsOf } from '../studies/plots.js';
import { publishedStudies, report } from '../studies/report.js';
import { defineCommand, demand, flag, integer, text as textOption } from './command.js';
import { compiledSimulators, subjectOf } from './simulators.js';
import { attempt, checkWritable, writeAtomically } from './atomic-file.js';

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
      MAX_SYNAPSES_PER_CONNECTION,
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
    const { tables, dataset, statistics, document, images, published, json } = options;
    const minimum = options['minimum-synapses'];
    const isOther = dataset !== DEFAULT_DATASET;
    demand(
      published || (!isOther && minimum === undefined),
      '--dataset and --minimum-synapses need --published',
    );
    demand(!isOther || document === undefined, `--document has the numbers of ${DEFAULT_DATASET}`);
    // Check the outputs now, not after all computations.
    const text = document === undefined ? '' : readDocument(document);
    if (document !== undefined) checkWritable(document);
    if (images !== undefined) {
      attempt(`${images} cannot be written to`, () => mkdirSync(images, { recursive: true }));
    }
    const simulators = compiledSimulators();
    const begin = (study: string) => progress.begin(study, 0, 'items');
    const other = readDataset(dataset);
    const measured = await readTables(tables, progress, minimum, undefined, other);
    if (published) {
      const subject = subjectOf(measured, isOther ? 'fast' : 'predicted', simulators);
      const found = publishedStudies(subject, begin, isOther ? (other.published ?? []) : undefined);
      const tables = {
        published: publishedTable(found.published),
        outcomes: outcomeTable(found.outcomes),
      };
      await fill(document, text, tables);
      print(json ? `${JSON.stringify(found)}\n` : Object.values(tables).join('\n'));
      return;
    }
    const synthetic = sampleBrain(await readStatistics(statistics, progress), progress);
    const found = report(
      {
        predicted: subjectOf(measured, 'predicted', simulators),
        corrected: subjectOf(measured, 'corrected', simulators),
      },
      subjectOf(synthetic, 'corrected', simulators),
      simulators,
      begin,
    );
    const written = tablesOf(found);
    await fill(document, text, written);
    for (const [name, plot] of images === undefined ? [] : Object.entries(plotsOf(found))) {
      progress.begin(`Drawing ${name}`, 0, 'items');
      await writeAtomically(join(images!, name), `${drawSvg(plot, IMAGE_WIDTH)}\n`);
    }
    const allTables = Object.entries(written).map(([name, table]) => `${name}\n\n${table}\n`);
    print(json ? `${JSON.stringify(found)}\n` : allTables.join(''));
  },
});

/** @throws CodedError USAGE if the document cannot be read or lacks the markers of a table */
function readDocument(path: string): string {
  const text = attempt(`${path} cannot be read`, () => readFileSync(path, 'utf8'));
  checkMarkers(text);
  return text;
}

async function fill(document: string | undefined, text: string, tables: Readonly<Record<string, string>>) {
  if (document === undefined) return;
  await writeAtomically(document, withSomeTables(text, tables));
}
