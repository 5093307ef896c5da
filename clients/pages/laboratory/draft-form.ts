/** The form of the laboratory. Whatever changes in it makes a new draft. */
import { DOCUMENT } from '../../../src/experiments/document/document.js';
import { SWEPT_MEMBERS } from '../../../src/experiments/kinds/input-kinds.js';
import { eventKindOf, REPORT_KINDS } from '../../../src/experiments/kinds/report-kinds.js';
import type { DryRun, ResolvedSet } from '../../../src/experiments/run/result.js';
import { byId, element, grouped } from '../dom.js';
import type { Fault } from '../service/client.js';
import {
  type AxisDraft,
  DEFAULT_TOP,
  type Draft,
  type EachAxisDraft,
  EMPTY_DRAFT,
  type InputDraft,
  newInput,
  newReport,
  type ReportDraft,
  type Selector,
  type SetAxisDraft,
} from './draft.js';
import { isList, type Members, pointer } from './json.js';
import { KEY, neuronList } from './neuron-list.js';
import { parameterLabel } from '../../../src/experiments/figures/condition-labels.js';

const GROUPINGS: Readonly<Record<string, string>> = {
  '': 'all together',
  side: 'by side',
  type: 'by type',
  'type,side': 'by type and side',
  super_class: 'by super class',
  class: 'by class',
  sub_class: 'by sub-class',
  neuron: 'each neuron',
};
const REPORT_LABELS = Object.fromEntries(
  Object.entries(REPORT_KINDS).map(([type, { label }]) => [type, label]),
);
const MOST_AXES = DOCUMENT.properties.sweep.maxItems;

export class DraftForm {
  readonly #fields = byId<HTMLFieldSetElement>('draft-fields');
  #draft: Draft = EMPTY_DRAFT;
  #resolved: DryRun['resolved'] = {};

  /** @param onDraft is told of every change that was made in the form */
  constructor(private readonly onDraft: (draft: Draft) => void) {
    this.write(EMPTY_DRAFT);
  }

  get draft(): Draft {
    return this.#draft;
  }

  /** Shows a draft that comes from elsewhere. */
  write(draft: Draft): void {
    this.#draft = draft;
    this.#render();
  }

  allowChanges(allowed: boolean): void {
    this.#fields.disabled = !allowed;
  }

  /** Puts neurons where the search was told to put them. */
  add(place: 'stimulate' | 'silence' | 'read', selector: string): void {
    const draft = this.#draft;
    if (place === 'silence') {
      this.#change({ ...draft, silence: [...draft.silence, selector] });
    } else if (place === 'read') {
      const name = freeName(nameFrom(selector), draft.reports);
      this.#change({ ...draft, reports: [...draft.reports, newReport(name, selector)] });
    } else {
      const last = draft.inputs.at(-1);
      const inputs =
        last === undefined
          ? [newInput(nameFrom(selector), selector)]
          : [...draft.inputs.slice(0, -1), { ...last, neurons: withSelector(last.neurons, selector) }];
      this.#change({ ...draft, inputs });
    }
  }

