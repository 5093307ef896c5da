/** Shows the results of an experiment as they arrive: progress, figure, table, files and citations. */
import type { ExperimentHead, ExperimentTotals } from '../../../src/experiments/document/result.js';
import { namesOnlyIds } from '../../../src/experiments/figures/condition-labels.js';
import { figuresOf, showsSides, titled } from '../../../src/experiments/figures/experiment-figures.js';
import type { Choice, FigureKind, Findings } from '../../../src/experiments/figures/figure-kind.js';
import type { Figure } from '../../../src/experiments/figures/figure.js';
import type { Look } from '../../../src/experiments/figures/figure-file.js';
import { haveSameNeurons } from '../../../src/engine/connectome/model-id.js';
import { eventReports, measuredReports } from '../../../src/experiments/figures/report-figures.js';
import { eventKindOf } from '../../../src/experiments/kinds/report-kinds.js';
import { byId, choiceOf, counted, element, grouped, passFocus, save, terms } from '../dom.js';
import { drawnIn } from '../plots/figure-box.js';
import { asFailure, service, ServiceFailure } from '../service/client.js';
import { type NeuronIndex, neuronIndexOfBrain } from '../service/neuron-index.js';
import type { AnswerLine, AnswerSource, ConditionLine, Progress } from '../service/open-experiments.js';
import { onThemeChange } from '../theme.js';
import { onWidth } from '../window.js';
import { focusCell, focusedCell, makeReadable } from './cell-reader.js';
import { figureBlob } from './figure.js';
import { findingsOf } from './findings.js';
import type { Members } from './json.js';
import { fillRatesTable } from './rates-table.js';
import { csvHeading, fileName, tableFile } from './saving.js';
import { brainSeconds } from './words.js';

/** Shortest time between two drawings, because many conditions may come within one frame. */
const REDRAW_PAUSE_MS = 150;
/** Number of rows at first; more rows slow the page down. */
const FIRST_ROWS = 300;

type State = 'running' | 'stopped' | 'broken' | 'done';

/** The part of the panel that a live run replaces at once, before its first condition. */
interface Followed {
  readonly source: AnswerSource | undefined;
  /** Upper bound of the number of conditions. */
  readonly expected: number;
  /** The document of the form that the results answer; undefined if only the id of a job is known. */
  readonly asked: Members | undefined;
  /** True while the panel shows live runs of the form. */
  readonly isLive: boolean;
  /** Stands beside the results of a live run. */
  readonly note: string;
}

const NOTHING: Followed = { source: undefined, expected: 0, asked: undefined, isLive: false, note: '' };

export class OutcomePanel {
  readonly #panel = byId('outcome');
  readonly #progress = byId<HTMLProgressElement>('progress');
  readonly #goOn = byId<HTMLButtonElement>('go-on');
  readonly #figure = byId('figure');
  /** The user's choices, by name. */
  readonly #choices = new Map<string, string>();
  #neurons: NeuronIndex | undefined;
  #followed = NOTHING;
  #stop = new AbortController();
  #state: State = 'done';
  #head: ExperimentHead | undefined;
  #conditions: ConditionLine[] = [];
  #totals: ExperimentTotals | undefined;
  /** The place of computation, as a sentence. */
  #placeText = '';
  #findings: Findings | undefined;
  #latest: Progress | undefined;
  #redraw: ReturnType<typeof setTimeout> | undefined;
  /** Head of an experiment without a condition yet. The previous results stay visible until the first condition. */
  #pending: ExperimentHead | undefined;
  #preferred: string | undefined;
  #rowsShown = FIRST_ROWS;
  /** Belongs to the visible results while a live run has no condition. It returns if the run is refused. */
  #earlier: { readonly followed: Followed; readonly state: State } | undefined;

