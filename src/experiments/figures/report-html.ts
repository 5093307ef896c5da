/**
 * The report of an experiment: one HTML file without scripts that loads nothing. The command line and the laboratory make the
 * same bytes from equal answers on the same day.
 */
import { count, group, sum } from 'd3-array';
import type { RateGroup } from '../kinds/reports/rate.js';
import type {
  ConditionParameters,
  ExperimentHead,
  ExperimentTotals,
  ResolvedSet,
  ScreenResult,
} from '../document/result.js';
import type { GroupLabels } from '../kinds/groups.js';
import type { GroupResult } from '../kinds/result-rows.js';
import {
  conditionLabel,
  groupLabel,
  namedValue,
  otherSettingsText,
  parameterTitle,
  scopeOfQ,
  trialsText,
} from './condition-labels.js';
import { drawSvg } from './draw.js';
import { LINES_NOTE, typesOfRow } from './driver-lines.js';
import { drawnFigures, type DrawnFigure } from './experiment-figures.js';
import { type BinRow, type Findings, type FirstRows, type MeasuredRow, sentences } from './figure-kind.js';
import { chanceText } from './figure.js';
import { MAX_ROWS } from './measured-entries.js';
import { questionOf } from './question.js';
import { measureOf } from './report-figures.js';
import { REPORT_STYLE } from './report-style.js';
import { escaped } from './svg.js';

const FIGURE_WIDTH = 840;
const MAX_TYPES = 8;

/** HTML in which all foreign text is escaped. */
type Html = string;
/** A cell of a table. Numbers are aligned to the right; a share is a p or q. */
type Value = string | number | { readonly share: number | null };

export interface ReportedAnswer {
  /** All conditions, in order. */
  readonly findings: Findings;
  readonly totals: ExperimentTotals;
  /** The program that makes the report: `neural-experiment-service 1.0.0`. */
  readonly program: string;
  /** The day of the report: `2026-11-28`. */
  readonly date: string;
}

/** @returns the whole file, which ends with a line feed */
export function reportHtml({ findings, totals, program, date }: ReportedAnswer): Html {
  const { head } = findings;
  const { experiment } = head;
  const { name = 'Open experiment' } = experiment;
  const drawn = drawnFigures(findings);
  const warnings = totals.warnings.map(
    ({ code, message }) => `<strong>${escaped(code)}</strong>: ${escaped(message)}`,
  );
  const body = [
    `<header><h1>${escaped(name)}</h1>`,
    `<p class="question">${escaped(questionOf(experiment))}</p>`,
    `<p>${escaped(factsOf(findings))}</p></header>`,
    section(
      'Results',
      ...drawn.map((figure, at) => figureHtml(figure, at + 1)),
      ...tablesOf(drawn, findings),
    ),
    totals.screen === undefined ? '' : section('Screen', screenTable(totals.screen, findings)),
    section('Neurons', neuronsTable(head)),
    warnings.length === 0 ? '' : section('Warnings', list(warnings)),
    section('Please cite', list([...totals.cite, ...(findings.driverLines?.sources ?? [])].map(cited))),
    section('Identity', identity(findings, totals, program, date)),
    section('Document', ...documentHtml(findings)),
  ];
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    `<title>${escaped(name)}</title>`,
    `<style>${REPORT_STYLE}</style>`,
    '</head>',
    `<body>\n<main>\n${body.filter((part) => part !== '').join('\n')}\n</main>\n</body>`,
    '</html>\n',
  ].join('\n');
}

function factsOf({ head: { experiment, wiring }, conditions, unchanged }: Findings): string {
  const stopped = conditions.filter(({ complete }) => !complete).length;
  return sentences(
    `${trialsText(experiment)}${conditions.length === 1 ? '' : ` in each of ${conditions.length} conditions`}, seed ${experiment.seed}, ${wiring} wiring.`,
    `Numbers are means over the trials and population standard deviations (sd, ddof 0); n is the number of trials.`,
    unchanged > 0 && `Conditions that were not run, as they change nothing: ${unchanged}.`,
    stopped > 0 && `Conditions that were stopped at the limit on synaptic events: ${stopped}.`,
  );
}

function section(title: string, ...content: readonly Html[]): Html {
  return `<section>\n<h2>${title}</h2>\n${content.join('\n')}\n</section>`;
}

function figureHtml({ kind, figure }: DrawnFigure, number: number): Html {
  const svg = drawSvg(figure, FIGURE_WIDTH, { idPrefix: `figure-${number}-` });
  const table =
    kind.rows === undefined && kind.bins === undefined
      ? ` All numbers are in the table ${kind.table} of the data files.`
      : '';
  return (
    `<figure>\n<div class="paper">${svg}</div>\n` +
    `<figcaption><strong>Figure ${number}.</strong> ${escaped(`${figure.note}${table}`)}</figcaption>\n</figure>`
  );
}

