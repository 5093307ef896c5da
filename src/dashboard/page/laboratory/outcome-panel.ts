/** What comes of an experiment, while it comes: progress, figure, table, files, and what to cite. */
import type { EachAxis, ExperimentDocument } from '../../../answers/v2/document.js';
import type { ExperimentHead, ExperimentTotals } from '../../../answers/v2/result.js';
import { byId, element, grouped } from '../dom.js';
import { asFailure, type ServiceFailure } from '../service/client.js';
import type { AnswerSource, ConditionLine, Progress } from '../service/open-experiments.js';
import { onThemeChange } from '../theme.js';
import { type Bar, barsFigure } from './bars-figure.js';
import { curvesFigure } from './curves-figure.js';
import { MOST_SERIES, type Palette, PAPER, pngFile, screenPalette, svgFile } from './figure.js';
import { groupLabel, parameterLabel } from './labels.js';
import { fillRatesTable } from './rates-table.js';
import {
  choicesBeside,
  doseSeries,
  eachAxisOf,
  groupNames,
  groupsOf,
  rankingOf,
  rateReports,
  setAxisOf,
  timeSeries,
} from './readings.js';
import { fileName, ratesFile, save, type TableFormat } from './saving.js';

/** Many conditions may come within one picture of the screen. */
const REDRAW_PAUSE_MS = 150;
const MOST_BARS = 40;
/** Width of a figure that is saved, and pixels of a PNG for each of its units. */
const SAVED_WIDTH = 900;
const PNG_SCALE = 2;

/** How the last experiment ended, or that it goes on. */
type State = 'running' | 'stopped' | 'broken' | 'done';

const MEAN_RATES = 'mean rates';
const IN_TIME = 'rates in time';

/** What can be drawn of an experiment. */
function figuresOf({ reports }: ExperimentDocument): string[] {
  const isBinned = Object.values(reports).some(({ type }) => type === 'histogram');
  return isBinned ? [MEAN_RATES, IN_TIME] : [MEAN_RATES];
}

interface Figure {
  readonly drawn: SVGSVGElement;
  readonly note: string;
}

export class OutcomePanel {
  readonly #panel = byId('outcome');
  readonly #progress = byId<HTMLProgressElement>('progress');
  readonly #goOn = byId<HTMLButtonElement>('go-on');
  readonly #choices = new Map<string, string>();
  #source: AnswerSource | undefined;
  #stop = new AbortController();
  #state: State = 'done';
  #head: ExperimentHead | undefined;
  #conditions: ConditionLine[] = [];
  #totals: ExperimentTotals | undefined;
  #latest: Progress | undefined;
  #expected = 0;
  #redraw: ReturnType<typeof setTimeout> | undefined;

