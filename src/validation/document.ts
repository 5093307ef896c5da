/**
 * The tables of docs/validation.md. `npm run validate` generates each table between two comments with its name; the
 * text around them is written by hand.
 */
import { CHANNEL_IDS } from '../answers/v1/populations.js';
import { CodedError } from '../errors.js';
import type { PublishedResult } from './published.js';
import { PATHWAYS, type Report } from './report.js';
import type { Spread } from './spread.js';
import { SHUFFLES, type StimulusDrives, type StimulusResponse } from './studies.js';

/** A glomerulus that recruits more neurons than this has triggered a runaway. */
export const RUNAWAY_NEURONS = 1000;
const PLACE = /<!-- begin (\w+) -->\n[^]*?<!-- end \1 -->/g;
const STRONGEST_CHANNELS = 3;
const STRONGEST_LESIONS = 8;

const TABLES: Readonly<Record<string, (report: Report) => string>> = {
  published: ({ published }) => publishedTable(published),
  signs,
  overlaps: overlapTable,
  glomeruli: glomerulusTable,
  doses: doseTable,
  recruitment: recruitmentTable,
  shuffled: shuffledTable,
  loom: (report) => lesionTable(report, 'loom'),
  sugar: (report) => lesionTable(report, 'sugar'),
  discrimination: discriminationTable,
  drives: driveTable,
  assigned: ({ drives }) => assignmentTable(drives.measured),
  assignedSynthetic: ({ drives }) => assignmentTable(drives.synthetic),
  silent: silentChannels,
  synthesis: synthesisTable,
  models: modelTable,
};

/** @returns each table of a report by its name, as Markdown */
export function tablesOf(report: Report): Record<string, string> {
  return Object.fromEntries(Object.entries(TABLES).map(([name, written]) => [name, written(report)]));
}

/**
 * @param text of the document
 * @throws CodedError USAGE as withTables does for the tables of a report
 */
export function checkPlaces(text: string): void {
  withTables(text, Object.fromEntries(Object.keys(TABLES).map((name) => [name, ''])));
}

/**
 * @param text of the document
 * @throws CodedError USAGE when the document has no place for a table, or a place for one that is not there
 */
export function withTables(text: string, tables: Readonly<Record<string, string>>): string {
  const missing = new Set(Object.keys(tables));
  const filled = text.replace(PLACE, (_, name: string) => {
    if (!missing.delete(name))
      throw new CodedError('USAGE', `The document has a place for ${name}, but there is no such table.`);
    return placed(name, tables[name]!);
  });
  if (missing.size > 0) {
    throw new CodedError('USAGE', `The document has no place for ${[...missing].join(', ')}.`);
  }
  return filled;
}

/** Published results and ours, side by side. */
export function publishedTable(results: readonly PublishedResult[]): string {
  return table(
    ['stimulated', 'measured', 'published', 'here', 'difference', 'decidable with these tables?'],
    results.map(({ name, reads, published, ours, decides }) => [
      name,
      reads,
      String(published),
      shown(ours, 1),
      typeof published === 'number' ? signed(ours.mean - published) : '',
      decides,
    ]),
  );
}

function signed(difference: number): string {
  return `${difference < 0 ? '−' : '+'}${Math.abs(difference).toFixed(1)}`;
}

/** Puts one table into its place, and leaves the others as they are. */
export function withTable(text: string, name: string, written: string): string {
  return text.replace(PLACE, (place, found: string) => (found === name ? placed(name, written) : place));
}

function placed(name: string, written: string): string {
  return `<!-- begin ${name} -->\n\n${written}\n<!-- end ${name} -->`;
}

function modelTable({ connectomes, spontaneous }: Report): string {
  return table(
    ['rule', 'digest of the connectome', 'neurons that spike without a stimulus'],
    (['predicted', 'corrected'] as const).map((rule) => [
      rule,
      `\`${connectomes[rule].slice(0, 16)}…\``,
      String(spontaneous[rule]),
    ]),
  );
}

