/** The figures that an experiment has, by its sweep and its reports: on the page one by one, in a file together. */
import type { ExperimentDocument } from '../document/document.js';
import { editsOf } from '../kinds/edit-kinds.js';
import { groupKindOf } from '../kinds/report-kinds.js';
import { controlsFigure } from './controls-figure.js';
import { type Chosen, type FigureKind, type Findings, MAX_FIGURES, type MeasuredRow } from './figure-kind.js';
import type { Figure } from './figure.js';
import { courseFigure } from './course-figure.js';
import { measureFigures } from './measure-figures.js';
import { rasterFigure } from './raster-figure.js';
import { eventReports, isTraced } from './report-figures.js';
import { traceFigure } from './trace-figure.js';

/** The first is the one that says most. */
export function figuresOf(experiment: ExperimentDocument): readonly FigureKind[] {
  const kinds = Object.values(experiment.reports)
    .map(groupKindOf)
    .filter((kind) => kind !== undefined);
  const measures = new Set(kinds.map(({ measure }) => measure));
  const courses = new Set(kinds.map(({ course }) => course).filter((course) => course !== undefined));
  const events = eventReports(experiment);
  const traces = events.filter((report) => isTraced(experiment, report));
  const strokes = events.filter((report) => !traces.includes(report));
  return [
    ...[...measures].flatMap((measure) => measureFigures(experiment, measure)),
    ...[...courses].map(courseFigure),
    ...(experiment.controls === undefined ? [] : [controlsFigure(experiment)]),
    ...(traces.length > 0 ? [traceFigure(experiment, traces)] : []),
    ...(strokes.length > 0 ? [rasterFigure(experiment, strokes)] : []),
  ];
}

/** A figure of a file, with the numbers behind it; see FigureKind. */
export interface DrawnFigure {
  readonly kind: FigureKind;
  readonly figure: Figure;
  readonly rows: readonly MeasuredRow[];
}

/** The figures of a file, in which nobody can choose. @param kinds of figures, the first of which says most */
export function drawnFigures(
  findings: Findings,
  kinds = figuresOf(findings.head.experiment),
): readonly DrawnFigure[] {
  return kinds.flatMap((kind) =>
    selectionsOf(kind, findings)
      .flatMap((chosen) => {
        const figure = kind.draw(findings, chosen);
        return figure === undefined ? [] : [{ kind, figure, rows: kind.rows?.(findings, chosen) ?? [] }];
      })
      .slice(0, MAX_FIGURES),
  );
}

/** All that is worth a file; of a sweep its first figure. */
export function figureOfFile(findings: Findings): Figure {
  const { id, model, wiring, experiment } = findings.head;
  const { name = 'Open experiment', sweep = [] } = experiment;
  const kinds = figuresOf(experiment);
  const isSwept = sweep.some((axis) => !('values' in axis) || axis.values.length > 1);
  const figures = drawnFigures(findings, isSwept ? kinds.slice(0, 1) : kinds)
    .map(({ figure }) => figure)
    .slice(0, MAX_FIGURES);
  const swept = sweep.flatMap((axis) => ('set' in axis ? [axis.set] : []));
  const edited = editsOf(experiment)
    .map(([, kind, value]) => kind.words(value, swept))
    .filter((words) => words !== '')
    .join('; ');
  return {
    title: name,
    subtitles: [
      `${trialsText(experiment)}, ${model}`,
      ...(edited === '' ? [] : [edited]),
      `experiment ${id}`,
    ],
    metadata: JSON.stringify({ id, model, wiring, experiment }),
    label: figures.map(({ label }) => label).join(' '),
    sections: figures.flatMap(({ sections }) => sections),
    note: [...new Set(figures.map(({ note }) => note))].join(' '),
  };
}

/** `30 trials of 1000 ms`; without the time where a sweep sets it. */
export function trialsText({ trials, duration_ms: durationMs, sweep = [] }: ExperimentDocument): string {
  const hasOneDuration = !sweep.some((axis) => 'set' in axis && axis.set === 'duration_ms');
  return `${trials} ${trials === 1 ? 'trial' : 'trials'}${hasOneDuration ? ` of ${durationMs} ms` : ''}`;
}

function selectionsOf(
  kind: FigureKind,
  findings: Findings,
  fixed: Readonly<Record<string, string>> = {},
): Chosen[] {
  const chosen: Chosen = ({ name, values }) => fixed[name] ?? values[0] ?? '';
  const open = kind.choices?.(findings, chosen).find(({ name }) => !(name in fixed));
  if (open === undefined) return [chosen];
  return open.values
    .slice(0, open.inFile)
    .flatMap((value) => selectionsOf(kind, findings, { ...fixed, [open.name]: value }));
}
