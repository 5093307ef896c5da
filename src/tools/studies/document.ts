/**
 * The tables of docs/validation.md. `npm run validate` writes each table between two comments with its name. The text
 * around them is written by hand.
 */
import { CodedError } from '../../engine/errors.js';
import { own } from '../../engine/own.js';
import type { MeanSd } from '../../experiments/kinds/mean-sd.js';
import { CHANNEL_IDS } from '../../experiments/presets/populations.js';
import type { OutcomeResult } from './outcomes.js';
import type { PublishedResult } from './published.js';
import { KEPT, PATHWAYS, type Report } from './report.js';
import type { StimulusDrives, StimulusResponse } from './studies.js';

/** If a glomerulus recruits more neurons than this, activity has run away. */
export const RUNAWAY_NEURONS = 1000;
const MARKED = /<!-- begin (\w+) -->\n[^]*?<!-- end \1 -->/g;
const RULES = ['predicted', 'corrected'] as const;
const STRONGEST_CHANNELS = 3;
const STRONGEST_LESIONS = 8;
/** The question of a screen of types. It has most of the answers, and nearly all are no. */
const SCREEN = 'suffices';

const TABLES: Readonly<Record<string, (report: Report) => string>> = {
  published: ({ published }) => publishedTable(published),
  outcomes: ({ outcomes }) => outcomeTable(outcomes),
  signs: ({ responses: { predicted, corrected } }) =>
    table(corrected, {
      stimulus: ({ stimulus }) => stimulus,
      stimulated: ({ stimulated }) => stimulated,
      'responding, predicted': (_, i) => shown(predicted[i]!.responding, 0),
      'responding, corrected': ({ responding }) => shown(responding, 0),
      'channels, predicted (Hz)': (_, i) => channelsOf(predicted[i]!),
      'channels, corrected (Hz)': channelsOf,
    }),
  overlaps: ({ overlaps: { predicted, corrected } }) =>
    table(corrected, {
      stimuli: ({ pair }) => pair.join(' and '),
      predicted: (_, i) => predicted[i]!.jaccard.toFixed(3),
      corrected: ({ jaccard }) => jaccard.toFixed(3),
    }),
  glomeruli: ({ glomeruli }) =>
    table(
      RULES.map((rule) => ({
        rule,
        counts: glomeruli.map(({ responding }) => responding[rule]).sort((a, b) => a - b),
      })),
      {
        rule: ({ rule }) => rule,
        glomeruli: ({ counts }) => counts.length,
        [`recruit more than ${RUNAWAY_NEURONS}`]: ({ counts }) =>
          counts.filter((count) => count > RUNAWAY_NEURONS).length,
        minimum: ({ counts }) => counts[0]!.toFixed(0),
        median: ({ counts }) => counts[counts.length >> 1]!.toFixed(0),
        maximum: ({ counts }) => counts.at(-1)!.toFixed(0),
      },
    ),
  /** Rates of the channels for which the literature predicts a response. */
  doses: ({ doses }) =>
    table(doses[0]!.doses, {
      intensity: ({ intensity }) => intensity,
      ...columns(PATHWAYS, ({ stimulus, channel }) => [
        `${stimulus}: ${channel} (Hz)`,
        (_, i) => shown(doses.find((each) => each.stimulus === stimulus)!.doses[i]!.rates[channel], 1),
      ]),
    }),
  /** Numbers of neurons that each stimulus recruits. */
  recruitment: ({ doses }) =>
    table(doses[0]!.doses, {
      intensity: ({ intensity }) => intensity,
      ...columns(doses, ({ stimulus, doses: own }) => [stimulus, (_, i) => shown(own[i]!.responding, 0)]),
    }),
  shuffled: ({ responses: { corrected }, shuffled }) =>
    table(corrected, {
      stimulus: ({ stimulus }) => stimulus,
      responding: ({ responding }) => shown(responding, 0),
      ...columns(KEPT, (kept) => [
        `${kept} kept`,
        (_, i) => shown(shuffled[kept].responses[i]!.responding, 0),
      ]),
      'channels (Hz)': channelsOf,
      ...columns(KEPT, (kept) => [`${kept} kept (Hz)`, (_, i) => channelsOf(shuffled[kept].responses[i]!)]),
    }),
  loom: (report) => lesionTable(report, 'loom'),
  sugar: (report) => lesionTable(report, 'sugar'),
  discrimination: ({ discrimination, shuffled }) =>
    table(
      [
        { wiring: 'as measured', ...discrimination },
        ...KEPT.map((kept) => ({ wiring: `shuffled, ${kept} kept`, ...shuffled[kept].discrimination })),
      ],
      {
        wiring: ({ wiring }) => wiring,
        runs: ({ runs }) => runs,
        identified: ({ right, runs }) => `${Math.round((100 * right) / runs)} %`,
        confusions: ({ mistaken }) =>
          mistaken.map(({ stimulus, takenFor, times }) => `${stimulus} as ${takenFor}: ${times}`).join(', '),
      },
    ),
  /** Means with two digits; a cell is empty if the drive is 0 in every run. */
  drives: ({ drives: { measured } }) =>
    table(measured, {
      stimulus: ({ stimulus }) => stimulus,
      ...columns(measured[0]!.drives, ({ id }, k) => [
        id,
        ({ drives }) => {
          const { mean, sd } = drives[k]!.value;
          return mean === 0 && sd === 0 ? '' : mean.toFixed(2);
        },
      ]),
    }),
  assigned: ({ drives }) => assignmentTable(drives.measured),
  assignedSynthetic: ({ drives }) => assignmentTable(drives.synthetic),
  silent: ({ responses: { corrected } }) => {
    const all = corrected.flatMap(({ channels }) => channels);
    const reaching = (hz: number) =>
      new Set(all.filter(({ rateHz }) => rateHz.mean >= hz).map(({ id }) => id));
    const [driven, strong] = [reaching(0), reaching(1)];
    const never = CHANNEL_IDS.filter((id) => !driven.has(id));
    const weak = CHANNEL_IDS.filter((id) => driven.has(id) && !strong.has(id));
    const rows = [
      ['never reached by any stimulus', never],
      ['reached, but below 1 Hz for every stimulus', weak],
    ] as const;
    return table(rows, { channels: ([which]) => which, '': ([, ids]) => ids.join(', ') || 'none' });
  },
  synthesis: ({ synthesis }) => {
    const digits = (unit: string) => (unit === '%' ? 0 : 1);
    return table(synthesis, {
      '': ({ name }) => name,
      tables: ({ measured, unit }) => measured.toFixed(digits(unit)),
      synthetic: ({ synthetic, unit }) => synthetic.toFixed(digits(unit)),
      difference: ({ difference, unit }) => `${signed(difference)} ${unit}`,
      tolerance: ({ tolerance, unit }) => (tolerance === Infinity ? '' : `${tolerance} ${unit}`),
    });
  },
  models: ({ connectomes, spontaneous }) =>
    table(RULES, {
      rule: (rule) => rule,
      'digest of the connectome': (rule) => `\`${connectomes[rule].slice(0, 16)}…\``,
      'neurons that spike without a stimulus': (rule) => spontaneous[rule],
    }),
};