  /**
   * @param onHead is told what the experiment is, when that is known
   * @param onEnd is told when an experiment has ended, with the failure if there was one
   */
  constructor(
    private readonly onHead: (head: ExperimentHead) => void,
    private readonly onEnd: (failure: ServiceFailure | undefined) => void,
  ) {
    this.#goOn.addEventListener('click', () => void this.goOn());
    document.querySelectorAll<HTMLButtonElement>('[data-save]').forEach((button) => {
      button.addEventListener('click', () => void this.#save(button.dataset['save']!));
    });
    onThemeChange(() => this.#drawFigure());
    let width = innerWidth;
    addEventListener('resize', () => {
      if (innerWidth === width) return;
      width = innerWidth;
      this.#drawSoon();
    });
  }

  get isRunning(): boolean {
    return this.#state === 'running';
  }

  /**
   * Shows what a source gives, from its first condition on.
   * @param expected number of conditions, at most
   */
  async follow(source: AnswerSource, expected: number): Promise<void> {
    this.stop();
    this.#source = source;
    this.#expected = expected;
    this.#head = undefined;
    this.#conditions = [];
    this.#choices.clear();
    await this.goOn();
  }

  /** Asks the same source for what is missing. */
  async goOn(): Promise<void> {
    const { signal } = (this.#stop = new AbortController());
    const from = (this.#conditions.at(-1)?.index ?? -1) + 1;
    this.#state = 'running';
    this.#totals = undefined;
    this.#latest = undefined;
    this.#panel.hidden = false;
    this.#draw();
    let failure: ServiceFailure | undefined;
    let state: State;
    try {
      for await (const line of this.#source!(from, signal)) {
        if (signal.aborted) break;
        if (line.kind === 'head') {
          this.#head = line.head;
          this.onHead(line.head);
        } else if (line.kind === 'condition') this.#take(line.condition);
        else if (line.kind === 'progress') this.#latest = line.progress;
        else this.#totals = line.totals;
        this.#drawSoon();
      }
      state = signal.aborted ? 'stopped' : 'done';
    } catch (error) {
      state = signal.aborted ? 'stopped' : 'broken';
      if (!signal.aborted) failure = asFailure(error);
    }
    // Another experiment may have taken the place of this one.
    if (this.#stop.signal !== signal) return;
    this.#state = state;
    if (this.#head === undefined) this.#panel.hidden = true;
    this.#draw();
    this.onEnd(failure);
  }

  stop(): void {
    this.#stop.abort();
  }

  /** Conditions of a job come in any order, and again when it is followed again. */
  #take(condition: ConditionLine): void {
    const { index } = condition;
    if (index > (this.#conditions.at(-1)?.index ?? -1)) {
      this.#conditions.push(condition);
      return;
    }
    const place = this.#conditions.findIndex((each) => each.index >= index);
    this.#conditions.splice(place, this.#conditions[place]!.index === index ? 1 : 0, condition);
  }

  #drawSoon(): void {
    this.#redraw ??= setTimeout(() => this.#draw(), REDRAW_PAUSE_MS);
  }

  #draw(): void {
    clearTimeout(this.#redraw);
    this.#redraw = undefined;
    this.#drawProgress();
    byId('downloads').hidden = this.#conditions.length === 0;
    this.#drawTools();
    this.#drawFigure();
    this.#drawTable();
    this.#drawCredit();
  }

  #drawProgress(): void {
    const progress = this.#latest;
    const done = this.#conditions.length;
    const expected = Math.max(done, progress?.conditions ?? this.#expected);
    this.#progress.hidden = this.#state === 'done';
    this.#progress.max = Math.max(1, expected);
    // Trials move while a condition is under way.
    this.#progress.value = Math.max(done, progress === undefined ? 0 : progress.share * progress.conditions);
    this.#goOn.hidden = this.#state !== 'stopped' && this.#state !== 'broken';
    const conditions = `${grouped(done)} of ${grouped(expected)} conditions`;
    const details = [
      ...(progress?.trials === undefined
        ? []
        : [`${grouped(progress.trials.done)} of ${grouped(progress.trials.all)} trials`]),
      ...(progress?.secondsLeft === undefined ? [] : [`some ${grouped(progress.secondsLeft)} s left`]),
    ];
    byId('progress-text').textContent = {
      running: `Running: ${[conditions, ...details].join(', ')} …`,
      stopped: `Stopped after ${conditions}.`,
      broken: `Broken off after ${conditions}.`,
      done: this.#describeDone(),
    }[this.#state];
  }

  #describeDone(): string {
    if (this.#head === undefined || this.#totals === undefined) return '';
    const { brain_seconds, synaptic_events } = this.#totals.cost;
    const conditions = this.#conditions.length;
    const { trials } = this.#head.experiment;
    return (
      `${grouped(conditions)} ${conditions === 1 ? 'condition' : 'conditions'} of ${trials} ${trials === 1 ? 'trial' : 'trials'}: ` +
      `${brain_seconds} brain seconds, ${grouped(synaptic_events)} synaptic events.`
    );
  }

  /** What the reader chooses of the figure, where there is a choice. */
  #drawTools(): void {
    const tools = byId('figure-tools');
    const offered: [string, string, readonly string[]][] = [];
    if (this.#head !== undefined) {
      const { experiment } = this.#head;
      const figures = figuresOf(experiment);
      offered.push(['figure', 'Show', figures]);
      const axis = eachAxisOf(experiment);
      if (axis !== undefined && this.#choice('figure', figures) !== IN_TIME) {
        const reports = rateReports(experiment);
        offered.push(
          ['report', 'Report', reports],
          ['group', 'Group', groupNames(this.#conditions, this.#choice('report', reports))],
          ['beside', 'At', choicesBeside(this.#conditions, axis)],
        );
      }
    }
    const shown = offered.filter(([, , values]) => values.length > 1);
    const key = JSON.stringify(shown);
    if (tools.dataset['key'] === key) return;
    tools.dataset['key'] = key;
    tools.replaceChildren(
      ...shown.map(([name, label, values]) => {
        const chosen = this.#choice(name, values);
        const options = values.map((value) =>
          element('option', { value, selected: value === chosen }, value),
        );
        const select = element('select', {}, ...options);
        select.addEventListener('change', () => {
          this.#choices.set(name, select.value);
          this.#draw();
        });
        return element('label', {}, `${label} `, select);
      }),
    );
  }

  #choice(name: string, values: readonly string[]): string {
    const chosen = this.#choices.get(name);
    return chosen !== undefined && values.includes(chosen) ? chosen : (values[0] ?? '');
  }

  #drawFigure(): void {
    const container = byId('figure');
    const figure = this.#figure(container.clientWidth, screenPalette());
    container.replaceChildren(...(figure === undefined ? [] : [figure.drawn]));
    byId('figure-note').textContent = figure?.note ?? '';
  }

  #figure(width: number, palette: Palette): Figure | undefined {
    if (this.#head === undefined || this.#conditions.length === 0 || width === 0) return undefined;
    const { experiment } = this.#head;
    if (this.#choice('figure', figuresOf(experiment)) === IN_TIME) return this.#inTime(width, palette);
    const each = eachAxisOf(experiment);
    if (each !== undefined) return this.#screen(each, width, palette);
    const dose = setAxisOf(experiment);
    return dose === undefined ? this.#groups(width, palette) : this.#dose(dose.set, width, palette);
  }

  #dose(parameter: string, width: number, palette: Palette): Figure | undefined {
    const all = rateReports(this.#head!.experiment).map((report) => ({
      report,
      series: doseSeries(this.#conditions, parameter, report),
    }));
    const loud = all.filter(({ series }) => series.some(({ points }) => points.some(({ mean }) => mean > 0)));
    const silent = all.filter((panel) => !loud.includes(panel)).map(({ report }) => report);
    const panels = loud.length === 0 ? all.slice(0, 1) : loud;
    if (panels.length === 0) return undefined;
    const isCut = panels.some(({ series }) => series.length > MOST_SERIES);
    const notes = [
      'Lines are means over the trials, bands one standard deviation.',
      ...(silent.length > 0 ? [`Silent: ${silent.join(', ')}.`] : []),
      ...(isCut ? [`Of each report the first ${MOST_SERIES} lines are drawn; the table has all.`] : []),
    ];
    return { drawn: curvesFigure(panels, parameterLabel(parameter), width, palette), note: notes.join(' ') };
  }

  #inTime(width: number, palette: Palette): Figure | undefined {
    const { reports } = this.#head!.experiment;
    const panels = Object.entries(reports)
      .filter(([, { type }]) => type === 'histogram')
      .map(([report, document]) => ({ report, series: timeSeries(this.#conditions, report, document) }));
    const isCut = panels.some(({ series }) => series.length > MOST_SERIES);
    const note =
      'Mean rates over neurons and trials, in bins.' +
      (isCut ? ` Of each report the first ${MOST_SERIES} lines are drawn.` : '');
    return { drawn: curvesFigure(panels, 'Time (ms)', width, palette), note };
  }

  #screen(axis: EachAxis, width: number, palette: Palette): Figure | undefined {
    const report = this.#choice('report', rateReports(this.#head!.experiment));
    const group = this.#choice('group', groupNames(this.#conditions, report));
    const beside = this.#choice('beside', choicesBeside(this.#conditions, axis));
    const { baseline, entries } = rankingOf(this.#conditions, axis, beside, report, group);
    if (baseline === undefined && entries.length === 0) return undefined;
    const shown = entries.slice(0, MOST_BARS);
    const isLesion = axis.as === 'silence';
    const bars: Bar[] = [...(baseline === undefined ? [] : [{ label: 'none', ...baseline }]), ...shown];
    const what = group === 'all' ? report : `${report} ${group}`;
    const unchanged = this.#totals?.unchanged.length ?? 0;
    const notes = [
      `Bars are means over the trials of ${what}, with one standard deviation; the dashed line is the rate without any. ` +
        (isLesion ? 'The largest change comes first.' : 'The highest rate comes first.'),
      ...(entries.length > shown.length
        ? [`${shown.length} of ${entries.length} groups are drawn; the table has all.`]
        : []),
      ...(unchanged > 0
        ? [
            `${unchanged} groups never spike without a lesion, so silencing them changes nothing: they were not run.`,
          ]
        : []),
    ];
    const label = `Rate of ${what} (Hz), ${isLesion ? 'with a group silenced' : 'with a group stimulated'}`;
    return { drawn: barsFigure(bars, baseline, label, width, palette), note: notes.join(' ') };
  }

  #groups(width: number, palette: Palette): Figure | undefined {
    const condition = this.#conditions[0]!;
    const bars = rateReports(this.#head!.experiment).flatMap((report) =>
      groupsOf(condition, report).flatMap((group): Bar[] => {
        if (group.rate_hz === null) return [];
        const name = groupLabel(group);
        return [{ label: name === 'all' ? report : `${report} ${name}`, ...group.rate_hz }];
      }),
    );
    const loud = bars.filter(({ mean }) => mean > 0);
    const shown = (loud.length === 0 ? bars : loud).slice(0, MOST_BARS);
    if (shown.length === 0) return undefined;
    const silent = bars.length - loud.length;
    const notes = [
      'Bars are means over the trials, with one standard deviation; each ring is a trial.',
      ...(loud.length > 0 && silent > 0 ? [`${silent} silent groups are left out; the table has them.`] : []),
    ];
    return { drawn: barsFigure(shown, undefined, 'Rate (Hz)', width, palette), note: notes.join(' ') };
  }

  #drawTable(): void {
    const table = byId<HTMLTableElement>('rates');
    if (this.#head === undefined) {
      table.replaceChildren();
      return;
    }
    const { experiment } = this.#head;
    const { rows, shown } = fillRatesTable(table, experiment, this.#conditions);
    const tables = Object.entries(experiment.reports).filter(
      ([, { type }]) => type === 'spikes' || type === 'inputs',
    );
    const notes = [
      ...(rows > shown ? [`The first ${shown} of ${grouped(rows)} rows; the files have all.`] : []),
      ...(tables.length > 0
        ? [
            `${tables.map(([name]) => name).join(', ')}: one row for each event, which the page does not show. ` +
              'The commands beside the document get them with ?table=spikes or ?table=inputs.',
          ]
        : []),
    ];
    byId('rates-note').textContent = notes.join(' ');
  }

  #drawCredit(): void {
    byId('warnings').replaceChildren(
      ...(this.#totals?.warnings ?? []).map(({ code, message }) =>
        element('li', {}, element('b', {}, spokenCode(code)), `: ${message}`),
      ),
    );
    const { id, model, side_convention: sides } = this.#head ?? { id: '', model: '', side_convention: '' };
    byId('identity').replaceChildren(
      ...Object.entries({ Experiment: id, Model: model, Sides: sides }).flatMap(([term, value]) => [
        element('dt', {}, term),
        element('dd', {}, value),
      ]),
    );
    byId('cite').replaceChildren(...(this.#totals?.cite ?? []).map((text) => element('li', {}, text)));
  }

  async #save(format: string): Promise<void> {
    const head = this.#head;
    if (head === undefined) return;
    const name = fileName(head.experiment.name, head.id, format);
    if (format === 'csv' || format === 'arrow') {
      save(await ratesFile(format as TableFormat, head, this.#conditions), name);
      return;
    }
    const figure = this.#figure(SAVED_WIDTH, PAPER)?.drawn;
    if (figure === undefined) return;
    save(format === 'svg' ? svgFile(figure) : await pngFile(figure, PNG_SCALE), name);
  }
}

/** `SYNTHETIC_WIRING` for people. */
function spokenCode(code: string): string {
  const words = code.toLowerCase().replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