  /** Shows the number of neurons of each selector, as the service resolved it; nothing while that is not known. */
  showResolved(resolved: DryRun['resolved'] | undefined): void {
    this.#resolved = resolved ?? {};
    for (const [path, key] of this.#resolvedPlaces()) {
      const hint = this.#fields.querySelector(`[data-path="${CSS.escape(path)}"] > .resolved`);
      if (hint !== null) hint.textContent = describeResolved(this.#resolved[key]);
    }
  }

  /**
   * Shows a fault at the control of its place, with suggestions.
   * @returns whether the form has such a control
   */
  showFault(message: string, place: Fault, onSuggestion: (suggestion: string) => void): boolean {
    this.clearFault();
    const target = place.path === undefined ? undefined : this.#controlAt(place.path);
    if (target === undefined) return false;
    const fault = faultElement(message, place, onSuggestion);
    fault.id = 'fault';
    const control = target.closest('li, .control');
    if (control === null) target.append(fault);
    else control.after(fault);
    const field = target.matches('input, select') ? target : target.querySelector('input, select');
    field?.setAttribute('aria-invalid', 'true');
    field?.setAttribute('aria-describedby', 'fault');
    return true;
  }

  focusFault(): void {
    document.getElementById('fault')?.scrollIntoView({ block: 'center' });
    this.#fields.querySelector<HTMLElement>('[aria-invalid]')?.focus({ preventScroll: true });
  }

  clearFault(): void {
    document.getElementById('fault')?.remove();
    this.#fields.querySelectorAll('[aria-invalid]').forEach((control) => {
      control.removeAttribute('aria-invalid');
      control.removeAttribute('aria-describedby');
    });
  }

  /** The control of the place, or of the closest place around it. */
  #controlAt(path: string): HTMLElement | undefined {
    for (let place = path; place !== ''; place = place.slice(0, place.lastIndexOf('/'))) {
      const found = this.#fields.querySelector<HTMLElement>(`[data-path="${CSS.escape(place)}"]`);
      if (found !== null) return found;
    }
    return undefined;
  }

  #change(draft: Draft, redraws = true): void {
    this.#draft = draft;
    if (redraws) this.#render();
    this.onDraft(draft);
  }

  #render(): void {
    const hadFocus = this.#fields.contains(document.activeElement);
    const focused = document.activeElement?.getAttribute(KEY) ?? '';
    const draft = this.#draft;
    const legend = this.#fields.querySelector('legend')!;
    this.#fields.replaceChildren(
      legend,
      this.#inputs(draft),
      this.#silence(draft),
      this.#trials(draft),
      this.#reports(draft),
      this.#sweep(draft),
    );
    this.showResolved(this.#resolved);
    if (hadFocus) this.#focusAgain(focused);
  }

  /** Restores the focus; where its control is gone, the control that adds such items gets it. */
  #focusAgain(key: string): void {
    const withKey = (wanted: string) =>
      this.#fields.querySelector<HTMLElement>(`[${KEY}="${CSS.escape(wanted)}"]`);
    (withKey(key) ?? withKey(key.split(':', 1)[0]!))?.focus({ preventScroll: true });
  }

  #inputs(draft: Draft): HTMLElement {
    const set = (at: number, input: Partial<InputDraft>, redraws = false): void =>
      this.#change(this.#latest('inputs', at, input), redraws);
    const rows = draft.inputs.map((input, at) => {
      const path = pointer('inputs', input.name);
      return this.#row(
        `Input ${input.name}`,
        path,
        'add-input',
        () => this.#change({ ...this.#draft, inputs: without(this.#draft.inputs, at) }),
        [
          this.#text(
            'Name',
            `input-name-${at}`,
            '',
            input.name,
            (name) => this.#change(withInputRenamed(this.#draft, at, name)),
            true,
          ),
          this.#neurons(
            `input ${input.name}`,
            `input-neurons-${at}`,
            `${path}/node_set`,
            input.neurons,
            (neurons) => set(at, { neurons }, true),
          ),
          ...(input.rateHz === '' && input.rest['module'] !== undefined
            ? []
            : [
                this.#number('Rate', 'Hz', `input-rate-${at}`, `${path}/rate_hz`, input.rateHz, (rateHz) =>
                  set(at, { rateHz }),
                ),
              ]),
          this.#number(
            'From',
            'ms',
            `input-delay-${at}`,
            `${path}/delay_ms`,
            input.delayMs,
            (delayMs) => set(at, { delayMs }),
            '0',
          ),
          this.#number(
            'For',
            'ms',
            `input-window-${at}`,
            `${path}/duration_ms`,
            input.windowMs,
            (windowMs) => set(at, { windowMs }),
            'to the end',
          ),
        ],
        input.rest,
      );
    });
    return this.#group('Stimulate', 'inputs', rows, 'Add an input', 'add-input', () =>
      this.#change({
        ...this.#draft,
        inputs: [...this.#draft.inputs, newInput(freeName('input', this.#draft.inputs), [])],
      }),
    );
  }

  #silence(draft: Draft): HTMLElement {
    const list = this.#list('what is silenced', 'silence', '/silence', draft.silence, (silence) =>
      this.#change({ ...this.#draft, silence }),
    );
    return element('fieldset', { class: 'group' }, element('legend', {}, 'Silence'), list);
  }

  #trials({ durationMs, trials, seed }: Draft): HTMLElement {
    const set = (change: Partial<Draft>): void => this.#change({ ...this.#draft, ...change }, false);
    return element(
      'fieldset',
      { class: 'group' },
      element('legend', {}, 'Trials'),
      element(
        'div',
        { class: 'controls' },
        this.#number('Trials', '', 'trials', '/trials', trials, (text) => set({ trials: text })),
        this.#number('Duration', 'ms', 'duration', '/duration_ms', durationMs, (text) =>
          set({ durationMs: text }),
        ),
        this.#number('Seed', '', 'seed', '/seed', seed, (text) => set({ seed: text })),
      ),
    );
  }

  #reports(draft: Draft): HTMLElement {
    const set = (at: number, report: Partial<ReportDraft>, redraws = false): void =>
      this.#change(this.#latest('reports', at, report), redraws);
    const rows = draft.reports.map((report, at) => {
      const path = pointer('reports', report.name);
      const isTable = eventKindOf(report) !== undefined;
      return this.#row(
        `Report ${report.name}`,
        path,
        'add-report',
        () => this.#change({ ...this.#draft, reports: without(this.#draft.reports, at) }),
        [
          this.#text(
            'Name',
            `report-name-${at}`,
            '',
            report.name,
            (name) => set(at, { name: freeName(name, without(this.#draft.reports, at)) }, true),
            true,
          ),
          this.#neurons(
            `report ${report.name}`,
            `report-neurons-${at}`,
            `${path}/node_set`,
            report.neurons,
            (neurons) => set(at, { neurons }, true),
          ),
          this.#choice('What', `report-type-${at}`, `${path}/type`, REPORT_LABELS, report.type, (type) =>
            set(at, { type, ...(eventKindOf({ type }) && { groupBy: '' }) }, true),
          ),
          ...(isTable
            ? []
            : [
                this.#choice(
                  'Groups',
                  `report-groups-${at}`,
                  `${path}/group_by`,
                  GROUPINGS,
                  report.groupBy,
                  (groupBy) => set(at, { groupBy }),
                ),
              ]),
        ],
        report.rest,
      );
    });
    const group = this.#group('Read', 'reports', rows, 'Add a report', 'add-report', () =>
      this.#change({
        ...this.#draft,
        reports: [...this.#draft.reports, newReport(freeName('report', this.#draft.reports), [])],
      }),
    );
    if (rows.length === 0) {
      group
        .querySelector('legend')!
        .after(element('p', { class: 'hint' }, 'Nothing chosen: the channels of the model, by side.'));
    }
    return group;
  }

  #sweep(draft: Draft): HTMLElement {
    const rows = draft.axes.map((axis, at) => {
      const remove = (): void => this.#change({ ...this.#draft, axes: without(this.#draft.axes, at) });
      return axis.kind === 'set'
        ? this.#setAxis(axis, at, draft.inputs, remove)
        : this.#eachAxis(axis, at, draft.inputs, remove);
    });
    const add = (axis: AxisDraft): void =>
      this.#change({ ...this.#draft, axes: [...this.#draft.axes, axis] });
    const first = draft.inputs[0]?.name;
    const buttons = [
      this.#button('Add a dose', 'add-dose', () =>
        add({
          kind: 'set',
          parameter: first === undefined ? 'duration_ms' : `inputs.${first}.rate_hz`,
          values: first === undefined ? '100, 500, 1000' : '10, 50, 100, 150, 200',
        }),
      ),
      this.#button('Add a screen', 'add-screen', () =>
        add({ kind: 'each', neurons: [], top: DEFAULT_TOP, groupBy: 'type', as: 'silence' }),
      ),
    ];
    for (const button of buttons) button.disabled = draft.axes.length >= MOST_AXES;
    return element(
      'fieldset',
      { class: 'group', 'data-path': '/sweep' },
      element('legend', {}, 'Sweep'),
      element(
        'p',
        { class: 'hint' },
        'A dose gives a parameter several values; a screen silences or stimulates groups of neurons in turn.',
      ),
      ...rows,
      element('div', { class: 'actions' }, ...buttons),
    );
  }

  #setAxis(axis: SetAxisDraft, at: number, inputs: readonly InputDraft[], remove: () => void): HTMLElement {
    const path = pointer('sweep', at);
    const set = (change: Partial<SetAxisDraft>, redraws = false): void =>
      this.#change({ ...this.#draft, axes: replaced<AxisDraft>(this.#draft.axes, at, change) }, redraws);
    const parameters = [
      ...inputs.flatMap(({ name }) => Object.keys(SWEPT_MEMBERS).map((member) => `inputs.${name}.${member}`)),
      'duration_ms',
      'seed',
    ];
    const labels = Object.fromEntries(parameters.map((parameter) => [parameter, parameterLabel(parameter)]));
    return this.#row(`Dose ${at + 1}`, path, 'add-dose', remove, [
      this.#choice('Parameter', `axis-set-${at}`, `${path}/set`, labels, axis.parameter, (parameter) =>
        set({ parameter }),
      ),
      this.#text(
        'Values',
        `axis-values-${at}`,
        `${path}/values`,
        axis.values,
        (values) => set({ values }),
        false,
        '10, 50, 100 or from:to:step',
      ),
    ]);
  }

  #eachAxis(axis: EachAxisDraft, at: number, inputs: readonly InputDraft[], remove: () => void): HTMLElement {
    const path = pointer('sweep', at);
    const set = (change: Partial<EachAxisDraft>, redraws = false): void =>
      this.#change({ ...this.#draft, axes: replaced<AxisDraft>(this.#draft.axes, at, change) }, redraws);
    const uses = Object.fromEntries([
      ['silence', 'silence them'],
      ...inputs.map(({ name }) => [`inputs.${name}`, `stimulate them as ${name}`]),
    ]) as Record<string, string>;
    const ofResponders = axis.top !== undefined;
    return this.#row(`Screen ${at + 1}`, path, 'add-screen', remove, [
      this.#choice(
        'Neurons',
        `axis-of-${at}`,
        `${path}/each/responders_of`,
        { responders: 'those that respond without any', selected: 'these' },
        ofResponders ? 'responders' : 'selected',
        (of) => set({ top: of === 'responders' ? DEFAULT_TOP : undefined, neurons: [] }, true),
      ),
      ofResponders
        ? this.#number('At most', 'groups', `axis-top-${at}`, `${path}/each/top`, axis.top!, (top) =>
            set({ top }),
          )
        : this.#neurons(`screen ${at + 1}`, `axis-neurons-${at}`, `${path}/each`, axis.neurons, (neurons) =>
            set({ neurons }, true),
          ),
      this.#choice('Groups', `axis-groups-${at}`, `${path}/group_by`, GROUPINGS, axis.groupBy, (groupBy) =>
        set({ groupBy }),
      ),
      this.#choice('In turn', `axis-as-${at}`, `${path}/as`, uses, axis.as, (as) => set({ as })),
    ]);
  }

  /** A draft whose row at a place is changed; earlier changes of the same row are kept. */
  #latest<K extends 'inputs' | 'reports'>(list: K, at: number, change: Partial<Draft[K][number]>): Draft {
    return { ...this.#draft, [list]: replaced(this.#draft[list] as readonly object[], at, change) };
  }

  #group(
    title: string,
    path: string,
    rows: readonly HTMLElement[],
    addText: string,
    addKey: string,
    onAdd: () => void,
  ): HTMLElement {
    return element(
      'fieldset',
      { class: 'group', 'data-path': pointer(path) },
      element('legend', {}, title),
      ...rows,
      element('div', { class: 'actions' }, this.#button(addText, addKey, onAdd)),
    );
  }

  #row(
    label: string,
    path: string,
    addKey: string,
    onRemove: () => void,
    controls: readonly HTMLElement[],
    rest: Members = {},
  ): HTMLElement {
    const remove = element(
      'button',
      { type: 'button', class: 'quiet', 'aria-label': `Remove ${label}`, [KEY]: `${addKey}:remove` },
      '✕',
    );
    remove.addEventListener('click', onRemove);
    const row = element(
      'div',
      { class: 'row', role: 'group', 'aria-label': label, 'data-path': path },
      element('div', { class: 'controls' }, ...controls),
      remove,
    );
    const others = Object.entries(rest).map(([name, value]) => `${name} ${JSON.stringify(value)}`);
    if (others.length > 0)
      row.append(element('p', { class: 'hint' }, `In the document: ${others.join(', ')}`));
    return row;
  }

  #text(
    label: string,
    key: string,
    path: string,
    value: string,
    onInput: (value: string) => void,
    isName: boolean,
    placeholder = '',
  ): HTMLElement {
    const input = element('input', {
      type: 'text',
      value,
      placeholder,
      autocomplete: 'off',
      autocapitalize: 'off',
      spellcheck: 'false',
      [KEY]: key,
      'data-path': path,
    });
    // A name that is half typed would be one of the document.
    input.addEventListener(isName ? 'change' : 'input', () => onInput(input.value));
    return element(
      'label',
      { class: isName ? 'control' : 'control wide' },
      element('span', {}, label),
      input,
    );
  }

  #number(
    label: string,
    unit: string,
    key: string,
    path: string,
    value: string,
    onInput: (value: string) => void,
    placeholder = '',
  ): HTMLElement {
    const input = element('input', {
      type: 'text',
      inputmode: 'decimal',
      value,
      placeholder,
      autocomplete: 'off',
      [KEY]: key,
      'data-path': path,
    });
    input.addEventListener('input', () => onInput(input.value));
    const text = unit === '' ? label : `${label} (${unit})`;
    return element('label', { class: 'control number' }, element('span', {}, text), input);
  }

  #choice(
    label: string,
    key: string,
    path: string,
    labels: Readonly<Record<string, string>>,
    value: string,
    onChange: (value: string) => void,
  ): HTMLElement {
    // A document may hold a value that the form does not offer.
    const offered = value in labels ? labels : { ...labels, [value]: value };
    const options = Object.entries(offered).map(([option, text]) =>
      element('option', { value: option, selected: option === value }, text),
    );
    const select = element('select', { [KEY]: key, 'data-path': path }, ...options);
    select.addEventListener('change', () => onChange(select.value));
    return element('label', { class: 'control' }, element('span', {}, label), select);
  }

  /** One selector stands alone, several are a list. */
  #neurons(
    label: string,
    key: string,
    path: string,
    selector: Selector,
    onChange: (selector: Selector) => void,
  ): HTMLElement {
    return this.#list(label, key, path, selector, (selectors) =>
      onChange(selectors.length === 1 ? selectors[0]! : selectors),
    );
  }

  #list(
    label: string,
    key: string,
    path: string,
    selector: Selector,
    onChange: (selectors: readonly (string | Members)[]) => void,
  ): HTMLElement {
    return neuronList({ label, selector, path, key, onChange });
  }

  #button(text: string, key: string, onClick: () => void): HTMLButtonElement {
    const button = element('button', { type: 'button', class: 'quiet', [KEY]: key }, text);
    button.addEventListener('click', onClick);
    return button;
  }

  /** Places where the form shows the number of neurons of a selector, each with the selector's name in the answer. */
  #resolvedPlaces(): [string, string][] {
    const { inputs, reports, axes } = this.#draft;
    return [
      ...inputs.map(({ name }): [string, string] => [pointer('inputs', name, 'node_set'), `inputs.${name}`]),
      ...reports.map(({ name }): [string, string] => [
        pointer('reports', name, 'node_set'),
        `reports.${name}`,
      ]),
      ...axes.map((_, at): [string, string] => [pointer('sweep', at, 'each'), `sweep.${at}`]),
      ['/silence', 'silence'],
    ];
  }
}

