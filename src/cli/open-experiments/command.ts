/** npm run experiment -- DOCUMENT.json, or the options that stand for a document: open experiments. */
import { availableParallelism } from 'node:os';
import { extname, resolve } from 'node:path';
import { answerJson, dryRunJson } from '../../answers/v2/answer-json.js';
import type { ColumnNames, TableName } from '../../answers/v2/formats/formats.js';
import type { ExperimentEvent } from '../../answers/v2/result.js';
import { describeValue } from '../../errors.js';
import { withoutPauses } from '../../parts.js';
import { plottingLibrary, renderSvg } from '../../plot/svg.js';
import { defineCommand } from '../command.js';
import { COMMAND_NAME, usageError } from '../experiment-usage.js';
import type { ProgressLine } from '../progress.js';
import { readConnectome } from '../read-connectome.js';
import { servedFile } from '../served-file.js';
import { checkServiceUrl, ServiceClient } from '../service-client.js';
import { writeWhole } from '../write-whole.js';
import { formatOf } from './answer-file.js';
import { answerTable } from './answer-table.js';
import { ComputedAnswer, type FileOrder } from './computed-answer.js';
import { documentOf, documentText } from './document-source.js';
import { dryRunTable } from './dry-run-table.js';
import { Interrupt } from './interrupt.js';
import { LocalExperiment } from './local-experiment.js';
import { DOCUMENT_ARGUMENT, OPEN_OPTIONS } from './options.js';
import { plotOf } from './plot.js';
import { RemoteExperiment } from './remote-experiment.js';
import { numberIn } from './shorthand.js';
import type { ExperimentSource } from './source.js';

const MOST_WORKERS = 256;

export const OPEN_EXPERIMENTS = defineCommand({
  name: COMMAND_NAME,
  summary:
    'Runs an open experiment: stimulates, silences, sweeps and reads any neurons.\n' +
    'WHO: cell types (LC4, LC*), on a side (LC4:left), published sets (@sugar) or\n' +
    'channels (@channel/escape); a comma unites them. A document says all of this and\n' +
    'more; the options change it or add to it.',
  options: OPEN_OPTIONS,
  positionals: DOCUMENT_ARGUMENT,
  examples: [
    { what: 'a published dose response', args: 'examples/shiu2024-fig1d.json --plot dose.svg' },
    {
      what: 'left looming detectors, from 200 ms on for 300 ms, one relay silenced',
      args:
        '--stimulate LC4:left,LPLC2:left@100 --window 200+300 \\\n' +
        '      --silence PVLP122b --report DNp01/side --trials 20',
    },
    {
      what: 'a rate from 10 to 200 Hz in steps of 10',
      args: '--stimulate @sugar --report @MN9 --sweep rate=10:200:10',
    },
    {
      what: 'the 50 types that respond most, silenced in turn',
      args: '--stimulate @sugar@100 --report @MN9 \\\n      --sweep silence=responders:50/type',
    },
  ],
  async run(options, [path], progress) {
    const { json, plot, spikes } = options;
    const orders = fileOrders(options);
    const document = documentOf(path, options);
    if (options['print-document']) {
      process.stdout.write(documentText(document));
      return 0;
    }
    const source = await sourceOf(document, options, progress);
    if (options['dry-run']) {
      const dryRun = await source.dryRun();
      process.stdout.write(json ? withoutPauses(dryRunJson(dryRun)) : dryRunTable(dryRun));
      return 0;
    }
    if (plot !== undefined) await plottingLibrary();
    const interrupt = new Interrupt();
    const computed = new ComputedAnswer(source, orders, json);
    try {
      await computed.compute(progress, interrupt.signal);
    } catch (error) {
      if (!interrupt.signal.aborted) throw error;
      progress.note(interruptedAfter(computed.conditionsDone, orders.length > 0));
      return interrupt.exitStatus;
    } finally {
      interrupt.end();
    }
    const answer = computed.collected.answer();
    // Printed before the files get their names: the results are not lost if that fails.
    if (json) await printJson(computed.events, source);
    else process.stdout.write(answerTable(answer));
    for (const file of computed.finishFiles()) {
      progress.note(`Wrote ${file === spikes ? 'the spikes' : 'the table'} to ${file}.`);
    }
    if (plot !== undefined) {
      await writeWhole(plot, await renderSvg(plotOf(answer, await source.neurons())));
      progress.note(`Wrote the plot to ${plot}.`);
    }
    progress.note(computed.effort);
    return 0;
  },
});