function signs({ responses: { predicted, corrected } }: Report): string {
  return table(
    [
      'stimulus',
      'stimulated',
      'responding, predicted',
      'responding, corrected',
      'channels, predicted (Hz)',
      'channels, corrected (Hz)',
    ],
    corrected.map((own, i) => [
      own.stimulus,
      String(own.stimulated),
      shown(predicted[i]!.responding, 0),
      shown(own.responding, 0),
      channelsOf(predicted[i]!),
      channelsOf(own),
    ]),
  );
}

function channelsOf({ channels }: StimulusResponse): string {
  const strongest = channels.filter(({ rateHz }) => rateHz.mean >= 1).slice(0, STRONGEST_CHANNELS);
  return strongest.map(({ id, rateHz }) => `${id} ${rateHz.mean.toFixed(1)}`).join(', ');
}

function overlapTable({ overlaps: { predicted, corrected } }: Report): string {
  return table(
    ['stimuli', 'predicted', 'corrected'],
    corrected.map(({ pair, jaccard }, i) => [
      pair.join(' and '),
      predicted[i]!.jaccard.toFixed(3),
      jaccard.toFixed(3),
    ]),
  );
}

function glomerulusTable({ glomeruli }: Report): string {
  const rows = (['predicted', 'corrected'] as const).map((rule) => {
    const counts = glomeruli.map(({ responding }) => responding[rule]).sort((a, b) => a - b);
    return [
      rule,
      String(glomeruli.length),
      String(counts.filter((count) => count > RUNAWAY_NEURONS).length),
      counts[0]!.toFixed(0),
      counts[counts.length >> 1]!.toFixed(0),
      counts.at(-1)!.toFixed(0),
    ];
  });
  return table(
    ['rule', 'glomeruli', `recruit more than ${RUNAWAY_NEURONS}`, 'minimum', 'median', 'maximum'],
    rows,
  );
}

/** Rates of the channels for which the literature predicts a response. */
function doseTable({ doses }: Report): string {
  return doseRows(
    PATHWAYS.map(({ stimulus, channel }) => ({
      title: `${stimulus}: ${channel} (Hz)`,
      digits: 1,
      spreads: doses.find((each) => each.stimulus === stimulus)!.doses.map(({ rates }) => rates[channel]),
    })),
    doses,
  );
}

/** How many neurons each stimulus recruits. */
function recruitmentTable({ doses }: Report): string {
  return doseRows(
    doses.map(({ stimulus, doses: own }) => ({
      title: stimulus,
      digits: 0,
      spreads: own.map(({ responding }) => responding),
    })),
    doses,
  );
}

function doseRows(
  columns: readonly {
    readonly title: string;
    readonly digits: number;
    readonly spreads: readonly Spread[];
  }[],
  doses: Report['doses'],
): string {
  return table(
    ['intensity', ...columns.map(({ title }) => title)],
    doses[0]!.doses.map(({ intensity }, i) => [
      String(intensity),
      ...columns.map(({ spreads, digits }) => shown(spreads[i]!, digits)),
    ]),
  );
}

function shuffledTable({ responses: { corrected }, shuffled }: Report): string {
  return table(
    [
      'stimulus',
      'responding',
      ...SHUFFLES.map((kept) => `${kept} kept`),
      'channels (Hz)',
      ...SHUFFLES.map((kept) => `${kept} kept (Hz)`),
    ],
    corrected.map((own, i) => {
      const all = [own, ...SHUFFLES.map((kept) => shuffled[kept].responses[i]!)];
      return [own.stimulus, ...all.map(({ responding }) => shown(responding, 0)), ...all.map(channelsOf)];
    }),
  );
}