/** A message at a place, with a button for each name that may have been meant. */
export function faultElement(
  message: string,
  { suggestions = [] }: Fault,
  onSuggestion: (suggestion: string) => void,
): HTMLElement {
  const fault = element('div', { class: 'fault', role: 'alert' }, element('p', {}, message));
  if (suggestions.length === 0) return fault;
  const buttons = suggestions.map((suggestion) => {
    const button = element('button', { type: 'button', class: 'quiet' }, suggestion);
    button.addEventListener('click', () => onSuggestion(suggestion));
    return button;
  });
  fault.append(element('p', { class: 'suggestions' }, 'Did you mean ', ...buttons));
  return fault;
}

function describeResolved(resolved: ResolvedSet | undefined): string {
  if (resolved === undefined) return '';
  const { neurons, sides, types, missing } = resolved;
  const bySide = Object.entries(sides).map(
    ([side, count]) => `${grouped(count)} ${side || 'of unknown side'}`,
  );
  const names = Object.keys(types).length;
  return (
    `${grouped(neurons)} ${neurons === 1 ? 'neuron' : 'neurons'}: ${bySide.join(', ')}` +
    (names > 1 ? `; ${grouped(names)} types` : '') +
    (missing.length > 0 ? `; ${grouped(missing.length)} missing` : '')
  );
}

