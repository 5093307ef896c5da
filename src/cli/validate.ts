/** npm run validate: compares the model with what is known about flies; writes docs/validation.md. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Brain } from '../compiler/brain.js';
import { sampleBrain } from '../compiler/statistics/sample-brain.js';
import { readStatistics } from '../compiler/statistics/statistics-files.js';
import { layOut } from '../compiler/lay-out.js';
import { readPopulations } from '../compiler/populations.js';
import { readTables } from '../compiler/tables.js';
import type { Connectome, TableSignRule } from '../connectome/connectome.js';
import { encodeConnectome, openConnectome } from '../connectome/format.js';
import { KernelEngine } from '../engine/backends/cpu/kernel-engine.js';
import { CodedError } from '../errors.js';
import { plottingLibrary, renderSvg } from '../plot/svg.js';
import { compiledDrawing } from '../experiment/compiled-drawing.js';
import { compileDrawingKernel, compileKernel } from '../pool/kernel-file.js';
import { runCommand } from './command.js';
import { checkPlaces, publishedTable, tablesOf, withTable, withTables } from '../validation/document.js';
import { publishedResults } from '../validation/published.js';
import { plotsOf } from '../validation/plots.js';
import { report } from '../validation/report.js';
import { type Simulators, Subject } from '../validation/studies.js';
import { writeWhole } from './write-whole.js';

await runCommand({
  name: 'validate',
  summary:
    'Validates the model on the tables of a release: published results, sign rules, doses, lesions, shuffled\n' +
    'wiring, drives and the synthetic brain. Prints the tables of docs/validation.md.',
  options: {
    tables: { type: 'string', value: 'DIR', required: true, help: 'Directory with the five Codex tables.' },
    statistics: {
      type: 'string',
      value: 'DIR',
      default: 'data/cell-types',
      help: 'Directory with the statistics of the synthetic brain.',
    },
    document: { type: 'string', value: 'FILE', help: 'Update the tables in this document.' },
    images: { type: 'string', value: 'DIR', help: 'Directory for the plots.' },
    published: { type: 'boolean', help: 'Reproduce only the published results.' },
    json: { type: 'boolean', help: 'Print all numbers as JSON instead.' },
  },
  async run({ tables, statistics, document, images, published, json }, _, progress) {
    // Check the outputs now, not after all computations.
    const text = document === undefined ? undefined : readDocument(document);
    if (images !== undefined) {
      makeFolder(images);
      await plottingLibrary();
    }
    const kernel = compileKernel();
    const simulators: Simulators = {
      draw: compiledDrawing(compileDrawingKernel()),
      engineOf: (wiring) => new KernelEngine(kernel, wiring),
    };
    const populations = readPopulations();
    const connectomeOf = (brain: Brain, signRule: TableSignRule): Connectome =>
      openConnectome(encodeConnectome(layOut(brain, { signRule, populations })).buffer as ArrayBuffer);
    const measured = await readTables(tables, progress);
    const subjectOf = (rule: TableSignRule) => new Subject(connectomeOf(measured, rule), simulators);
    if (published) {
      progress.begin('Repeating published experiments', 0, 'items');
      const results = publishedResults(subjectOf('predicted'));
      const written = publishedTable(results);
      if (document !== undefined) await writeWhole(document, withTable(text!, 'published', written));
      progress.end();
      process.stdout.write(json ? `${JSON.stringify(results)}\n` : written);
      return;
    }
    const synthetic = connectomeOf(
      sampleBrain(await readStatistics(statistics, progress), progress),
      'corrected',
    );
    const found = report(
      { predicted: subjectOf('predicted'), corrected: subjectOf('corrected') },
      new Subject(synthetic, simulators),
      simulators,
      (study) => progress.begin(study, 0, 'items'),
    );
    const written = tablesOf(found);
    if (document !== undefined) {
      await writeWhole(document, withTables(text!, written));
    }
    if (images !== undefined) {
      for (const [file, plot] of Object.entries(plotsOf(found))) {
        progress.begin(`Drawing ${file}`, 0, 'items');
        await writeWhole(join(images, file), await renderSvg(plot));
      }
    }
    progress.end();
    process.stdout.write(
      json
        ? `${JSON.stringify(found)}\n`
        : Object.entries(written)
            .map(([name, table]) => `${name}\n\n${table}\n`)
            .join(''),
    );
  },
});

/** @throws CodedError USAGE when it cannot be read or has no place for a table */
function readDocument(path: string): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new CodedError('USAGE', `${path} cannot be read: ${(error as Error).message}.`);
  }
  checkPlaces(text);
  return text;
}

/** @throws CodedError USAGE */
function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true });
  } catch (error) {
    throw new CodedError('USAGE', `${path} cannot be written to: ${(error as Error).message}.`);
  }
}
