/** Checks the time windows of inputs, reports and edits for every condition, and writes out their ends. */
import { mapped } from '../../engine/mapped.js';
import { type JsonPath, refused } from '../../engine/schema/json-path.js';
import { STEPS_PER_MS } from '../../engine/stimulus/protocol.js';
import { withEdits } from '../kinds/edit-kinds.js';
import type { TimeWindow } from '../kinds/edit-kind.js';
import { inputKindOf } from '../kinds/input-kinds.js';
import { kindOf } from '../kinds/report-kinds.js';
import type { ExperimentDocument } from './document.js';
import { stepsOf } from '../kinds/fields.js';
import type { InputDocument, ReportDocument } from '../kinds/kind-schemas.js';
import type { SweptValues } from './parse-sweep.js';

/**
 * Copies the document and writes out the ends of all windows; an end stays null if conditions differ in it. A sweep combines
 * all values of its axes, so it suffices to check the extremes.
 * @throws CodedError INVALID_PARAMETER
 */
export function withWindows<D extends Pick<ExperimentDocument, 'inputs' | 'reports' | 'duration_ms'>>(
  draft: D,
  swept: SweptValues,
): D {
  const { duration_ms: durationMs } = draft;
  const isSwept = swept.has('duration_ms');
  const durations = swept.get('duration_ms') ?? [durationMs];
  const shortestMs = Math.min(...durations);
  const longestMs = Math.max(...durations);
  const inShortest = isSwept ? `the shortest trial, ${shortestMs} ms` : `the trial, ${shortestMs} ms`;

  const ofInput = (input: InputDocument, name: string): InputDocument => {
    const path = ['inputs', name];
    const valuesOf = (member: string) => swept.get(`inputs.${name}.${member}`);
    const highest = (member: string) => valuesOf(member)?.reduce((most, value) => Math.max(most, value));
    const pathOf = (member: string): JsonPath => {
      const axis = [...swept.keys()].indexOf(`inputs.${name}.${member}`);
      return axis < 0 ? [...path, member] : ['sweep', axis];
    };
    const delayMs = highest('delay_ms') ?? input.delay_ms;
    const lengthMs = highest('duration_ms') ?? input.duration_ms ?? 0;
    if (delayMs >= shortestMs) throw refused(pathOf('delay_ms'), delayMs, `less than ${inShortest}`);
    // Sums of steps are exact; sums of multiples of 0.1 ms need not be.
    if (stepsOf(delayMs) + stepsOf(lengthMs) > stepsOf(shortestMs)) {
      const mostMs = (stepsOf(shortestMs) - stepsOf(delayMs)) / STEPS_PER_MS;
      throw refused(
        pathOf('duration_ms'),
        lengthMs,
        `at most ${mostMs}: the window starts at ${delayMs} ms and must end in ${inShortest}`,
      );
    }
    inputKindOf(input).checkConditions?.(input, { longestMs, highest, pathOf }, path);
    const differs = isSwept || valuesOf('delay_ms') !== undefined || valuesOf('duration_ms') !== undefined;
    const toEndMs = differs ? null : (stepsOf(durationMs) - stepsOf(input.delay_ms)) / STEPS_PER_MS;
    return { ...input, duration_ms: input.duration_ms ?? toEndMs };
  };

  const ofWindow = <W extends TimeWindow>(window: W, path: JsonPath): W => {
    const { start_ms: startMs, end_ms: endMs } = window;
    if (startMs >= shortestMs) throw refused([...path, 'start_ms'], startMs, `less than ${inShortest}`);
    if (typeof endMs === 'number' && (endMs <= startMs || endMs > shortestMs)) {
      throw refused([...path, 'end_ms'], endMs, `more than start_ms, ${startMs}, and at most ${inShortest}`);
    }
    return { ...window, end_ms: endMs ?? (isSwept ? null : durationMs) };
  };

  const ofReport = (report: ReportDocument, name: string): ReportDocument => {
    const path = ['reports', name];
    const complete = ofWindow(report, path);
    const endStep = stepsOf(complete.end_ms ?? shortestMs);
    kindOf(report).checkWindow?.(report, { startStep: stepsOf(report.start_ms), endStep }, path);
    return complete;
  };

  const inputs = mapped(draft.inputs, ofInput);
  const reports = mapped(draft.reports, ofReport);
  const edited = withEdits(draft, (kind, value) => kind.withWindows?.(value, ofWindow) ?? value);
  return { ...edited, inputs, reports };
}