function nameFrom(selector: string): string {
  return (
    selector
      .replace(/^@/, '')
      .replace(/[^A-Za-z0-9_-]+/g, '_')
      .slice(0, 64) || 'neurons'
  );
}

function freeName(wanted: string, rows: readonly { readonly name: string }[]): string {
  const taken = new Set(rows.map(({ name }) => name));
  let name = wanted;
  for (let at = 2; taken.has(name); at++) name = `${wanted}_${at}`;
  return name;
}

function withSelector(before: Selector, selector: string): Selector {
  const all = [...(isList(before) ? before : [before]), selector];
  return all.length === 1 ? selector : all;
}

/** Renames an input, also where a sweep names it. */
function withInputRenamed(draft: Draft, at: number, wanted: string): Draft {
  const before = draft.inputs[at]!.name;
  const name = freeName(wanted, without(draft.inputs, at));
  const renamed = (text: string): string =>
    text === `inputs.${before}` || text.startsWith(`inputs.${before}.`)
      ? `inputs.${name}${text.slice(`inputs.${before}`.length)}`
      : text;
  return {
    ...draft,
    inputs: replaced(draft.inputs, at, { name }),
    axes: draft.axes.map((axis) =>
      axis.kind === 'set'
        ? { ...axis, parameter: renamed(axis.parameter) }
        : { ...axis, as: renamed(axis.as) },
    ),
  };
}

function without<T>(list: readonly T[], at: number): T[] {
  return list.filter((_, index) => index !== at);
}

function replaced<T extends object>(list: readonly T[], at: number, change: Partial<T>): T[] {
  return list.map((item, index) => (index === at ? { ...item, ...change } : item));
}
