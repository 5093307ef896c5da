/** Chooses the figures of an experiment by its sweep and reports. The page shows one at a time, a file all of them. */
import type { ExperimentDocument } from '../document/document.js';
import { axisKindOf, parameterOf } from '../kinds/axis-kinds.js';
import { editsOf } from '../kinds/edit-kinds.js';
import { groupKindOf } from '../kinds/report-kinds.js';
import type { ExperimentHead } from '../document/result.js';
import { trialsText } from './condition-labels.js';
import { controlsFigure } from './controls-figure.js';
import {
  type Chosen,
  type FigureKind,
  type Findings,
  type FirstRows,
  MAX_FIGURES,
  sentences,
} from './figure-kind.js';
import type { Figure } from './figure.js';
import { courseFigure } from './course-figure.js';
import { measureFigures } from './measure-figures.js';
import { provenanceOf } from './provenance.js';
import { withPublished } from './published-curve.js';
import { rasterFigure } from './raster-figure.js';
import { eventReports, isTraced } from './report-figures.js';
import { traceFigure } from './trace-figure.js';
import { own } from '../../engine/own.js';

/** The kinds of figures of an experiment, the most informative first. */
export function figuresOf(experiment: ExperimentDocument): readonly FigureKind[] {
  const kinds = Object.values(experiment.reports)
    .map(groupKindOf)
    .filter((kind) => kind !== undefined);
  const measures = new Set(kinds.map(({ measure }) => measure));
  const courses = new Set(kinds.map(({ course }) => course).filter((course) => course !== undefined));
  const events = eventReports(experiment);
  const traces = events.filter((report) => isTraced(experiment, report));
  const strokes = events.filter((report) => !traces.includes(report));
  const ofMeasures = [...measures].flatMap((measure) => measureFigures(experiment, measure)).map(compared);
  const ofCourses = [...courses].map(courseFigure);
  // Somebody who reads only courses, and sweeps nothing, asks when neurons fire.
  const isOfTime = experiment.sweep === undefined && kinds.every(({ course }) => course !== undefined);
  return [
    ...(isOfTime ? [...ofCourses, ...ofMeasures] : [...ofMeasures, ...ofCourses]),
    ...(experiment.controls === undefined ? [] : [controlsFigure(experiment)]),
    ...(traces.length > 0 ? [traceFigure(experiment, traces)] : []),
    ...(strokes.length > 0 ? [rasterFigure(experiment, strokes)] : []),
  ];
}

/** The same kind, with published numbers if there are any for the experiment. */
function compared(kind: FigureKind): FigureKind {
  return {
    ...kind,
    draw(findings, chosen) {
      const figure = kind.draw(findings, chosen);
      return figure && withPublished(figure, findings.head);
    },
  };
}

/** A figure of a file with the numbers behind it; see FigureKind. */
export interface DrawnFigure {
  readonly kind: FigureKind;
  readonly figure: Figure;
  rows(): FirstRows | undefined;
}

/** The figures of a file, which offers no choice. @param kinds the most informative first */
export function drawnFigures(
  findings: Findings,
  kinds = figuresOf(findings.head.experiment),
): readonly DrawnFigure[] {
  return kinds.flatMap((kind) =>
    selectionsOf(kind, findings)
      .flatMap((chosen) => {
        const figure = kind.draw(findings, chosen);
        const isEmpty = figure === undefined || figure.sections.every(({ panels }) => panels.length === 0);
        return isEmpty ? [] : [{ kind, figure, rows: () => kind.rows?.(findings, chosen) }];
      })
      .slice(0, MAX_FIGURES),
  );
}

/**
 * The figure to save as a file: all figures in one; of a sweep only the first kind that has something to draw, and the
 * comparisons with controls.
 */
export function figureOfFile(findings: Findings): Figure {
  const { head, conditions, isPartial = false } = findings;
  const figures = conditions.length === 0 ? [] : figuresOfFile(findings);
  const isCut = conditions.some(({ tables }) => Object.values(tables).some(({ truncated }) => truncated));
  const notes = [
    ...new Set(figures.map(({ note }) => note)),
    figures.length === 0 && 'There is nothing to draw: no condition that is done has a number or an event.',
    isPartial && 'The job is not finished: only the conditions that are done are drawn.',
    isCut && 'Rows of events beyond the limit of the service are not drawn.',
  ];
  return titled(head, {
    label: figures.map(({ label }) => label).join(' '),
    sections: figures.flatMap(({ sections }) => sections),
    note: sentences(...notes),
  });
}

function figuresOfFile(findings: Findings): readonly Figure[] {
  const { experiment } = findings.head;
  const { sweep = [], controls } = experiment;
  const isSwept = sweep.some((axis) => axisKindOf(axis).numbersOf?.(axis).length !== 1);
  const among = controlsFigure(experiment);
  const compared = isSwept && controls !== undefined ? drawnFigures(findings, [among]) : [];
  const kinds = figuresOf(experiment).filter(({ name }) => !isSwept || name !== among.name);
  const drawn = isSwept ? firstDrawn(findings, kinds) : drawnFigures(findings, kinds);
  return [...drawn.slice(0, MAX_FIGURES - compared.length), ...compared].map(({ figure }) => figure);
}

/** One kind only, because a file of a sweep would otherwise repeat its numbers in each kind; the first says most. */
function firstDrawn(findings: Findings, kinds: readonly FigureKind[]): readonly DrawnFigure[] {
  for (const kind of kinds) {
    const drawn = drawnFigures(findings, [kind]);
    if (drawn.length > 0) return drawn;
  }
  return [];
}

/** Adds title and provenance, because a file has no page around it that names the experiment. */
export function titled(head: ExperimentHead, figure: Figure): Figure {
  const { id, model, wiring, experiment, side_convention: sides } = head;
  const swept = (experiment.sweep ?? []).map(parameterOf);
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
    note: sentences(figure.note, showsSides(figure) && sides),
    metadata,
  };
}

/** True if a title or label of the figure names a side. */
export function showsSides({ sections }: Figure): boolean {
  const isSide = (text: string) => /\b(left|right)\b/.test(text);
  return sections.some(({ panels }) =>
    panels.some(({ title, x, y, legend = [] }) =>
      [title, ...[x, y].flatMap((axis) => ('bands' in axis ? axis.bands.map(({ label }) => label) : []))]
        .concat(legend.map(({ label }) => label))
        .some(isSide),
    ),
  );
}

function selectionsOf(
  kind: FigureKind,
  findings: Findings,
  fixed: Readonly<Record<string, string>> = {},
): Chosen[] {
  const chosen: Chosen = ({ name, values }) => own(fixed, name) ?? values[0] ?? '';
  const open = kind.choices?.(findings, chosen).find(({ name }) => own(fixed, name) === undefined);
  if (open === undefined) return [chosen];
  return open.values
    .slice(0, open.inFile)
    .flatMap((value) => selectionsOf(kind, findings, { ...fixed, [open.name]: value }));
}
