import type { TopLevelSpec } from 'vega-lite';
import { COLOURS, MUTED_COLOUR } from '../plot/svg.js';
import type { TableSignRule } from '../connectome/connectome.js';
import { RUNAWAY_NEURONS } from './document.js';
import { PATHWAYS, type Report } from './report.js';
import type { Spread } from './spread.js';

const RULES = ['predicted', 'corrected'] as const;

/** @returns descriptions of the figures of docs/validation.md by the names of their files */
export function plotsOf(report: Report): Record<string, TopLevelSpec> {
  return {
    'validation-signs.svg': signs(report),
    'validation-glomeruli.svg': glomeruli(report),
    'validation-doses.svg': doses(report),
    'validation-recruitment.svg': recruitment(report),
  };
}

function signs({ responses }: Report): TopLevelSpec {
  const rows = responses.predicted.map(({ stimulus, responding }, i) => ({
    name: stimulus,
    predicted: responding.mean,
    corrected: responses.corrected[i]!.responding.mean,
  }));
  return recruited('Neurons that each stimulus recruits', rows, 20);
}

function glomeruli(report: Report): TopLevelSpec {
  const rows = report.glomeruli.map(({ type, responding }) => ({
    name: type.slice('ORN_'.length),
    ...responding,
  }));
  rows.sort((a, b) => b.predicted - a.predicted);
  return recruited('Neurons that one glomerulus alone recruits', rows, 12);
}

/** A row for each name, a dot for each rule, and a line between them. */
function recruited(
  title: string,
  rows: readonly ({ readonly name: string } & Record<TableSignRule, number>)[],
  rowHeight: number,
): TopLevelSpec {
  const y = { field: 'name', type: 'nominal', sort: null, title: null };
  const x = {
    type: 'quantitative',
    title: 'responding neurons',
    scale: { type: 'log', domain: [10, 10_000] },
  };
  const values = rows.flatMap((row) => RULES.map((rule) => ({ name: row.name, rule, neurons: row[rule] })));
  return described({
    title,
    width: 520,
    height: { step: rowHeight },
    layer: [
      {
        data: { values: [{ neurons: RUNAWAY_NEURONS }] },
        mark: { type: 'rule', color: MUTED_COLOUR, strokeDash: [4, 4] },
        encoding: { x: { ...x, field: 'neurons' } },
      },
      {
        data: { values: rows },
        mark: { type: 'rule', color: MUTED_COLOUR, opacity: 0.5 },
        encoding: { y, x: { ...x, field: 'corrected' }, x2: { field: 'predicted' } },
      },
      {
        data: { values },
        mark: { type: 'point', filled: true, size: 55, opacity: 1 },
        encoding: {
          y,
          x: { ...x, field: 'neurons' },
          color: {
            field: 'rule',
            type: 'nominal',
            scale: { domain: RULES, range: [COLOURS[1], COLOURS[0]] },
            title: 'signs',
          },
        },
      },
    ],
  });
}

function doses(report: Report): TopLevelSpec {
  const values = PATHWAYS.flatMap(({ stimulus, channel }) =>
    report.doses
      .find((each) => each.stimulus === stimulus)!
      .doses.map(({ intensity, rates }) => ({
        pathway: `${stimulus}: ${channel}`,
        intensity,
        ...band(rates[channel]),
      })),
  );
  const colour = { field: 'pathway', type: 'nominal', sort: null, title: null };
  return described({
    title: { text: 'Dose and response', subtitle: 'mean and standard deviation over seeds' },
    width: 520,
    height: 260,
    data: { values },
    layer: bandAndLine('rate (Hz)', { color: colour }),
  });
}

/** A panel for each stimulus: they recruit from tens of neurons to thousands. */
function recruitment(report: Report): TopLevelSpec {
  const values = report.doses.flatMap(({ stimulus, doses: own }) =>
    own.map(({ intensity, responding }) => ({ stimulus, intensity, ...band(responding) })),
  );
  return described({
    title: {
      text: 'Neurons that each stimulus recruits',
      subtitle: 'mean and standard deviation over seeds',
    },
    data: { values },
    facet: {
      field: 'stimulus',
      type: 'nominal',
      sort: report.doses.map(({ stimulus }) => stimulus),
      title: null,
    },
    columns: 5,
    spec: { width: 90, height: 90, layer: bandAndLine('neurons', { color: { value: COLOURS[0] } }) },
    resolve: { scale: { y: 'independent' } },
  });
}

function band({ mean, sd }: Spread): { mean: number; low: number; high: number } {
  return { mean, low: Math.max(0, mean - sd), high: mean + sd };
}

/** The mean against the intensity, and a standard deviation to either side of it. */
function bandAndLine(title: string, encoding: Record<string, unknown>): unknown[] {
  const x = { field: 'intensity', type: 'quantitative', title: 'intensity', axis: { tickCount: 3 } };
  return [
    {
      mark: { type: 'area', opacity: 0.2 },
      encoding: { ...encoding, x, y: { field: 'low', type: 'quantitative', title }, y2: { field: 'high' } },
    },
    {
      mark: { type: 'line', point: true },
      encoding: { ...encoding, x, y: { field: 'mean', type: 'quantitative' } },
    },
  ];
}

/** The library checks a description when it compiles it. */
function described(spec: Record<string, unknown>): TopLevelSpec {
  return spec as unknown as TopLevelSpec;
}
