/** A panel with the stimulation of a trial over time, to stand below the panel of the response. */
import { max } from 'd3-array';
import type { ExperimentDocument } from '../document/document.js';
import { editsOf } from '../kinds/edit-kinds.js';
import { inputKindOf } from '../kinds/input-kinds.js';
import { type FoundCondition, numbersUnder, wide } from './figure-kind.js';
import type { Band, Mark, Panel, Section } from './figure.js';

const ROW_PX = 18;
/** Share of a row's height for the highest rate. */
const HIGHEST = 0.8;
const LOWEST = 0.08;
const MAX_INPUTS = 8;
const MAX_EVENTS = 1000;

/**
 * Adds the stimulation, if there is any, below panels over time. All share the axis.
 * @param above at least one
 * @param condition its values of swept parameters are drawn; the note mentions other conditions
 */
export function withStimulus(
  above: readonly Panel[],
  experiment: ExperimentDocument,
  condition: FoundCondition,
): Section {
  const { x } = above[0]!;
  const stimulus = stimulusPanel(experiment, condition, 'domain' in x ? x.domain : [0, 1]);
  const panels = [...above, ...(stimulus === undefined ? [] : [stimulus])];
  // Only the last panel names the axis.
  const named = panels.map((panel, at) =>
    at === panels.length - 1 ? panel : { ...panel, x: { ...panel.x, label: '' } },
  );
  return { ...wide(named), sharesX: true };
}

/** @returns undefined if nothing is stimulated, and nothing silenced in a window */
function stimulusPanel(
  experiment: ExperimentDocument,
  condition: FoundCondition,
  domain: readonly [number, number],
): Panel | undefined {
  const bands: Band[] = [];
  const marks: Mark[] = [];
  const { parameters } = condition;
  // In a baseline, an input may have no neurons.
  const inputs = Object.entries(experiment.inputs).filter(([name]) => parameters[`inputs.${name}`] !== null);
  for (const [name, given] of inputs.slice(0, MAX_INPUTS)) {
    const row = bands.length;
    const swept = numbersUnder(`inputs.${name}.`, condition);
    const input = { ...given, ...swept };
    const [from, to] = [input.delay_ms, input.delay_ms + (input.duration_ms ?? Infinity)];
    const course = inputKindOf(input).course(input);
    if ('eventsMs' in course) {
      const [first, last] = [Math.max(from, domain[0]), Math.min(to, domain[1])];
      const x = course.eventsMs.filter((ms) => ms >= first && ms < last).slice(0, MAX_EVENTS);
      marks.push({ mark: 'ticks', x, rows: x.map(() => row), paint: 'muted' });
      bands.push({ label: name, note: 'events' });
      continue;
    }
    const highest = max(course.rates, ({ hz }) => hz) ?? 0;
    course.rates.forEach(({ fromMs, hz }, at) => {
      const until = course.rates[at + 1]?.fromMs ?? Infinity;
      const x = [Math.max(fromMs, from, domain[0]), Math.min(until, to, domain[1])] as const;
      if (x[0] >= x[1] || hz === 0) return;
      const height = LOWEST + (HIGHEST - LOWEST) * (hz / highest);
      const upTo = course.isMerged === true ? 'up to ' : '';
      const title = `${name}: ${upTo}${hz} Hz from ${x[0]} to ${x[1]} ms`;
      const y = [row + 0.9 - height, row + 0.9] as const;
      marks.push({ mark: 'rect', name: 'stimulus', x, y, paint: 'muted', title });
    });
    const isVaried = new Set(course.rates.map(({ hz }) => hz)).size > 1;
    bands.push({
      label: name,
      note: Object.keys(swept).length > 0 ? 'swept' : `${isVaried ? 'up to ' : ''}${highest} Hz`,
    });
  }
  for (const [, kind, value] of editsOf(experiment)) {
    for (const { label, startMs, endMs } of kind.windowsOf?.(value) ?? []) {
      const x = [Math.max(startMs, domain[0]), Math.min(endMs ?? domain[1], domain[1])] as const;
      const y = [bands.length + 0.3, bands.length + 0.7] as const;
      if (x[0] < x[1]) marks.push({ mark: 'rect', name: 'edit', x, y, paint: 'text' });
      bands.push({ label });
    }
  }
  if (bands.length === 0) return undefined;
  return {
    title: '',
    height: ROW_PX * bands.length,
    x: { label: 'Time (ms)', domain },
    y: { label: '', bands },
    marks,
  };
}