function lesionTable({ lesions }: Report, stimulus: string): string {
  const own = lesions.filter((each) => each.stimulus === stimulus);
  const intact = own.find(({ silenced }) => silenced.length === 0)!;
  const others = own.filter((each) => each !== intact);
  // If types were silenced one at a time, only those with the largest effect; the sort is stable.
  const rows = others.every(({ silenced }) => silenced.length === 1)
    ? others.sort((a, b) => a.rateHz.mean - b.rateHz.mean).slice(0, STRONGEST_LESIONS)
    : others;
  return table(
    ['silenced', `${intact.channel} (Hz)`, 'of the intact brain'],
    [intact, ...rows].map(({ silenced, rateHz }) => [
      silenced.length === 0 ? 'nothing' : silenced.join(' and '),
      shown(rateHz, 1),
      `${Math.round((100 * rateHz.mean) / intact.rateHz.mean)} %`,
    ]),
  );
}

function discriminationTable({ discrimination, shuffled }: Report): string {
  return table(
    ['wiring', 'runs', 'identified', 'confusions'],
    [
      ['as measured', discrimination] as const,
      ...SHUFFLES.map((kept) => [`shuffled, ${kept} kept`, shuffled[kept].discrimination] as const),
    ].map(([name, { runs, right, mistaken }]) => [
      name,
      String(runs),
      `${Math.round((100 * right) / runs)} %`,
      mistaken.map(({ stimulus, takenFor, times }) => `${stimulus} as ${takenFor}: ${times}`).join(', '),
    ]),
  );
}

/** Means with two digits; a cell is empty if the drive is 0 in every run. */
function driveTable({ drives: { measured } }: Report): string {
  return table(
    ['stimulus', ...measured[0]!.drives.map(({ id }) => id)],
    measured.map(({ stimulus, drives }) => [
      stimulus,
      ...drives.map(({ value: { mean, sd } }) => (mean === 0 && sd === 0 ? '' : mean.toFixed(2))),
    ]),
  );
}

function assignmentTable(stimuli: readonly StimulusDrives[]): string {
  return table(
    ['stimulus', ...stimuli.map(({ stimulus }) => stimulus)],
    stimuli.map(({ stimulus, assignedTo }) => [
      stimulus,
      ...assignedTo.map((times) => (times === 0 ? '' : String(times))),
    ]),
  );
}

function silentChannels({ responses: { corrected } }: Report): string {
  const driven = new Set(corrected.flatMap(({ channels }) => channels.map(({ id }) => id)));
  const strong = new Set(
    corrected.flatMap(({ channels }) =>
      channels.filter(({ rateHz }) => rateHz.mean >= 1).map(({ id }) => id),
    ),
  );
  const named = (ids: readonly string[]): string => (ids.length === 0 ? 'none' : ids.join(', '));
  return table(
    ['channels', ''],
    [
      ['never reached by any stimulus', named(CHANNEL_IDS.filter((id) => !driven.has(id)))],
      [
        'reached, but below 1 Hz for every stimulus',
        named(CHANNEL_IDS.filter((id) => driven.has(id) && !strong.has(id))),
      ],
    ],
  );
}

function synthesisTable({ synthesis }: Report): string {
  return table(
    ['', 'tables', 'synthetic', 'difference', 'tolerance'],
    synthesis.map(({ name, measured, synthetic, difference, unit, tolerance }) => {
      const digits = unit === '%' ? 0 : 1;
      return [
        name,
        measured.toFixed(digits),
        synthetic.toFixed(digits),
        `${signed(difference)} ${unit}`,
        tolerance === Infinity ? '' : `${tolerance} ${unit}`,
      ];
    }),
  );
}

function shown({ mean, sd }: Spread, digits: number): string {
  return `${mean.toFixed(digits)} ± ${sd.toFixed(digits)}`;
}

/** Padded as the project's formatter would. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((cell, column) =>
    Math.max(3, cell.length, ...rows.map((row) => row[column]!.length)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |\n`;
  return line(head) + line(widths.map((width) => '-'.repeat(width))) + rows.map(line).join('');
}
