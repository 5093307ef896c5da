/** The figure of rates in time bins: a stepped line for each group, and the stimulation below. */
import { ascending, extent, max, maxIndex, minIndex, range, sum } from 'd3-array';
import type { ExperimentDocument } from '../document/document.js';
import type { ReportDocument } from '../kinds/kind-schemas.js';
import type { TimeCourse } from '../kinds/report-kind.js';
import { groupKindOf } from '../kinds/report-kinds.js';
import { withType } from './condition-labels.js';
import {
  type BinRow,
  type FigureKind,
  type Findings,
  type FoundCondition,
  sentences,
} from './figure-kind.js';
import { counted, DASHES, legendOfLines, type Mark, MAX_SERIES, type Panel, rounded } from './figure.js';
import { groupsIn, highestFirst, MAX_ROWS, seriesName } from './measured-entries.js';
import { withStimulus } from './stimulus-panel.js';
import { STEPS_PER_MS } from '../../engine/stimulus/protocol.js';
import { stepsOf } from '../kinds/fields.js';

const COURSE_PX = 190;
/** Maximum number of bins that are drawn one by one. More could not be told apart. */
const MAX_BINS = 2000;

/** A line of the figure. */
type Course = ReturnType<typeof linesOf>['lines'][number];

/** @param course that of the kind of report */
export function courseFigure(course: TimeCourse): FigureKind {
  const reportsIn = ({ reports }: ExperimentDocument) =>
    Object.entries(reports).filter(([, report]) => groupKindOf(report)?.course === course);
  return {
    ...course,
    bins: {
      unit: course.unit,
      rows(findings) {
        const shown: BinRow[] = [];
        let all = 0;
        for (const [report, document] of reportsIn(findings.head.experiment)) {
          const { lines, binCount } = linesOf(report, course, findings, MAX_ROWS);
          all += binCount;
          for (const { condition, group, bins, endMs } of lines) {
            for (const [bin, mean] of bins.slice(0, MAX_ROWS - shown.length).entries()) {
              const fromMs = startOfBin(document, bin, endMs);
              const toMs = startOfBin(document, bin + 1, endMs);
              shown.push({ report, condition, group, fromMs, toMs, mean });
            }
          }
        }
        return { shown, all };
      },
    },
    draw(findings) {
      const { experiment } = findings.head;
      const reports = reportsIn(experiment);
      const titleOf = (report: string) => `${report} (${course.unit})`;
      const drawn = reports
        .map(([report]) => ({ title: titleOf(report), ...linesOf(report, course, findings, MAX_SERIES) }))
        .filter(({ lines }) => lines.length > 0);
      if (drawn.length === 0) return undefined;
      const isCut = drawn.some(({ lines, lineCount }) => lineCount > lines.length);
      return {
        label: `${reports.map(([report]) => titleOf(report)).join(', ')} over time, with the stimulation; the table has the numbers.`,
        sections: drawn.map(({ title, lines }) =>
          withStimulus(
            [coursePanel(title, lines, experiment, course.unit)],
            experiment,
            findings.conditions[0]!,
          ),
        ),
        note: sentences(
          course.note,
          Object.keys(experiment.inputs).length > 0 &&
            'Bars below the axis are the stimulation of each input.',
          isCut &&
            `Of each report the ${MAX_SERIES} most active lines are drawn, the most active first; the table has all.`,
        ),
      };
    },
  };
}

/** The first lines of a report, the most active first if not all can be drawn, and the numbers of all lines and bins. */
function linesOf(report: string, course: TimeCourse, { head, conditions, typeOf }: Findings, most: number) {
  const { reports, duration_ms: durationMs } = head.experiment;
  const endOf = ({ parameters }: FoundCondition) =>
    reports[report]!.end_ms ?? (parameters['duration_ms'] as number | undefined) ?? durationMs;
  const groups = conditions.flatMap((condition) => groupsIn(condition, report));
  const conditionOf = conditions.flatMap((condition) => groupsIn(condition, report).map(() => condition));
  const binsOf = groups.map((group) => course.of(group) ?? []);
  const all = range(groups.length).filter((at) => binsOf[at]!.length > 0);
  const shown = groups.length > MAX_SERIES ? highestFirst(all, most, (at) => sum(binsOf[at]!)) : all;
  const lines = shown.map((at) => {
    const group = withType(groups[at]!, typeOf);
    const condition = conditionOf[at]!;
    const label = seriesName({ group, condition }, []);
    /** The last bin may be shorter than the others. */
    const endMs = endOf(condition);
    return { report, condition, group, label, bins: binsOf[at]!, endMs };
  });
  return { lines, lineCount: all.length, binCount: sum(binsOf, ({ length }) => length) };
}