/** Tables in the order of the figures. Tables of one kind of figure are joined. */
function tablesOf(drawn: readonly DrawnFigure[], findings: Findings): Html[] {
  const numbered = drawn.map((figure, at) => ({ ...figure, number: at + 1 }));
  return [...group(numbered, ({ kind }) => kind)].flatMap(([{ name, bins }, figures]) => {
    const numbers = figures.map(({ number }) => number);
    const behind = `behind Figure${numbers.length === 1 ? '' : 's'} ${numbers.join(', ')}`;
    if (bins !== undefined) {
      const title = `${name.charAt(0).toUpperCase()}${name.slice(1)}, ${behind}`;
      const heads = ['From (ms)', 'To (ms)', `Mean (${bins.unit})`];
      const valuesOf = ({ fromMs, toMs, mean }: BinRow) => [fromMs, toMs, mean];
      return [groupsTable(title, heads, bins.rows(findings), valuesOf, findings)];
    }
    const rows = figures.flatMap((each) => each.rows() ?? []);
    const shown = rows.flatMap((each) => each.shown).slice(0, MAX_ROWS);
    if (shown.length === 0) return [];
    return [rowsTable(behind, { ...rows[0], shown, all: sum(rows, ({ all }) => all) }, findings)];
  });
}

function rowsTable(behind: string, rows: FirstRows, findings: Findings): Html {
  const { experiment } = findings.head;
  const { label, unit } = measureOf(experiment, rows.shown[0]!.report);
  const isControlled = rows.shown.some(({ group }) => 'control' in group);
  const lines = linesColumn(findings);
  const heads = [
    `Mean (${unit})`,
    `sd (${unit})`,
    'n',
    ...(isControlled ? [`Controls (${unit})`, 'Among controls', 'p', 'q'] : []),
    'Responding',
    'Neurons',
    ...lines.heads,
  ];
  const valuesOf = ({ condition, report, group }: MeasuredRow): Value[] => {
    const { of, respondingOf } = measureOf(experiment, report);
    const value = of(group);
    const found =
      value === null
        ? [condition.complete ? 'none' : 'stopped', '–', 0]
        : [value.mean, value.sd, count(value.trials)];
    return [
      ...found,
      ...(isControlled ? controlValues(group) : []),
      respondingOf(group) || '–',
      group.neurons,
      ...lines.valuesOf(condition, group),
    ];
  };
  const about = sentences(isControlled && scopeOfQ(experiment), lines.note);
  return groupsTable(`${label}, ${behind}`, heads, rows, valuesOf, findings, about);
}

/** The column with the driver lines of a row, if the reader has a list of lines. */
function linesColumn({ driverLines, typeOf }: Findings) {
  return {
    heads: driverLines ? ['Driver lines'] : [],
    note: driverLines ? LINES_NOTE : '',
    valuesOf: ({ parameters }: ConditionParameters, group: GroupLabels) =>
      driverLines ? [driverLines.textFor(typesOfRow(parameters, group, typeOf)) || '–'] : [],
  };
}

/** @param heads headings of the value columns, after the columns that identify a row */
function groupsTable<Row extends MeasuredRow>(
  title: string,
  heads: readonly string[],
  { shown, all, order = 'in the order of the figure' }: FirstRows<Row>,
  valuesOf: (row: Row) => readonly Value[],
  { typeOf }: Findings,
  about = '',
): Html {
  const parameters = Object.keys(shown[0]?.condition.parameters ?? {});
  return tableHtml(
    title,
    [...parameters.map(parameterTitle), 'Report', 'Group', ...heads],
    shown.map((row) => [
      ...parameters.map((name): Value => {
        const value = namedValue(row.condition.parameters[name]!, typeOf);
        return typeof value === 'number' ? value : conditionLabel(name, value);
      }),
      row.report,
      groupLabel(row.group),
      ...valuesOf(row),
    ]),
    sentences(
      about,
      all > MAX_ROWS && `The first ${MAX_ROWS} of ${all} rows, ${order}; the data files have all.`,
    ),
  );
}

/** The cells that compare a group with its controls. */
function controlValues(group: GroupResult): Value[] {
  const { control, rate_hz: rate } = group as Partial<RateGroup>;
  if (control === undefined || control.mean === null || control.sd === null || rate == null) {
    return ['–', '–', '–', '–'];
  }
  const values = control.values.filter((value) => value !== null);
  const below = values.filter((value) => value < rate.mean).length;
  const above = values.filter((value) => value > rate.mean).length;
  const place =
    below === values.length
      ? `above all ${values.length}`
      : above === values.length
        ? `below all ${values.length}`
        : `above ${below}, below ${above} of ${values.length}`;
  const stopped =
    control.incomplete.length > 0 ? `; ${control.incomplete.length} stopped, counted as further` : '';
  return [
    `${shortNumber(control.mean)} ± ${shortNumber(control.sd)}`,
    place + stopped,
    { share: control.p },
    { share: control.q },
  ];
}