interface FileOptions {
  readonly csv?: string | undefined;
  readonly table?: TableName | undefined;
  readonly spikes?: string | undefined;
  readonly names?: ColumnNames | undefined;
  readonly plot?: string | undefined;
}

/** @throws CodedError USAGE */
function fileOrders({ csv, table, spikes, names, plot }: FileOptions): FileOrder[] {
  const paths = [csv, spikes, plot].filter((path) => path !== undefined).map((path) => resolve(path));
  const twice = paths.find((path, at) => paths.indexOf(path) < at);
  if (twice !== undefined) {
    throw usageError(
      `--csv, --spikes and --plot should be different files, found ${describeValue(twice)} twice`,
    );
  }
  if (plot !== undefined && extname(plot).toLowerCase() !== '.svg') {
    throw usageError(`--plot writes SVG: its file should end in .svg, found ${describeValue(plot)}`);
  }
  if (table !== undefined && csv === undefined) throw usageError('--table needs --csv');
  if (names !== undefined && spikes === undefined) throw usageError('--names needs --spikes');
  return [
    ...(csv === undefined ? [] : [{ path: csv, format: 'csv' as const, ...(table && { table }) }]),
    ...(spikes === undefined
      ? []
      : [{ path: spikes, format: formatOf(spikes), table: 'spikes' as const, ...(names && { names }) }]),
  ];
}

interface SourceChoice {
  readonly url?: string | undefined;
  readonly connectome?: string | undefined;
  readonly from?: string | undefined;
  readonly workers?: string | undefined;
}

/** @throws CodedError USAGE, or for a document that is refused */
async function sourceOf(
  document: unknown,
  { url, connectome, from: first, workers }: SourceChoice,
  progress: ProgressLine,
): Promise<ExperimentSource> {
  const from = first === undefined ? 0 : wholeNumber('from', first, 0, Number.MAX_SAFE_INTEGER);
  const threads =
    workers === undefined ? availableParallelism() : wholeNumber('workers', workers, 1, MOST_WORKERS);
  if (url === undefined) {
    return new LocalExperiment(
      await readConnectome(connectome ?? (await servedFile())),
      document,
      from,
      threads,
    );
  }
  if (connectome !== undefined || workers !== undefined) {
    throw usageError('--url cannot be combined with --connectome or --workers: a service uses its own');
  }
  checkServiceUrl(url, { name: COMMAND_NAME });
  const service = new ServiceClient(url, (seconds) =>
    progress.note(`Waiting ${seconds} s for the rate limit of the service.`),
  );
  return new RemoteExperiment(service, document, from, (sentence) => progress.note(sentence));
}

/** @throws CodedError USAGE */
function wholeNumber(option: string, text: string, minimum: number, maximum: number): number {
  const number = numberIn(option, text);
  if (Number.isInteger(number) && number >= minimum && number <= maximum) return number;
  throw usageError(
    `--${option} should be a whole number from ${minimum} to ${maximum}, found ${describeValue(text)}`,
  );
}

async function printJson(events: readonly ExperimentEvent[], source: ExperimentSource): Promise<void> {
  const replayed = (async function* () {
    yield* events;
  })();
  for await (const piece of answerJson(replayed, await source.neurons())) process.stdout.write(piece);
}

function interruptedAfter(conditions: number, hasFiles: boolean): string {
  const done = conditions === 1 ? '1 condition was complete' : `${conditions} conditions were complete`;
  return `Interrupted: ${done}${hasFiles ? '; no file was written' : ''}.`;
}