function coursePanel(
  title: string,
  shown: readonly Course[],
  { reports, trials }: ExperimentDocument,
  unit: string,
): Panel {
  const document = reports[shown[0]!.report]!;
  const { start_ms: startMs, bin_ms: binMs = 1 } = document;
  const most = max(shown, ({ bins }) => bins.length)!;
  const endMs = max(shown, (course) => course.endMs)!;
  const startOf = (bin: number, before = endMs) => startOfBin(document, bin, before);
  // Neighbours within a pixel are drawn together.
  const stride = Math.max(1, Math.ceil(most / MAX_BINS));
  const sample = `mean over neurons and n = ${counted(trials, 'trial')}, bins of ${binMs} ms`;
  return {
    title,
    height: COURSE_PX,
    x: { label: 'Time (ms)', domain: [startMs, startOf(most)] },
    y: { label: '', domain: [0, highestOf(shown)], hasGrid: true },
    marks: [...outlinesOf(shown, startOf, stride), ...titledBins(shown, startOf, most, stride, unit)],
    legend: [...legendOfLines(shown.map(({ label }) => label)), { label: sample, paint: 'none' }],
  };
}

/** The start of a bin in ms, from whole steps, because 3 * 0.1 is not 0.3. The end of the last bin is at most `endMs`. */
function startOfBin(
  { start_ms: startMs, bin_ms: binMs = 1 }: ReportDocument,
  bin: number,
  endMs: number,
): number {
  return Math.min((stepsOf(startMs) + bin * stepsOf(binMs)) / STEPS_PER_MS, endMs);
}

/** An outline for each series. A single series is filled. */
function outlinesOf(
  shown: readonly Course[],
  startOf: (bin: number, before: number) => number,
  stride: number,
): Mark[] {
  return shown.flatMap(({ bins, endMs }, paint): Mark[] => {
    const points = extremeBins(bins, stride).flatMap((bin) =>
      [bin, bin + 1].map((at) => [startOf(at, endMs), bins[bin]!] as const),
    );
    const line = { mark: 'line', name: 'mean', points, paint, dash: DASHES[paint]! } as const;
    if (shown.length > 1) return [line];
    return [{ mark: 'area', points: points.map(([x, value]) => [x, 0, value]), paint }, line];
  });
}

/** The lowest and the highest of each few neighbours. A line through these looks like one through all. */
function extremeBins(bins: readonly number[], stride: number): readonly number[] {
  return range(0, bins.length, stride).flatMap((from) => {
    const few = bins.slice(from, from + stride);
    return [...new Set([from + minIndex(few), from + maxIndex(few)])].sort(ascending);
  });
}

/** Invisible rectangles that show the numbers of bins to a reader who points at them. */
function titledBins(
  shown: readonly Course[],
  startOf: (bin: number) => number,
  most: number,
  stride: number,
  unit: string,
): Mark[] {
  const y = [0, highestOf(shown)] as const;
  return range(0, most, stride).map((from): Mark => {
    const to = Math.min(from + stride, most);
    const values = shown.map(({ label, bins }) => `${label} ${rangeText(bins.slice(from, to))}`);
    const x = [startOf(from), startOf(to)] as const;
    const title = `${x[0]} to ${x[1]} ms: ${values.join(', ')} ${unit}`;
    return { mark: 'rect', name: 'bin', x, y, paint: 'none', title };
  });
}

function rangeText(values: readonly number[]): string {
  const [low, high] = extent(values);
  if (low === undefined || high === undefined) return 'none';
  return [...new Set([rounded(low), rounded(high)])].join(' to ');
}

function highestOf(shown: readonly Course[]): number {
  return Math.max(1, max(shown, ({ bins }) => max(bins)) ?? 1);
}
