/** npm run validate compares the model with published results on flies, and writes docs/validation.md. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Brain } from '../compiler/brain.js';
import { sampleBrain } from '../statistics/sample-brain.js';
import { readStatistics } from '../statistics/statistics-files.js';
import { buildConnectome } from '../compiler/build-connectome.js';
import { DEFAULT_DATASET, readDataset } from '../compiler/dataset.js';
import { defaultPopulations } from '../compiler/populations.js';
import type { Progress } from '../compiler/progress.js';
import { MAX_SYNAPSES_PER_CONNECTION, type TableSignRule } from '../../engine/connectome/connectome.js';
import { readTables } from '../compiler/tables.js';
import { encodeConnectome, openConnectome } from '../../engine/connectome/format.js';
import { drawSvg } from '../../experiments/figures/draw.js';
import {
  checkMarkers,
  outcomeTable,
  publishedTable,
  tablesOf,
  withTable,
  withTables,
} from '../studies/document.js';
import { outcomes } from '../studies/outcomes.js';
import { publishedResults } from '../studies/published.js';
import { plotsOf } from '../studies/plots.js';
import { report } from '../studies/report.js';
import { Subject } from '../studies/subject.js';
import { defineCommand, demand, flag, integer, text as textOption } from './command.js';
import { compiledSimulators } from './simulators.js';
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
    if (document !== undefined) checkWritable(document);
    if (images !== undefined) {
      attempt(`${images} cannot be written to`, () => mkdirSync(images, { recursive: true }));
    }
    const simulators = compiledSimulators();
    const subjectOf = (brain: Brain, signRule: TableSignRule): Subject => {
      const populations = defaultPopulations(brain);
      const { buffer } = encodeConnectome(buildConnectome(brain, { signRule, populations }));
      return new Subject(openConnectome(buffer), simulators);
    };
    const other = readDataset(dataset);
    const measured = await readTables(tables, progress, minimum, undefined, other);
    if (published) {
      const subject = subjectOf(measured, isOther ? 'fast' : 'predicted');
      const { results, tables } = publishedStudy(
        subject,
        isOther ? (other.published ?? []) : undefined,
        progress,
      );
      const filled = Object.entries(tables).reduce((filled, each) => withTable(filled, ...each), text);
      if (document !== undefined) await writeAtomically(document, filled);
      print(json ? `${JSON.stringify(results)}\n` : Object.values(tables).join('\n'));
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

/** @param published results of the data set; undefined for those of the default one */
function publishedStudy(
  subject: Subject,
  published: Parameters<typeof publishedResults>[1],
  progress: Progress,
) {
  progress.begin('Repeating published experiments', 0, 'items');
  const repeated = publishedResults(subject, published);
  progress.begin('Predicting outcomes of experiments on flies', 0, 'items');
  const predicted = outcomes(subject);
  return {
    results: { published: repeated, outcomes: predicted },
    tables: {
      published: publishedTable(repeated, published && 'source'),
      outcomes: outcomeTable(predicted),
    },
  };
}

/** @throws CodedError USAGE if the document cannot be read or lacks the markers of a table */
function readDocument(path: string): string {
  const text = attempt(`${path} cannot be read`, () => readFileSync(path, 'utf8'));
  checkMarkers(text);
  return text;
}
