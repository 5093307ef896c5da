/** npm run experiment runs an open experiment: a document, or options that stand for one. */
import { type ExperimentDocument, filesOfRates } from '#client';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { answerJson, dryRunJson } from '../../experiments/formats/answer-json.js';
import type { TableFormat } from '../../experiments/formats/formats.js';
import { describeValue } from '../../engine/errors.js';
import { figureOfFile } from '../../experiments/figures/experiment-figures.js';
import { findingsOf } from '../../experiments/figures/findings.js';
import { reportHtml } from '../../experiments/figures/report-html.js';
import { defineCommand, demand, type Terminal } from './command.js';
import { readConnectome, servedFile } from './read-connectome.js';
import { Service } from './service.js';
import { type AtomicFile, checkWritable, isSameFile, writeAtomically } from './atomic-file.js';
import type { ProgressLine } from './progress.js';
import { answerTable } from './experiment/answer-table.js';
import { computedAnswer, type FileOrder, Interrupted } from './experiment/computed-answer.js';
import { documentOf, documentText } from './experiment/document.js';
import { readDriverLines } from './experiment/driver-lines-file.js';
import { dryRunTable } from './experiment/dry-run-table.js';
import { localExperiment } from './experiment/local-experiment.js';
import { type ExperimentOptions, extensionOf, OPTIONS } from './experiment/options.js';
import { RemoteExperiment } from './experiment/remote-experiment.js';
import { plotter } from './experiment/plot-file.js';
import type { ExperimentSource } from './experiment/source.js';

export const command = defineCommand({
  name: 'experiment',
  summary:
    'Runs an open experiment: stimulates, silences, sweeps and reads any neurons.\n' +
    'WHO: cell types (LC4, LC*), on a side (LC4:left), published sets (@sugar) or\n' +
    'channels (@channel/escape); a comma unites them. A document says all of this;\n' +
    'the options change it or add to it. Silences in a window, given times, rates in\n' +
    'time and named node sets need a document.',
  options: OPTIONS,
  positionals: { usage: '[DOCUMENT.json]', help: 'Document to run; - for standard input.' },
  notes: `examples:
  # a published dose response
  npm run experiment -- examples/shiu2024-fig1d.json --plot dose.svg
  # left looming detectors, from 200 ms on for 300 ms, one relay silenced
  npm run experiment -- --stimulate LC4:left,LPLC2:left@100 --window 200+300 \\
      --silence PVLP122b --report DNp01/side --trials 20
  # a rate from 10 to 200 Hz in steps of 10
  npm run experiment -- --stimulate @sugar --report @MN9 --sweep rate=10:200:10
  # the 50 types that respond most, silenced in turn
  npm run experiment -- --stimulate @sugar@100 --report @MN9 \\
      --sweep silence=responders:50/type
`,
  async run(options, [path], terminal) {
    const { json, plot, html, spikes, lines } = options;
    const { print, progress } = terminal;
    const orders = fileOrders(options, path);
    const draw = plot === undefined ? undefined : plotter(plot, options);
    const document = await documentOf(path, options, terminal);
    if (options['print-document']) {
      print(documentText(document));
      return;
    }
    const source = await sourceOf(document, options, terminal);
    if (options['dry-run']) {
      const dryRun = await source.dryRun();
      print(json ? dryRunJson(dryRun) : dryRunTable(dryRun));
      return;
    }
    const driverLines = lines === undefined ? undefined : await readDriverLines(lines, progress);
    let answer;
    try {
      answer = await computedAnswer(source, orders, json, progress);
    } catch (error) {
      if (!(error instanceof Interrupted)) throw error;
      progress.note(`Interrupted: ${error.message}`);
      return error.exitStatus;
    }
    const show = async () => {
      if (json) for await (const piece of answerJson(answer.events, await source.neurons())) print(piece);
      else {
        const typeOf = driverLines && findingsOf(answer, await source.neurons()).typeOf;
        print(answerTable(answer, undefined, typeOf && { driverLines, typeOf }));
      }
    };
    const findings = async () => ({ ...findingsOf(answer, await source.neurons()), driverLines });
    const plotFile = async () => {
      if (plot === undefined || draw === undefined) return;
      const figure = await draw(figureOfFile(await findings()), (sentence) => progress.note(sentence));
      await writeAtomically(plot, figure);
      progress.note(`Wrote the plot to ${plot}.`);
    };
    const report = async () => {
      if (html === undefined) return;
      const date = new Date().toISOString().slice(0, 10);
      const { totals } = answer;
      const text = reportHtml({ findings: await findings(), totals, program: programName(), date });
      await writeAtomically(html, text);
      progress.note(`Wrote the report to ${html}.`);
    };
    const files = answer.files.map((file) => () => {
      finishFile(file, file.path === spikes ? 'the spikes' : 'the table', progress);
    });
    await allOutputs([show, ...files, plotFile, report], progress);
    // Show three digits.
    const decimals = Math.max(0, 3 - String(Math.floor(answer.seconds)).length);
    progress.note(`Ran ${answer.trials} trials in ${answer.seconds.toFixed(decimals)} s.`);
  },
});