  /**
   * @param onHead called with the document of an experiment that is no live run, when its head has come
   * @param onEnd called at the end of an experiment, with the failure if there was one
   */
  constructor(
    private readonly onHead: (asked: Members) => void,
    private readonly onEnd: (failure: ServiceFailure | undefined) => void,
  ) {
    document.querySelectorAll<HTMLButtonElement>('[data-save]').forEach((button) => {
      button.addEventListener('click', () => void this.#save(button.dataset['save']!));
    });
    byId('all-rates').addEventListener('click', () => {
      this.#rowsShown = Infinity;
      this.#draw();
    });
    onThemeChange(() => this.#drawFigure());
    onWidth(() => this.#drawSoon());
  }

  /** Id of the experiment of the results. */
  get id(): string | undefined {
    return this.#head?.id;
  }

  /** The document of the form that the results answer; undefined if only the id of a job is known. */
  get asked(): Members | undefined {
    return this.#followed.asked;
  }

  /** Says whether the results are of another document than that of the form. */
  setOther(isOther: boolean): void {
    this.#panel.classList.toggle('of-other', isOther);
    passFocus(byId('show-other'), byId('outcome-heading'));
  }

  /** Removes the results. */
  clear(): void {
    this.stop();
    this.#state = 'done';
    this.#head = this.#pending = this.#earlier = undefined;
    this.#followed = { ...this.#followed, asked: undefined };
    this.#conditions = [];
    this.#panel.hidden = true;
    this.#draw();
  }

  get isRunning(): boolean {
    return this.#state === 'running' && !this.#followed.isLive;
  }

  /**
   * Shows the results of a source. They replace the visible ones at the first condition.
   * @param asked the document of the form
   * @returns the failure, if there was one
   */
  async followLive(
    source: AnswerSource,
    expected: number,
    asked: Members | undefined,
    note: string,
  ): Promise<ServiceFailure | undefined> {
    this.stop();
    const state = this.#state === 'running' ? 'stopped' : this.#state;
    this.#earlier ??= { followed: this.#followed, state };
    this.#followed = { source, expected, asked, isLive: true, note };
    return this.#read(0);
  }

  /**
   * Shows the results of a source from its first condition on.
   * @param expected upper bound of the number of conditions
   * @param asked the document of the form
   */
  async follow(source: AnswerSource, expected: number, asked: Members | undefined): Promise<void> {
    this.stop();
    this.#followed = { ...NOTHING, source, expected, asked };
    this.setOther(false);
    this.#head = this.#earlier = undefined;
    this.#conditions = [];
    this.#choices.clear();
    if (this.#preferred !== undefined) this.#choices.set('figure', this.#preferred);
    this.#preferred = undefined;
    this.#rowsShown = FIRST_ROWS;
    await this.goOn();
  }

  /** Continues with the missing conditions of the same source. */
  async goOn(): Promise<void> {
    this.#followed = { ...this.#followed, isLive: false, note: '' };
    const reading = this.#read((this.#conditions.at(-1)?.index ?? -1) + 1);
    const { signal } = this.#stop;
    const failure = await reading;
    // Another experiment may have replaced this one.
    if (this.#stop.signal === signal) this.onEnd(failure);
  }

  /** @param from index of the first condition to read */
  async #read(from: number): Promise<ServiceFailure | undefined> {
    this.#stop.abort();
    const { signal } = (this.#stop = new AbortController());
    this.#state = 'running';
    byId('save-state').textContent = '';
    this.#latest = undefined;
    this.#pending = undefined;
    const { source, isLive } = this.#followed;
    this.#panel.hidden = isLive && this.#head === undefined;
    if (!isLive) {
      this.#totals = undefined;
      this.#draw();
    }
    let failure: ServiceFailure | undefined;
    let state: State;
    try {
      for await (const line of source!(from, signal)) {
        if (signal.aborted) break;
        this.#take(line);
        this.#drawSoon();
      }
      state = signal.aborted ? 'stopped' : 'done';
    } catch (error) {
      state = signal.aborted ? 'stopped' : 'broken';
      if (!signal.aborted) failure = asFailure(error);
    }
    if (this.#stop.signal !== signal) return undefined;
    this.#state = state;
    if (failure !== undefined && this.#earlier !== undefined) {
      ({ followed: this.#followed, state: this.#state } = this.#earlier);
      this.#earlier = undefined;
    }
    this.#panel.hidden = this.#head === undefined;
    this.#draw();
    return failure;
  }

  #take(line: AnswerLine): void {
    switch (line.kind) {
      case 'head':
        this.#pending = line.head;
        if (!this.#followed.isLive) this.#begin();
        break;
      case 'condition':
        this.#begin();
        this.#place(line.condition);
        break;
      case 'progress':
        this.#latest = line.progress;
        break;
      default:
        this.#totals = line.totals;
        byId('save-state').textContent = '';
        this.#placeText = line.place;
    }
  }

  /** A continued experiment keeps its conditions. */
  #begin(): void {
    const head = this.#pending;
    if (head === undefined) return;
    this.#pending = undefined;
    this.#head = head;
    this.#panel.hidden = false;
    if (this.#followed.isLive) {
      this.#conditions = [];
      this.#totals = undefined;
    } else {
      const asked = this.asked ?? (head.experiment as unknown as Members);
      this.#followed = { ...this.#followed, asked };
      this.onHead(asked);
    }
    this.#earlier = undefined;
    if (eventReports(head.experiment).length > 0 || namesOnlyIds(head.experiment))
      void this.#showTypes(head.model);
  }

  stop(): void {
    this.#stop.abort();
  }

  /** Inserts a condition. Those of a job come in any order, and again if the job is followed again. */
  #place(condition: ConditionLine): void {
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

  /** Shows a fault instead of the figure, because a caller has to end its experiment in any case. */
  #draw(): void {
    clearTimeout(this.#redraw);
    this.#redraw = undefined;
    this.#drawProgress();
    byId('downloads').hidden = this.#conditions.length === 0;
    try {
      this.#findings = this.#found();
      this.#drawTools();
      this.#drawFigure();
      this.#drawTable();
      this.#drawCredit();
    } catch (error) {
      reportError(error);
      this.#figure.replaceChildren();
      byId('figure-note').textContent = `These results cannot be drawn: ${(error as Error).message}`;
    }
  }

  #drawProgress(): void {
    const progress = this.#latest;
    const done = this.#conditions.length;
    const expected = Math.max(done, progress?.conditions ?? this.#followed.expected);
    const { isLive } = this.#followed;
    this.#progress.hidden = this.#state === 'done' || isLive;
    this.#progress.max = Math.max(1, expected);
    // Between conditions, the bar shows the progress of trials.
    this.#progress.value = Math.max(done, progress === undefined ? 0 : progress.share * progress.conditions);
    this.#goOn.hidden = isLive || (this.#state !== 'stopped' && this.#state !== 'broken');
    passFocus(this.#goOn, byId('outcome-heading'));
    const conditions = `${grouped(done)} of ${grouped(expected)} conditions`;
    const { trials, secondsLeft } = progress ?? {};
    const details = [
      trials && `${grouped(trials.done)} of ${grouped(trials.all)} trials`,
      secondsLeft !== undefined && `about ${grouped(secondsLeft)} s left`,
    ].filter(Boolean);
    const state = {
      running: 'Running:',
      stopped: `Stopped after ${conditions}.`,
      broken: `Interrupted after ${conditions}.`,
      done: this.#describeDone(),
    }[this.#state];
    // Screen readers speak each change of the state, and the numbers of a run change several times a second.
    const [spoken, counts] = byId('progress-text').children as unknown as [HTMLElement, HTMLElement];
    if (spoken.textContent !== state) spoken.textContent = state;
    counts.textContent = this.#state === 'running' ? `${[conditions, ...details].join(', ')} …` : '';
  }

  #describeDone(): string {
    if (this.#head === undefined || this.#totals === undefined) return '';
    const { brain_seconds, synaptic_events } = this.#totals.cost;
    const { trials } = this.#head.experiment;
    return (
      `${counted(this.#conditions.length, 'condition')} of ${counted(trials, 'trial')}: ` +
      `${brainSeconds(brain_seconds)}, ${grouped(synaptic_events)} synaptic events. ` +
      [this.#followed.note, this.#placeText].filter(Boolean).join(' ')
    );
  }

  /** Offers the choices of the figure that have more than one value. */
  #drawTools(): void {
    const tools = byId('figure-tools');
    const findings = this.#findings;
    const offered =
      findings === undefined
        ? []
        : [kindsOf(findings), ...(this.#kind(findings)?.choices?.(findings, this.#chosen) ?? [])];
    const shown = offered.filter(({ values }) => values.length > 1);
    const key = JSON.stringify(shown);
    if (tools.dataset['key'] === key) return;
    tools.dataset['key'] = key;
    const focused = (document.activeElement as HTMLElement | null)?.dataset['choice'];
    tools.replaceChildren(
      ...shown.map((choice) => {
        const { name, label, values } = choice;
        const choose = (value: string): void => {
          this.#choices.set(name, value);
          this.#draw();
        };
        const labels = values.map((value) => [value, value] as const);
        const select = choiceOf(labels, this.#chosen(choice), choose, { 'data-choice': name });
        return element('label', {}, `${label} `, select);
      }),
    );
    if (focused === undefined) return;
    const same = tools.querySelector<HTMLElement>(`[data-choice="${focused}"]`);
    (same ?? tools.querySelector('select') ?? byId('outcome-heading')).focus({ preventScroll: true });
  }

  readonly #chosen = ({ name, values }: Choice): string => {
    const chosen = this.#choices.get(name);
    return chosen !== undefined && values.includes(chosen) ? chosen : (values[0] ?? '');
  };

  /** @returns undefined before the first condition */
  #found(): Findings | undefined {
    const [head, conditions] = [this.#head, this.#conditions];
    if (head === undefined || conditions.length === 0) return undefined;
    const known = this.#neurons;
    const neurons = known && haveSameNeurons(known.model, head.model) ? known : undefined;
    return findingsOf(head, conditions, this.#totals, neurons);
  }

  /** The figure that the user has chosen; undefined if the reports allow none. */
  #kind(findings: Findings): FigureKind | undefined {
    const chosen = this.#chosen(kindsOf(findings));
    return figuresOf(findings.head.experiment).find(({ name }) => name === chosen);
  }

  #drawFigure(): void {
    const container = this.#figure;
    const focused = focusedCell(container);
    const figure = container.clientWidth === 0 ? undefined : this.#shownFigure();
    byId('figure-note').textContent = [figure?.note, figure?.hint].filter(Boolean).join(' ');
    byId('figure-sides').textContent =
      figure !== undefined && showsSides(figure) ? (this.#head?.side_convention ?? '') : '';
    this.#say('');
    if (figure === undefined) {
      container.replaceChildren();
      return;
    }
    const drawn = drawnIn(container, figure);
    container.replaceChildren(drawn);
    makeReadable(drawn, (sentence) => this.#say(sentence));
    if (focused !== undefined) focusCell(container, focused);
  }

  #say(sentence: string): void {
    byId('figure-reading').textContent = sentence;
  }

  /** The chosen figure, or the first that can be drawn: a screen may have numbers, but no differences. */
  #shownFigure(): Figure | undefined {
    const findings = this.#findings;
    if (findings === undefined) return undefined;
    for (const kind of [this.#kind(findings), ...figuresOf(findings.head.experiment)]) {
      const figure = kind?.draw(findings, this.#chosen);
      if (figure !== undefined) return figure;
    }
    return undefined;
  }

  /** Chooses the figure for the next results. */
  prefer(figure: string): void {
    this.#preferred = figure;
  }

  /** Loads types: a raster groups neurons by type, and bars name them. Without them, figures have only ids. */
  async #showTypes(model: string): Promise<void> {
    try {
      await this.#identify(model);
      this.#drawSoon();
    } catch {
      // Saving the events repeats the request and shows the failure.
    }
  }

  /** @throws ServiceFailure, also if the service now has another model */
  async #identify(model: string): Promise<void> {
    if (this.#neurons && haveSameNeurons(this.#neurons.model, model)) return;
    this.#neurons = await neuronIndexOfBrain(service);
    if (haveSameNeurons(this.#neurons.model, model)) return;
    throw new ServiceFailure('failed', 'The service has another model now; run the experiment again.');
  }

  #drawTable(): void {
    const table = byId<HTMLTableElement>('rates');
    if (this.#head === undefined) {
      table.replaceChildren();
      return;
    }
    const { experiment } = this.#head;
    const rows = fillRatesTable(table, experiment, this.#findings, this.#rowsShown);
    const order = experiment.sweep === undefined ? ', sorted by activity' : '';
    const note = byId('rates-note');
    note.hidden = rows <= this.#rowsShown;
    note.firstElementChild!.textContent = `The first ${this.#rowsShown} of ${grouped(rows)} rows${order}.`;
    // The same button in each drawing, because it may be pressed between two.
    passFocus(byId('all-rates'), table.parentElement!);
    byId('all-rates').textContent = `Show all ${grouped(rows)} rows`;
    byId('rates-of-reports').hidden = measuredReports(experiment).length === 0;
  }

  #drawCredit(): void {
    const warnings = (this.#totals?.warnings ?? []).map(({ code, message }) =>
      element('li', {}, element('b', {}, spokenCode(code)), `: ${message}`),
    );
    byId('warnings').replaceChildren(...warnings);
    const name = this.#head?.experiment.name;
    byId('outcome-of').textContent =
      this.#head === undefined ? '' : `${name ?? 'Experiment'} ${this.#head.id.slice(0, 8)}`;
    const { id, model, side_convention: sides } = this.#head ?? { id: '', model: '', side_convention: '' };
    byId('identity').replaceChildren(...terms({ Experiment: id, Model: model, Sides: sides }));
    byId('cite').replaceChildren(...(this.#totals?.cite ?? []).map((text) => element('li', {}, text)));
  }

  async #save(format: string): Promise<void> {
    const findings = this.#findings;
    const kind = findings && this.#kind(findings);
    if (findings === undefined || kind === undefined) return;
    const state = byId('save-state');
    state.textContent = '';
    if (format === 'html' && this.#totals === undefined) {
      state.textContent = 'The report can be saved when the experiment is done.';
      return;
    }
    const { experiment, id } = findings.head;
    try {
      const file = await this.#fileOf(format, findings, kind);
      if (file !== undefined) save(file, fileName(experiment.name, id, format));
    } catch (error) {
      state.textContent = `The file was not saved: ${asFailure(error).message}`;
    }
  }

  async #fileOf(format: string, findings: Findings, kind: FigureKind): Promise<Blob | undefined> {
    const { head } = findings;
    if (format === 'html') {
      const { reportHtml } = await import('../../../src/experiments/figures/report-html.js');
      const { name, version } = await import('../../../package.json');
      const date = new Date().toISOString().slice(0, 10);
      const html = reportHtml({ findings, totals: this.#totals!, program: `${name} ${version}`, date });
      return new Blob([html], { type: 'text/html' });
    }
    if (format === 'csv' || format === 'arrow') {
      if (eventKindOf({ type: kind.table }) !== undefined) await this.#identify(head.model);
      const table = await tableFile(format, kind.table, this.#found()!, this.#neurons);
      // Arrow has these facts in its schema.
      return format === 'csv' ? new Blob([csvHeading(head), table], { type: table.type }) : table;
    }
    const figure = this.#shownFigure();
    return figure && figureBlob(format as 'svg' | 'png' | 'pdf', titled(head, figure), lookChosen());
  }
}

/** Size, font and colours of saved figures. */
function lookChosen(): Look {
  const chosen = (name: string) => byId<HTMLSelectElement>(`save-${name}`).value;
  return {
    widthMm: Number(chosen('width')),
    textPt: Number(chosen('text')),
    font: chosen('font') || undefined,
    colours: chosen('colours') || undefined,
  };
}

function kindsOf({ head }: Findings): Choice {
  const values = figuresOf(head.experiment).map(({ name }) => name);
  return { name: 'figure', label: 'Show', values, inFile: values.length };
}

/** Turns a code such as `SYNTHETIC_WIRING` into words. */
function spokenCode(code: string): string {
  const words = code.toLowerCase().replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
