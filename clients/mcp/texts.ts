/** Short texts of answers that have no table on the command line. */
import type { ConnectionList, Model, NeuronSearch, StepAnswer } from '#client';
import { counted } from '../../src/experiments/figures/figure.js';
import { isObject } from '../../src/engine/schema/forms.js';
import { aligned, linesText } from '../../src/tools/cli/text.js';
import type { SessionTime } from './sessions.js';

const SHOWN_ROWS = 40;
const SHOWN_TYPES = 12;

type Row = Readonly<Record<string, unknown>>;

export function modelText(model: Model, sets: readonly Row[]): string {
  return linesText([
    model.name,
    `  model ${model.id}`,
    `  ${counted(model.neuron_count, 'neuron')}, ${counted(model.connection_count, 'connection')}`,
    '',
    'Limitations',
    ...model.limitations.map((sentence) => `  ${sentence}`),
    '',
    'Stimuli of run_stimulus',
    ...table(model.stimuli.map(({ id, neuron_count: neurons, label }) => ({ id, neurons, label }))),
    '',
    'Sets of neurons that a selector can name',
    ...table(sets),
  ]);
}

export function neuronsText(
  { count, types, sides, neurons, suggestions, synonyms }: NeuronSearch,
  from?: number,
): string {
  return linesText([
    [counted(count, 'neuron'), countsText(sides), countsText(types)].filter(Boolean).join('; '),
    ...Object.entries(suggestions).map(
      ([name, near]) => `Nothing is called ${name}; near: ${near.join(', ') || 'nothing'}`,
    ),
    ...Object.entries(synonyms).map(([name, { types: meant }]) => `${name} means ${meant.join(', ')}`),
    ...table(neurons, count, from),
  ]);
}

export function connectionsText(
  { connections, count, pairs, synapses, wiring }: ConnectionList,
  from?: number,
): string {
  return linesText([
    `${counted(pairs, 'connection')} with ${counted(synapses, 'synapse')}, ${wiring} wiring`,
    ...table(connections, count, from),
  ]);
}

export function stateText({ session, t_ms: tMs }: SessionTime): string {
  return `Session ${session} is at ${tMs} ms.\n`;
}

export function stepText({ reports, ...totals }: StepAnswer): string {
  return linesText([
    Object.entries(totals)
      .map(([name, value]) => `${name} ${String(value)}`)
      .join(', '),
    ...Object.entries(reports).flatMap(([name, report]) => ['', name, ...reportRows(report)]),
  ]);
}

function reportRows(report: StepAnswer['reports'][string]): string[] {
  if (Array.isArray(report)) return table(report as readonly Row[]);
  const columns = Object.entries(report).filter((entry): entry is [string, unknown[]] =>
    Array.isArray(entry[1]),
  );
  const rows = (columns[0]?.[1] ?? []).map((_, row) =>
    Object.fromEntries(columns.map(([name, values]) => [name, values[row]])),
  );
  const cut = `  The service cut this table after ${counted(rows.length, 'row')}. Shorter steps have all of them.`;
  return [...table(rows), ...('truncated' in report ? [cut] : [])];
}

/**
 * Columns of the first rows; of a mean with its deviation only the mean.
 * @param all number of rows, listed or not
 * @param from number of rows before these
 */
function table(rows: readonly Row[], all = rows.length, from = 0): string[] {
  const shown = rows.slice(0, SHOWN_ROWS);
  const names = [...new Set(shown.flatMap((row) => Object.keys(row)))];
  const cells = shown.map((row) => names.map((name) => cellText(row[name])));
  const more = all - from - shown.length;
  return [
    ...(cells.length === 0 ? [] : aligned([names, ...cells]).map((line) => `  ${line}`)),
    ...(more > 0 ? [`  … and ${counted(more, 'more row')}`] : []),
  ];
}

function cellText(value: unknown): string {
  if (isObject(value) && 'mean' in value) return String(value['mean']);
  if (value === null || value === undefined) return '-';
  return typeof value === 'object' ? JSON.stringify(value) : String(value as string | number);
}

function countsText(counts: Readonly<Record<string, number>>): string {
  const listed = Object.entries(counts).map(([name, count]) => `${name || 'none'} ${count}`);
  const more = listed.length - SHOWN_TYPES;
  return listed.slice(0, SHOWN_TYPES).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
