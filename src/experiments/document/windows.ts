/** Windows of inputs, reports and edits: in the trial, in every condition, and with their end written out. */
import { type JsonPath, refused } from '../../schema/json-path.js';
import { type TimeWindow, withEdits } from '../kinds/edit-kinds.js';
import { inputKindOf } from '../kinds/input-kinds.js';
import { kindOf } from '../kinds/report-kinds.js';
import type { ExperimentDocument } from './document.js';
import { stepsOf } from './fields.js';
import type { InputDocument } from './kind-schemas.js';
import type { SweptValues } from './parse-sweep.js';

/** The members of a document after the table's checks; an end that was left out is not there yet. */
type Draft = Pick<ExperimentDocument, 'inputs' | 'reports' | 'duration_ms'>;

/** Times are multiples of 0.1 ms; their tenths are integers, with exact sums. */
function tenths(ms: number): number {
  return Math.round(ms * 10);
}

/**
 * Values of all axes meet, so the extremes decide.
 * @throws CodedError INVALID_PARAMETER
 */
export function checkWindows(draft: Draft, swept: SweptValues): void {
  const { inputs, reports, duration_ms: durationMs } = draft;
  const durations = swept.get('duration_ms') ?? [durationMs];
  const shortestMs = Math.min(...durations);
  const longestMs = Math.max(...durations);
  const inShortest = swept.has('duration_ms')
    ? `the shortest trial, ${shortestMs} ms`
    : `the trial, ${shortestMs} ms`;
  for (const [name, input] of Object.entries(inputs)) {
    const path = ['inputs', name];
    const delayMs = Math.max(...(swept.get(`inputs.${name}.delay_ms`) ?? [input.delay_ms]));
    const lengths = swept.get(`inputs.${name}.duration_ms`) ?? [input.duration_ms ?? 0];
    const lengthMs = Math.max(...lengths);
    if (delayMs >= shortestMs) {
      throw refused([...path, 'delay_ms'], delayMs, `less than ${inShortest}`);
    }
    if (tenths(delayMs) + tenths(lengthMs) > tenths(shortestMs)) {
      const mostMs = (tenths(shortestMs) - tenths(delayMs)) / 10;
      throw refused(
        [...path, 'duration_ms'],
        lengthMs,
        `at most ${mostMs}: the window starts at ${delayMs} ms and must end in ${inShortest}`,
      );
    }
    const highest = (member: string) => {
      const values = swept.get(`inputs.${name}.${member}`);
      return values && Math.max(...values);
    };
    inputKindOf(input).checkConditions?.(input, { longestMs, highest }, path);
  }
  const check = <W extends TimeWindow>(window: W, path: JsonPath): W => {
    const { start_ms: startMs, end_ms: endMs } = window;
    if (startMs >= shortestMs) {
      throw refused([...path, 'start_ms'], startMs, `less than ${inShortest}`);
    }
    if (typeof endMs === 'number' && (endMs <= startMs || endMs > shortestMs)) {
      throw refused([...path, 'end_ms'], endMs, `more than start_ms, ${startMs}, and at most ${inShortest}`);
    }
    return window;
  };
  for (const [name, report] of Object.entries(reports)) {
    const path = ['reports', name];
    const { start_ms: startMs, end_ms: endMs } = check(report, path);
    const window = { startStep: stepsOf(startMs), endStep: stepsOf(endMs ?? shortestMs) };
    kindOf(report).checkWindow?.(report, window, path);
  }
  withEdits(draft, (kind, value) => kind.withWindows?.(value, check));
}

/** @param name of the input */
export function completeInput(
  input: InputDocument,
  name: string,
  durationMs: number,
  swept: SweptValues,
): InputDocument {
  const depends = ['duration_ms', `inputs.${name}.delay_ms`, `inputs.${name}.duration_ms`];
  const toEndMs = depends.some((parameter) => swept.has(parameter))
    ? null
    : (tenths(durationMs) - tenths(input.delay_ms)) / 10;
  return { ...input, duration_ms: input.duration_ms ?? toEndMs };
}

export function completeWindow<W extends TimeWindow>(window: W, durationMs: number, swept: SweptValues): W {
  return { ...window, end_ms: window.end_ms ?? (swept.has('duration_ms') ? null : durationMs) };
}

export function completeEdits<D extends Draft>(draft: D, swept: SweptValues): D {
  const complete = <W extends TimeWindow>(window: W) => completeWindow(window, draft.duration_ms, swept);
  return withEdits(draft, (kind, value) => kind.withWindows?.(value, complete) ?? value);
}
