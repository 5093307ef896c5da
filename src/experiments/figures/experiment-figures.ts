/** The figures that an experiment has, by its sweep and its reports: on the page one by one, in a file together. */
import type { ExperimentDocument } from '../document/document.js';
import { editsOf } from '../kinds/edit-kinds.js';
import { groupKindOf } from '../kinds/report-kinds.js';
import type { ExperimentHead } from '../run/result.js';
import { trialsText } from './condition-labels.js';
import { controlsFigure } from './controls-figure.js';
import {
  type Chosen,
  type FigureKind,
  type Findings,
  MAX_FIGURES,
  type MeasuredRow,
  sentences,
} from './figure-kind.js';
import type { Figure } from './figure.js';
import { courseFigure } from './course-figure.js';
import { measureFigures } from './measure-figures.js';
import { provenanceOf } from './provenance.js';
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
  const { experiment } = findings.head;
  const { sweep = [] } = experiment;
  const kinds = figuresOf(experiment);
  const isSwept = sweep.some((axis) => !('values' in axis) || axis.values.length > 1);
  const figures = drawnFigures(findings, isSwept ? kinds.slice(0, 1) : kinds)
    .map(({ figure }) => figure)
    .slice(0, MAX_FIGURES);
  return titled(findings.head, {
    label: figures.map(({ label }) => label).join(' '),
    sections: figures.flatMap(({ sections }) => sections),
    note: [...new Set(figures.map(({ note }) => note))].join(' '),
  });
}

/** A figure for a file, which has no page around it that could say what it is of. */
export function titled(head: ExperimentHead, figure: Figure): Figure {
  const { id, model, wiring, experiment, side_convention: sides } = head;
  const swept = (experiment.sweep ?? []).flatMap((axis) => ('set' in axis ? [axis.set] : []));
  const edited = editsOf(experiment)
    .map(([, kind, value]) => kind.words(value, swept))
    .filter((words) => words !== '')
    .join('; ');
  const metadata = provenanceOf(head);
  return {
    ...figure,
    title: metadata['Title']!,
    subtitles: [
      `${trialsText(experiment)}, ${model}, ${wiring} wiring`,
      ...(edited === '' ? [] : [edited]),
      `experiment ${id}`,
    ],
    note: sentences(figure.note, sides),
    metadata,
  };
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
