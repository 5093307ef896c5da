/** Experiments as text in 80 columns: numbers with bars. */
import { CHANNEL_KIND_LABELS, CHANNEL_KINDS } from '../../connectome/populations.js';
import { bar } from '../bars.js';
import type { ModelSummary, RunBody, RunTopType } from './source.js';
import {
  labelOf,
  overlapOf,
  summaryOf,
  type Condition,
  type RoundedSpread,
  type Summary,
} from './summary.js';

const NAME_WIDTH = 15;
const BAR_WIDTH = 36;
const PAIR_BAR_WIDTH = 7;
const SHOWN_TYPES = 10;
const DRIVE_NOTE = 'Drives (engineered from the channels for games and displays; no biology)';

export function tableOf(conditions: readonly Condition[], model: ModelSummary): string {
  const [first, second] = conditions;
  const lines = [model.name, '', ...conditions.flatMap(describe), ''];
  if (second !== undefined) {
    lines.push(...pairTables(first!, second, model));
  } else {
    lines.push(...singleTables(first!, model));
  }
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
}

function describe(condition: Condition): string[] {
  const { experiment, seeds, runs } = condition;
  const { totalSpikes, respondingNeurons } = summaryOf(condition);
  const seedText =
    seeds.length === 1 ? `seed ${seeds[0]!}` : `seeds ${seeds[0]!} to ${seeds.at(-1)!} (mean ± sd)`;
  const one = runs.length === 1 ? runs[0]! : undefined;
  return [
    `${labelOf(condition)}: ${experiment.duration_ms} ms, intensity ${experiment.intensity}, ${seedText}`,
    `  ${numberOf(totalSpikes)} spikes of ${numberOf(respondingNeurons)} neurons; ` +
      `${runs[0]!.spikes.stimulated_neurons} are stimulated`,
    ...(one === undefined ? [] : [`  model ${one.model}`, `  run ${one.id}`]),
  ];
}

function singleTables(condition: Condition, model: ModelSummary): string[] {
  const summary = summaryOf(condition);
  const rows = rowsOf(summary);
  const scale = Math.max(...summary.channels.map(([, { mean }]) => mean));
  return [
    ...channelTables(model, summary, (at) => {
      const [id, text, { mean }] = rows.channels[at]!;
      return `  ${id} ${text} ${bar(mean, scale, BAR_WIDTH)}`;
    }),
    DRIVE_NOTE,
    ...rows.drive.map(([id, text, { mean }]) => `  ${id} ${text} ${signedBar(mean, BAR_WIDTH)}`),
    ...typeTable(condition.runs),
  ];
}

/** Channels by kind, so that a cue is not mistaken for an action. */
function channelTables(
  { kindOf }: ModelSummary,
  { channels }: Summary,
  lineOf: (at: number) => string,
  heading: readonly string[] = [],
): string[] {
  return CHANNEL_KINDS.flatMap((kind) => {
    const lines = channels.flatMap(([id], at) => (kindOf(id) === kind ? [lineOf(at)] : []));
    return [`${CHANNEL_KIND_LABELS[kind]} (mean rate, Hz)`, ...heading, ...lines, ''];
  });
}

function pairTables(first: Condition, second: Condition, model: ModelSummary): string[] {
  const summaries = [summaryOf(first), summaryOf(second)] as const;
  const [left, right] = summaries.map(rowsOf) as [Rows, Rows];
  const scale = Math.max(...summaries.flatMap(({ channels }) => channels.map(([, { mean }]) => mean)));
  const row = (at: number, kind: keyof Rows, barOf: (mean: number) => string, digits: number) => {
    const [id, text, { mean }] = left[kind][at]!;
    const [, otherText, { mean: otherMean }] = right[kind][at]!;
    const difference = signed(otherMean - mean, digits).padStart(10);
    return `  ${id} ${text} ${barOf(mean)} ${otherText} ${barOf(otherMean)} ${difference}`;
  };
  const column = left.channels[0]![1].length + 1 + PAIR_BAR_WIDTH;
  const heading =
    `  ${''.padEnd(NAME_WIDTH)} ${cut(labelOf(first), column)} ${cut(labelOf(second), column)} ` +
    'difference';
  const overlap = overlapOf(first, second);
  return [
    ...channelTables(
      model,
      summaries[0],
      (at) => row(at, 'channels', (mean) => bar(mean, scale, PAIR_BAR_WIDTH).padEnd(PAIR_BAR_WIDTH), 2),
      [heading],
    ),
    DRIVE_NOTE,
    ...left.drive.map((_, at) => row(at, 'drive', (mean) => signedBar(mean, PAIR_BAR_WIDTH), 4)),
    '',
    `Responding neurons in common: ${numberOf(overlap)} (shared / all that respond in either, Jaccard)`,
  ];
}

interface Rows {
  readonly channels: readonly (readonly [name: string, number: string, spread: RoundedSpread])[];
  readonly drive: readonly (readonly [name: string, number: string, spread: RoundedSpread])[];
}

/** Names and numbers of channels and drives, all of the same width. */
function rowsOf({ channels, drive }: Summary): Rows {
  const hasSpread = channels.some(([, { sd }]) => sd !== null);
  const padded = (id: string, spread: RoundedSpread, digits: number) => {
    const mean = spread.mean.toFixed(digits).padStart(8);
    const text = hasSpread ? `${mean} ±${(spread.sd ?? 0).toFixed(digits).padStart(7)}` : mean;
    return [id.padEnd(NAME_WIDTH), text, spread] as const;
  };
  return {
    channels: channels.map(([id, spread]) => padded(id, spread, 2)),
    drive: drive.map(([id, spread]) => padded(id, spread, 4)),
  };
}

function typeTable(runs: readonly RunBody[]): string[] {
  const types = runs.length === 1 ? (runs[0]!.top_types ?? []) : [];
  if (types.length === 0) return [];
  const shown = types.slice(0, SHOWN_TYPES);
  const scale = Math.max(...shown.map(({ spikes }) => spikes));
  const line = (type: string, superClass: string, responding: string, rate: string, spikes: string) =>
    `  ${cut(type, 17)} ${cut(superClass, 17)} ${responding.padStart(11)} ${rate.padStart(8)} ${spikes.padStart(7)} `;
  return [
    '',
    'Most active cell types (* stimulated)',
    line('type', 'super class', 'responding', 'Hz', 'spikes'),
    ...shown.map(
      (top) =>
        line(
          top.type + (top.stimulated > 0 ? ' *' : ''),
          top.super_class,
          respondingText(top),
          top.rate_hz.toFixed(2),
          String(top.spikes),
        ) + bar(top.spikes, scale, 11),
    ),
  ];
}

function respondingText({ responding, neurons }: RunTopType): string {
  return `${responding} of ${neurons}`;
}

function numberOf({ mean, sd }: RoundedSpread): string {
  return sd === null ? String(mean) : `${mean} ± ${sd}`;
}

function signed(value: number, digits: number): string {
  const text = value.toFixed(digits);
  return Number(text) > 0 ? `+${text}` : text.replace(/^-(0\.0+)$/, '$1');
}

function cut(text: string, width: number): string {
  return text.length > width ? `${text.slice(0, width - 1)}…` : text.padEnd(width);
}

/** A drive: from the left edge for 0 to 1; what is negative stands between brackets that point left. */
function signedBar(value: number, width: number): string {
  const drawn = value < 0 ? `◂${bar(-value, 1, width - 1)}` : bar(value, 1, width);
  return drawn.padEnd(width);
}