function screenTable({ tests, found }: ScreenResult, findings: Findings): Html {
  const lines = linesColumn(findings);
  return tableHtml(
    `Of ${tests} comparisons with matched controls, ${found.length} have q of at most 0.05`,
    ['Condition', 'Report', 'Group', 'p', 'q', ...lines.heads],
    found.map((each) => [
      otherSettingsText(each.parameters, []),
      each.report,
      Object.values(each.group).join(' ') || '–',
      { share: each.p },
      { share: each.q },
      ...lines.valuesOf(each, each.group),
    ]),
    lines.note,
  );
}

function neuronsTable({ resolved }: ExperimentHead): Html {
  const sets = Object.entries(resolved).filter(
    (entry): entry is [string, ResolvedSet] => typeof (entry[1] as Partial<ResolvedSet>).neurons === 'number',
  );
  const counts = (all: Readonly<Record<string, number>>, most: number) => {
    const named = Object.entries(all)
      .sort(([, a], [, b]) => b - a)
      .map(([name, count]) => `${name || 'untyped'} ${count}`);
    const more = named.length - most;
    return named.slice(0, most).join(', ') + (more > 0 ? ` and ${more} more types` : '');
  };
  return tableHtml(
    'Neurons that the selectors of the document stand for',
    ['Selector of', 'Neurons', 'Sides', 'Cell types', 'Missing'],
    sets.map(([name, { neurons, sides, types, missing }]) => [
      name,
      neurons,
      counts(sides, Infinity),
      counts(types, MAX_TYPES),
      missing.join(', ') || '–',
    ]),
  );
}

function identity(
  { head }: Findings,
  { cost, partial, next_page: next }: ExperimentTotals,
  program: string,
  date: string,
): Html {
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['Experiment', head.id],
    ['Model', head.model],
    ['Wiring', head.wiring],
    ['Licence of the data set', head.licence ?? 'that of FlyWire, CC-BY-NC-4.0'],
    ['Sides', head.side_convention],
    ['Computed', `${cost.brain_seconds} s of simulated time, ${cost.synaptic_events} synaptic events`],
    ['Complete', partial || next !== undefined ? 'no: conditions or rows are missing' : undefined],
    ['Report by', program],
    ['Reported on', date],
  ];
  const entries = facts.flatMap(([term, value]) =>
    value === undefined ? [] : [`<dt>${term}</dt><dd>${escaped(value)}</dd>`],
  );
  return `<dl>\n${entries.join('\n')}\n</dl>`;
}

/** The document, and the command that repeats the experiment. */
function documentHtml({ head: { experiment, model }, conditions }: Findings): Html[] {
  const json = JSON.stringify(experiment, null, 2);
  const href = `data:application/json;charset=utf-8,${encodeURIComponent(json)}`;
  const from = conditions[0]?.index ?? 0;
  const command = `npm run experiment -- experiment.json${from > 0 ? ` --from ${from}` : ''} --html report.html`;
  return [
    `<p><a download="experiment.json" href="${escaped(href)}">Save the document</a> as experiment.json. On the model ` +
      `${escaped(model)}, the command</p>`,
    `<pre tabindex="0">${command}</pre>`,
    '<p>makes this report again.</p>',
    `<pre tabindex="0" aria-label="Document">${escaped(json)}</pre>`,
  ];
}

function tableHtml(
  title: string,
  heads: readonly string[],
  rows: readonly (readonly Value[])[],
  note = '',
): Html {
  const cell = (value: Value) =>
    typeof value === 'string'
      ? `<td>${escaped(value)}</td>`
      : `<td class="number">${typeof value === 'number' ? shortNumber(value) : chanceText(value.share)}</td>`;
  const headCell = (head: string, column: number) => {
    const isNumber = rows.some((row) => typeof row[column] !== 'string');
    return `<th scope="col"${isNumber ? ' class="number"' : ''}>${escaped(head)}</th>`;
  };
  return [
    `<div class="table" tabindex="0" role="region" aria-label="${escaped(title)}">`,
    `<table>\n<caption>${escaped(`${title}${note ? `. ${note}` : ''}`)}</caption>`,
    `<thead><tr>${heads.map(headCell).join('')}</tr></thead>`,
    `<tbody>\n${rows.map((row) => `<tr>${row.map(cell).join('')}</tr>`).join('\n')}\n</tbody>\n</table>\n</div>`,
  ].join('\n');
}

function list(items: readonly Html[]): Html {
  return `<ul>\n${items.map((item) => `<li>${item}</li>`).join('\n')}\n</ul>`;
}

/** A reference with its DOI as a link. */
function cited(text: string): Html {
  const [, before = text, doi, after = ''] = /^(.*?doi:)(10\.[\w./()-]+)(.*)$/.exec(text) ?? [];
  if (doi === undefined) return escaped(text);
  return `${escaped(before)}<a href="https://doi.org/${doi}">${doi}</a>${escaped(after)}`;
}

/** A number with at most two decimals; below 0.01 with two significant digits. */
function shortNumber(value: number): string {
  return String(Math.abs(value) < 0.01 ? Number(value.toPrecision(2)) : Number(value.toFixed(2)));
}