/** @returns each table of a report by its name, as Markdown */
export function tablesOf(report: Report): Record<string, string> {
  return Object.fromEntries(Object.entries(TABLES).map(([name, written]) => [name, written(report)]));
}

/** @throws CodedError USAGE if the markers in the document are not those of a report's tables */
export function checkMarkers(text: string): void {
  withTables(text, Object.fromEntries(Object.keys(TABLES).map((name) => [name, ''])));
}

/**
 * @param text of the document
 * @throws CodedError USAGE if the document lacks the markers of a table, or has those of an unknown table
 */
export function withTables(text: string, tables: Readonly<Record<string, string>>): string {
  const missing = new Set(Object.keys(tables));
  for (const [, name] of text.matchAll(MARKED)) {
    if (!missing.delete(name!))
      throw new CodedError('USAGE', `The document has a place for ${name}, but there is no such table.`);
  }
  if (missing.size > 0) {
    throw new CodedError('USAGE', `The document has no place for ${[...missing].join(', ')}.`);
  }
  return withSomeTables(text, tables);
}

/** Writes tables between their markers; other tables stay. */
export function withSomeTables(text: string, tables: Readonly<Record<string, string>>): string {
  return text.replace(MARKED, (marked, name: string) => {
    const written = own(tables, name);
    return written === undefined ? marked : `<!-- begin ${name} -->\n\n${written}\n<!-- end ${name} -->`;
  });
}

/** Published results and ours, side by side. Those of the paper say what decides them, others have a source. */
export function publishedTable(results: readonly PublishedResult[]): string {
  const last = results.some(({ decides }) => decides !== undefined) ? 'decides' : 'source';
  return table(results, {
    stimulated: ({ name }) => name,
    measured: ({ reads }) => reads,
    published: ({ published }) => published ?? '',
    here: ({ ours }) => (typeof ours === 'number' ? ours : shown(ours, 1)),
    difference: ({ ours, published }) => {
      if (typeof published !== 'number') return '';
      return typeof ours === 'number' ? signed(ours - published, 0) : signed(ours.mean - published);
    },
    [last === 'source' ? 'source' : 'decidable with these tables?']: (result) => result[last] ?? '',
  });
}

