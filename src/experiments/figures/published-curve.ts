/** Adds the published numbers of Fig. 1D to the figure of the same experiment. */
import type { ExperimentHead, ResolvedSet } from '../document/result.js';
import type { ExperimentDocument } from '../document/document.js';
import { parameterOf } from '../kinds/axis-kinds.js';
import { groupKindOf, REPORT_KINDS } from '../kinds/report-kinds.js';
import type { Figure, Mark, Panel } from './figure.js';
import { PUBLISHED_MN9, PUBLISHED_SUGAR_NEURONS } from './published-rates.js';

type Points = (typeof PUBLISHED_MN9)[keyof typeof PUBLISHED_MN9];

/**
 * Adds rings to the lines of MN9 if the experiment is that of Fig. 1D, with any doses and number of trials. If its sugar
 * neurons differ from the published ones in number or side, equal doses mean different stimuli. Then one grey line
 * shows the published curve.
 */
export function withPublished(figure: Figure, { experiment, resolved }: ExperimentHead): Figure {
  const { inputs, sweep = [], silence, connection_overrides: overrides, constants, wiring } = experiment;
  const [[name, input] = ['', undefined], ...others] = Object.entries(inputs);
  const [axis, ...more] = sweep;
  const isSugar = others.length === 0 && input !== undefined && isSugarInput(input, experiment);
  const isDose = axis && parameterOf(axis) === `inputs.${name}.rate_hz` && more.length === 0;
  const isEdited = [...silence, overrides, constants, wiring].some((edit) => edit !== undefined);
  if (!isSugar || !isDose || isEdited) return figure;
  const { neurons, sides } = resolved[`inputs.${name}`] as ResolvedSet;
  const [side, ...otherSides] = Object.keys(sides);
  const isSame = otherSides.length === 0 && PUBLISHED_SUGAR_NEURONS.includes(neurons);
  const titles = Object.keys(experiment.reports)
    .filter((report) => isRateOfMn9(experiment.reports[report]!, experiment))
    .map((report) => `${report} (Hz)`);
  const marked = (panel: Panel) =>
    !('domain' in panel.x) || !titles.includes(panel.title)
      ? panel
      : isSame
        ? withRings(panel, side!)
        : withCurve(panel);
  const sections = figure.sections.map((section) => ({ ...section, panels: section.panels.map(marked) }));
  const panelsOf = (all: Figure['sections']) => all.flatMap(({ panels }) => panels);
  const panels = panelsOf(sections);
  // The report may be of other neurons, or the doses others than the published ones.
  if (panelsOf(figure.sections).every((panel, at) => panel === panels[at])) return figure;
  const source = 'Shiu et al. 2024, Fig. 1D: sugar neurons of one side, all pairs of release 630.';
  const here = `${neurons} sugar neurons on ${Object.keys(sides).join(' and ')}`;
  const note = isSame
    ? `Rings are from ${source}`
    : `The grey line is from ${source} Here an input stimulates ${here}, so equal doses are not comparable.`;
  return { ...figure, sections, note: `${figure.note} ${note}` };
}

/** Tells whether Poisson trains at the dose itself stimulate the sugar neurons from the beginning to the end. */
function isSugarInput(input: ExperimentDocument['inputs'][string], { duration_ms }: ExperimentDocument) {
  const scale = 'scale' in input ? input.scale : undefined;
  const isWhole = input.delay_ms === 0 && input.duration_ms === duration_ms;
  return input.module === 'poisson' && input.node_set === '@sugar' && (scale ?? 1) === 1 && isWhole;
}

/** Tells whether the figure of rates shows the mean rate of MN9 over the whole trial. */
function isRateOfMn9(report: ExperimentDocument['reports'][string], { duration_ms }: ExperimentDocument) {
  const isRate = groupKindOf(report)?.measure === REPORT_KINDS.rate.measure;
  return isRate && report.node_set === '@MN9' && report.start_ms === 0 && report.end_ms === duration_ms;
}

/** @param stimulated the side of the sugar neurons */
function withRings(panel: Panel, stimulated: string): Panel {
  const rings = (panel.legend ?? []).flatMap(({ label, paint }): (Mark & { mark: 'dots' })[] => {
    // Lines of controls have the name of the line that they belong to, and more.
    const [side] = /^(left|right)\b(?!.*, controls \(n = )/.exec(label) ?? [];
    if (side === undefined) return [];
    const points = PUBLISHED_MN9[side === stimulated ? 'same' : 'other'];
    const titled = within(panel, points).map(
      ([x, hz]) => [x, hz, `published, ${side} at ${x}: ${hz} Hz`] as const,
    );
    return titled.length === 0 ? [] : [{ mark: 'dots', points: titled, paint, isRing: true }];
  });
  if (rings.length === 0) return panel;
  return withMarks(panel, rings, { label: 'published', paint: 'text', sample: 'ring' });
}

function withCurve(panel: Panel): Panel {
  const points = within(panel, PUBLISHED_MN9.other);
  if (points.length < 2) return panel;
  const look = { paint: 'muted', dash: '1 4' } as const;
  const curve = { mark: 'line', name: 'published', points, ...look } as const;
  return withMarks(panel, [curve], { label: 'published for other sugar neurons', ...look });
}

/** The points in the domain of the panel. */
function within({ x }: Panel, points: Points): Points {
  const [from, to] = 'domain' in x ? x.domain : [0, 0];
  return points.filter(([dose]) => dose >= from && dose <= to);
}

function withMarks(
  panel: Panel,
  marks: readonly (Mark & { mark: 'dots' | 'line' })[],
  entry: NonNullable<Panel['legend']>[number],
): Panel {
  const { y, legend = [] } = panel;
  const highest = Math.max(...marks.flatMap(({ points }) => points.map(([, hz]) => hz)));
  return {
    ...panel,
    marks: [...marks, ...panel.marks],
    y: 'domain' in y ? { ...y, domain: [y.domain[0], Math.max(y.domain[1], highest)] } : y,
    legend: [...legend, entry],
  };
}