/**
 * Writes all outputs, also after one has failed, because the results may have taken hours. Notes further failures.
 * @throws the first failure
 */
async function allOutputs(outputs: readonly (() => unknown)[], progress: ProgressLine): Promise<void> {
  const failures: unknown[] = [];
  for (const write of outputs) {
    try {
      await write();
    } catch (error) {
      failures.push(error);
    }
  }
  for (const further of failures.slice(1)) progress.note((further as Error).message);
  if (failures.length > 0) throw failures[0];
}

/** @throws CodedError USAGE if the file cannot get its name; it then has one such as rates.partial.csv */
function finishFile(file: AtomicFile, what: string, progress: ProgressLine): void {
  try {
    file.finish();
    progress.note(`Wrote ${what} to ${file.path}.`);
  } catch (error) {
    progress.note(`Wrote ${what} to ${file.finishPartial()}.`);
    throw error;
  }
}

/**
 * @param document its file
 * @throws UsageError; CodedError USAGE if a file cannot be written
 */
function fileOrders(options: ExperimentOptions, document?: string): FileOrder[] {
  const { csv, table, spikes, names, plot, html, connectome, lines, font } = options;
  // --spikes adds a report to the document, so it has a meaning there.
  const computed = (['csv', 'plot', 'html'] as const).find((name) => options[name]);
  const printed = (['print-document', 'dry-run'] as const).find((name) => options[name]);
  demand(
    computed === undefined || printed === undefined,
    `--${printed} computes nothing, so it cannot be combined with --${computed}`,
  );
  const paths = [csv, spikes, plot, html].filter((path) => path !== undefined).map((path) => resolve(path));
  const twice = paths.find((path, at) => paths.indexOf(path) < at);
  demand(
    twice === undefined,
    `--csv, --spikes, --plot and --html should be different files, found ${describeValue(twice)} twice`,
  );
  const read = [document, connectome, lines, font, ...filesOfRates(options)].filter(
    (path) => path !== undefined,
  );
  const lost = read.find((path) => paths.some((written) => isSameFile(path, written)));
  demand(lost === undefined, `it reads ${lost}, so no option may write to that file`);
  // These are written at the end.
  for (const path of [plot, html]) if (path !== undefined) checkWritable(path);
  const orders: FileOrder[] = [];
  if (csv !== undefined) orders.push({ path: csv, format: 'csv', table });
  if (spikes !== undefined) {
    orders.push({ path: spikes, format: extensionOf(spikes) as TableFormat, table: 'spikes', names });
  }
  return orders;
}

function programName(): string {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  const { name, version } = JSON.parse(text) as { readonly name: string; readonly version: string };
  return `${name} ${version}`;
}

/** @throws UsageError, or CodedError for a document that is refused */
async function sourceOf(
  document: unknown,
  { url, connectome, from, workers }: ExperimentOptions,
  { environment, progress }: Terminal,
): Promise<ExperimentSource> {
  if (url === undefined) {
    const model = await readConnectome(connectome ?? (await servedFile(environment)));
    return localExperiment(model, document, from, workers ?? availableParallelism());
  }
  demand(
    connectome === undefined && workers === undefined,
    '--url cannot be combined with --connectome or --workers: a service uses its own',
  );
  const service = new Service(url, progress);
  return new RemoteExperiment(service, document as ExperimentDocument, from, (note) => progress.note(note));
}