/** Outcomes of experiments on flies beside the predictions of this model and of the paper's model, for each question. */
export function outcomeTable(results: readonly OutcomeResult[]): string {
  const rowOf = ({ agree, onlyFound, onlyPredicted, ...result }: OutcomeResult) => ({
    ...{ asks: result.asks, right: agree.length, publishedRight: result.publishedRight },
    tested: agree.length + onlyFound.length + onlyPredicted.length,
    ...{ onlyFound, onlyPredicted, missing: result.missing },
  });
  type Row = ReturnType<typeof rowOf>;
  const totalOf = (asks: string, rows: readonly Row[]): Row => ({
    asks,
    right: rows.reduce((sum, { right }) => sum + right, 0),
    publishedRight: rows.reduce((sum, { publishedRight }) => sum + publishedRight, 0),
    tested: rows.reduce((sum, { tested }) => sum + tested, 0),
    ...{ onlyFound: [], onlyPredicted: [], missing: rows.flatMap(({ missing }) => missing) },
  });
  const rows = results.map(rowOf);
  const others = rows.filter(({ asks }) => !asks.startsWith(SCREEN));
  return table([...rows, totalOf('all', rows), totalOf('all except the screen', others)], {
    'a neuron': ({ asks }) => asks,
    'right, this model': ({ right, tested }) => `${right} of ${tested}`,
    "right, the paper's model": ({ publishedRight, tested }) => `${publishedRight} of ${tested}`,
    'yes only in flies': ({ onlyFound }) => onlyFound.join(', '),
    'yes only in the model': ({ onlyPredicted }) => onlyPredicted.join(', '),
    'not in this model': ({ missing }) => (missing.length > 4 ? missing.length : missing.join(', ')),
  });
}

function channelsOf({ channels }: StimulusResponse): string {
  const strongest = channels.filter(({ rateHz }) => rateHz.mean >= 1).slice(0, STRONGEST_CHANNELS);
  return strongest.map(({ id, rateHz }) => `${id} ${rateHz.mean.toFixed(1)}`).join(', ');
}

function lesionTable({ lesions }: Report, stimulus: string): string {
  const own = lesions.filter((each) => each.stimulus === stimulus);
  const intact = own.find(({ silenced }) => silenced.length === 0)!;
  const others = own.filter((each) => each !== intact);
  // If types were silenced one at a time, show only those that lower it most.
  const rows = others.every(({ silenced }) => silenced.length === 1)
    ? others.sort((a, b) => a.rateHz.mean - b.rateHz.mean).slice(0, STRONGEST_LESIONS)
    : others;
  return table([intact, ...rows], {
    silenced: ({ silenced }) => silenced.join(' and ') || 'nothing',
    [`${intact.channel} (Hz)`]: ({ rateHz }) => shown(rateHz, 1),
    'of the intact brain': ({ rateHz }) => `${Math.round((100 * rateHz.mean) / intact.rateHz.mean)} %`,
  });
}

function assignmentTable(stimuli: readonly StimulusDrives[]): string {
  return table(stimuli, {
    stimulus: ({ stimulus }) => stimulus,
    ...columns(stimuli, ({ stimulus }, k) => [stimulus, ({ assignedTo }) => assignedTo[k] || '']),
  });
}

function signed(difference: number, digits = 1): string {
  return `${difference < 0 ? '−' : '+'}${Math.abs(difference).toFixed(digits)}`;
}

function shown({ mean, sd }: MeanSd, digits: number): string {
  return `${mean.toFixed(digits)} ± ${sd.toFixed(digits)}`;
}

/** Computes the cell of row number i. */
type Cell<Row> = (row: Row, i: number) => string | number;

/** One column for each item. */
function columns<Item, Row>(
  items: readonly Item[],
  columnOf: (item: Item, k: number) => readonly [title: string, cell: Cell<Row>],
): Record<string, Cell<Row>> {
  return Object.fromEntries(items.map(columnOf));
}

/** A Markdown table, padded as the project's formatter would. @param cells by the titles of their columns */
function table<Row>(rows: readonly Row[], cells: Readonly<Record<string, Cell<Row>>>): string {
  const lines = [
    Object.keys(cells),
    ...rows.map((row, i) => Object.values(cells).map((cell) => String(cell(row, i)))),
  ];
  const widths = lines[0]!.map((_, column) => Math.max(3, ...lines.map((line) => line[column]!.length)));
  const [head, ...others] = [...lines, widths.map((width) => '-'.repeat(width))].map(
    (line) => `| ${line.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |\n`,
  );
  return head! + others.pop()! + others.join('');
}
