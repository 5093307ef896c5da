/** Histograms over time: a line of steps for each group, and the stimulation below. */
import { max } from 'd3-array';
import type { ExperimentDocument } from '../document/document.js';
import type { ReportDocument } from '../document/kind-schemas.js';
import type { TimeCourse } from '../kinds/report-kind.js';
import { groupKindOf } from '../kinds/report-kinds.js';
import { type BinRow, type FigureKind, sentences } from './figure-kind.js';
import {
  counted,
  DASHES,
  legendOfLines,
  type Mark,
  MAX_SERIES,
  type Panel,
  rounded,
  type Section,
} from './figure.js';
import { seriesName } from './measure-figures.js';
import { withStimulus } from './stimulus-panel.js';

const COURSE_PX = 190;

interface Course {
  readonly label: string;
  /** Mean in each bin. */
  readonly bins: readonly number[];
}

/** @param course of reports that have one */
export function courseFigure(course: TimeCourse): FigureKind {
  const reportsIn = ({ reports }: ExperimentDocument) =>
    Object.entries(reports).filter(([, report]) => groupKindOf(report)?.course === course);
  return {
    ...course,
    bins: {
      unit: course.unit,
      // One by one: reports of many neurons have very many.
      *rows({ head: { experiment }, conditions }): Iterable<BinRow> {
        for (const [report, document] of reportsIn(experiment)) {
          for (const condition of conditions) {
            for (const group of condition.groups[report] ?? []) {
              for (const [bin, mean] of (course.of(group) ?? []).entries()) {
                const [fromMs, toMs] = [startOfBin(document, bin), startOfBin(document, bin + 1)];
                yield { report, condition, group, fromMs, toMs, mean };
              }
            }
          }
        }
      },
    },
    draw({ head: { experiment }, conditions }) {
      const reports = reportsIn(experiment);
      let isCut = false;
      const sections = reports.flatMap(([report, document]): Section[] => {
        const { start_ms: startMs, bin_ms: binMs = 1 } = document;
        const all = conditions.flatMap((condition) =>
          (condition.groups[report] ?? []).map((group): Course => ({
            label: seriesName({ group, condition }, []),
            bins: course.of(group) ?? [],
          })),
        );
        const shown = all.filter(({ bins }) => bins.length > 0).slice(0, MAX_SERIES);
        isCut ||= all.length > shown.length;
        if (shown.length === 0) return [];
        const most = max(shown, ({ bins }) => bins.length)!;
        const startOf = (bin: number) => startOfBin(document, bin);
        const panel: Panel = {
          title: `${report} (${course.unit})`,
          height: COURSE_PX,
          x: { label: 'Time (ms)', domain: [startMs, startOf(most)] },
          y: { label: '', domain: [0, highestOf(shown)], hasGrid: true },
          marks: [...stepsOf(shown, startOf), ...titledBins(shown, startOf, most, course.unit)],
          legend: [
            ...legendOfLines(shown.map(({ label }) => label)),
            {
              label: `mean over neurons and n = ${counted(experiment.trials, 'trial')}, bins of ${binMs} ms`,
              paint: 'none',
            },
          ],
        };
        return [withStimulus(panel, experiment, conditions[0]!)];
      });
      if (sections.length === 0) return undefined;
      return {
        label: `${reports.map(([report]) => `${report} (${course.unit})`).join(', ')} over time, with the stimulation; the table has the numbers.`,
        sections,
        note: sentences(
          course.note,
          Object.keys(experiment.inputs).length > 0 &&
            'Bars below the axis are the stimulation of each input.',
          isCut && `Of each report the first ${MAX_SERIES} lines are drawn; the table has all.`,
        ),
      };
    },
  };
}

/** In ms; the last bin may be shorter. */
function startOfBin(
  { start_ms: startMs, end_ms: endMs, bin_ms: binMs = 1 }: ReportDocument,
  bin: number,
): number {
  return Math.min(startMs + bin * binMs, endMs ?? Infinity);
}

/** An outline for each series, filled where there is one. */
function stepsOf(shown: readonly Course[], startOf: (bin: number) => number): Mark[] {
  return shown.flatMap(({ bins }, paint): Mark[] => {
    const points = bins.flatMap((value, bin) => [
      [startOf(bin), value] as const,
      [startOf(bin + 1), value] as const,
    ]);
    const line = { mark: 'line', name: 'mean', points, paint, dash: DASHES[paint]! } as const;
    if (shown.length > 1) return [line];
    return [{ mark: 'area', points: points.map(([x, value]) => [x, 0, value]), paint }, line];
  });
}

/** Invisible bins that tell their numbers to those who point at them. */
function titledBins(
  shown: readonly Course[],
  startOf: (bin: number) => number,
  most: number,
  unit: string,
): Mark[] {
  const y = [0, highestOf(shown)] as const;
  return Array.from({ length: most }, (_, bin): Mark => {
    const values = shown.map(
      ({ label, bins }) => `${label} ${bins[bin] === undefined ? 'none' : rounded(bins[bin])}`,
    );
    const x = [startOf(bin), startOf(bin + 1)] as const;
    const title = `${x[0]} to ${x[1]} ms: ${values.join(', ')} ${unit}`;
    return { mark: 'rect', name: 'bin', x, y, paint: 'none', title };
  });
}

function highestOf(shown: readonly Course[]): number {
  return Math.max(1, max(shown, ({ bins }) => max(bins)) ?? 1);
}
