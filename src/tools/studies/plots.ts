import { type Figure, type Mark, type Panel } from '../../experiments/figures/figure.js';
import { curvesPanel } from '../../experiments/figures/panels.js';
import type { ComparedRule } from './subject.js';
import { RUNAWAY_NEURONS } from './document.js';
import { PATHWAYS, type Report } from './report.js';

const RULES = ['corrected', 'predicted'] as const;
const SPREAD = 'mean and population standard deviation over seeds';

/** @returns the figures of docs/validation.md by the names of their files */
export function plotsOf(report: Report): Record<string, Figure> {
  return {
    'validation-signs.svg': signs(report),
    'validation-glomeruli.svg': glomeruli(report),
    'validation-doses.svg': doses(report),
    'validation-recruitment.svg': recruitment(report),
  };
}

function signs({ responses }: Report): Figure {
  const rows = responses.predicted.map(({ stimulus, responding }, i) => ({
    name: stimulus,
    predicted: responding.mean,
    corrected: responses.corrected[i]!.responding.mean,
  }));
  return recruited('Neurons that each stimulus recruits', rows, 20);
}

function glomeruli(report: Report): Figure {
  const rows = report.glomeruli.map(({ type, responding }) => ({
    name: type.slice('ORN_'.length),
    ...responding,
  }));
  rows.sort((a, b) => b.predicted - a.predicted);
  return recruited('Neurons that one glomerulus alone recruits', rows, 12);
}

/** A row for each name, with a dot for each rule and a line between them. A dashed line marks runaway activity. */
function recruited(
  title: string,
  rows: readonly ({ readonly name: string } & Record<ComparedRule, number>)[],
  rowHeight: number,
): Figure {
  const marks: Mark[] = [
    {
      mark: 'line',
      points: [0, rows.length].map((row) => [RUNAWAY_NEURONS, row]),
      paint: 'muted',
      dash: '4 4',
    },
    ...rows.map((row, at): Mark => ({
      mark: 'line',
      points: RULES.map((rule) => [row[rule], at + 0.5]),
      paint: 'muted',
    })),
    ...RULES.map((rule, paint): Mark => ({
      mark: 'dots',
      points: rows.map((row, at) => [row[rule], at + 0.5, `${row.name}, ${rule} signs: ${row[rule]}`]),
      paint,
    })),
  ];
  const panel: Panel = {
    title: '',
    height: rowHeight * rows.length,
    x: { label: 'responding neurons', domain: [10, 10_000], isLog: true, hasGrid: true },
    y: { label: '', bands: rows.map(({ name }) => ({ label: name })) },
    marks,
    legend: RULES.map((rule, paint) => ({ label: `${rule} signs`, paint })),
  };
  return figureOf(title, [panel], Infinity);
}

function figureOf(title: string, panels: readonly Panel[], smallestWidth: number): Figure {
  return { title, label: title, note: '', sections: [{ panels, smallestWidth }] };
}

function doses(report: Report): Figure {
  const series = PATHWAYS.map(({ stimulus, channel }) => ({
    label: `${stimulus}: ${channel}`,
    points: report.doses
      .find((each) => each.stimulus === stimulus)!
      .doses.map(({ intensity, rates }) => ({ x: intensity, ...rates[channel] })),
  }));
  const panel = curvesPanel('rate (Hz)', series, 'intensity', 'Hz');
  return { ...figureOf('Dose and response', [panel], Infinity), subtitles: [SPREAD] };
}

/** Each stimulus has its own panel, because the numbers range from tens to thousands. */
function recruitment(report: Report): Figure {
  const panels = report.doses.map(({ stimulus, doses: own }) => {
    const points = own.map(({ intensity, responding }) => ({ x: intensity, ...responding }));
    return curvesPanel(stimulus, [{ label: 'all', points }], 'intensity', 'neurons');
  });
  return { ...figureOf('Neurons that each stimulus recruits', panels, 180), subtitles: [SPREAD] };
}
