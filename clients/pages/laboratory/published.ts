/** Published numbers behind the figure of the experiment that they are of. */
import type { Figure, Mark, Panel } from '../../../src/experiments/figures/figure.js';
import type { ExperimentHead, ResolvedSet } from '../../../src/experiments/run/result.js';
import { PUBLISHED_MN9 } from '../../../src/validation/published-rates.js';

/** Left and right here are those of release 783, which calls the paper's right sugar neurons left. */
const SIDES = { right: PUBLISHED_MN9.other, left: PUBLISHED_MN9.same } as const;

/** The figure with the published points as rings where it is that of Fig. 1D, at whatever doses and in whatever trials. */
export function withPublished(figure: Figure, { experiment, resolved }: ExperimentHead): Figure {
  const { inputs, sweep = [], silence, connection_overrides: overrides, constants, wiring } = experiment;
  const [[name, input] = ['', undefined], ...others] = Object.entries(inputs);
  const [axis, ...more] = sweep;
  const isSugar = input?.node_set === '@sugar' && others.length === 0;
  const isDose =
    axis !== undefined && 'set' in axis && axis.set === `inputs.${name}.rate_hz` && more.length === 0;
  const isEdited = [...silence, overrides, constants, wiring].some((edit) => edit !== undefined);
  if (!isSugar || !isDose || isEdited) return figure;
  const sections = figure.sections.map((section) => ({ ...section, panels: section.panels.map(marked) }));
  const neurons = (resolved[`inputs.${name}`] as ResolvedSet).neurons;
  const note = `Published: Shiu et al. 2024, Fig. 1D, on all pairs of release 630, sugar neurons of one side. Here @sugar has ${neurons} neurons.`;
  return { ...figure, sections, note: `${figure.note} ${note}` };
}

function marked(panel: Panel): Panel {
  if (!('domain' in panel.x) || !('domain' in panel.y) || !panel.title.startsWith('MN9')) return panel;
  const [from, to] = panel.x.domain;
  const marks = Object.entries(SIDES).flatMap(([side, all]): Mark[] => {
    const entry = panel.legend?.find(({ label }) => label.startsWith(side));
    const points = all.filter(([x]) => x >= from && x <= to);
    if (entry === undefined || points.length === 0) return [];
    const titled = points.map(([x, hz]) => [x, hz, `published, ${side} at ${x}: ${hz} Hz`] as const);
    return [{ mark: 'dots', points: titled, paint: entry.paint, isRing: true }];
  });
  if (marks.length === 0) return panel;
  const top = Math.max(panel.y.domain[1], ...Object.values(SIDES).flatMap((all) => all.map(([, hz]) => hz)));
  return {
    ...panel,
    marks: [...marks, ...panel.marks],
    y: { ...panel.y, domain: [panel.y.domain[0], top] },
    legend: [...panel.legend!, { label: 'published', paint: 'text', sample: 'ring' }],
  };
}
