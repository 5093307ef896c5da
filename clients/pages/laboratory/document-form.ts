/**
 * The form of the laboratory. It builds controls for the members of a document from the schemas of its kinds. The
 * document is its only state: each control changes the value at its path. A value without a control is shown as text.
 */
import { h, render } from 'preact';
import { USUAL_CONSTANTS } from '../../../src/experiments/kinds/edits/constants.js';
import { DOCUMENT } from '../../../src/experiments/document/document.js';
import { sweptGroups, sweptNumbers } from '../../../src/experiments/kinds/edit-kinds.js';
import { INPUT_KINDS, sweptMembersOf } from '../../../src/experiments/kinds/input-kinds.js';
import { REPORT_KINDS } from '../../../src/experiments/kinds/report-kinds.js';
import type { DryRun, ResolvedSet } from '../../../src/experiments/document/result.js';
import { type Controls, formsOf } from '../../../src/experiments/kinds/controls.js';
import { parameterLabel } from '../../../src/experiments/figures/condition-labels.js';
import { nameOfRef, type Schema } from '../../../src/engine/schema/json-schema.js';
import { own } from '../../../src/engine/own.js';
import { byId, counted, grouped, sidesInWords } from '../dom.js';
import { Faults } from './faults.js';
import {
  actions,
  button,
  choiceField,
  type Control,
  courseFigure,
  grid,
  group,
  neuronList,
  note,
  row,
  textField,
  type TextOptions,
} from './fields.js';
import {
  ENDS,
  freeName,
  isRows,
  kindOf,
  listAt,
  membersAt,
  nameFrom,
  newInput,
  newReport,
  pick,
  placeholderOf,
  renamed,
  selectorAt,
  stepOf,
  without,
  withSchema,
  writingOf,
} from './form-values.js';
import { isList, isMembers, type Json, keysOf, type Members, pointer, valueAt, withValueAt } from './json.js';
import { withSetRenamed } from './selectors.js';
import { axisText, axisValues, COURSE, NUMBER } from './values.js';
import { GROUPINGS, labelOf, REPORT_LABELS, sentenceOf, valueText } from './words.js';

const MEMBERS = DOCUMENT.properties as Readonly<Record<string, Schema>>;
const MAX_AXES = DOCUMENT.properties.sweep.maxItems;
/** Longest list of neurons with rates that has controls; a longer list is shown as text. */
const MAX_ROWS = 32;
/** A larger range has no slider. */
const MAX_SLIDER = 1000;
/** Controls may move under the pointer when the form is drawn, so the way of the pointer tells a press from a drag. */
const CLICK_PIXELS = 5;
const SELECTED = ['node_set', ...ENDS];

/** A change of the document: `dragged` while a slider moves, `settled` when it is released. */
export type Change = 'typed' | 'dragged' | 'settled' | 'chosen';

/** Members whose own members have names of the user's choice. */
type NamedRows = 'inputs' | 'reports' | 'connection_overrides' | 'node_sets';

export class DocumentForm {
  readonly #fields = byId<HTMLFieldSetElement>('draft-fields');
  readonly faults = new Faults(this.#fields);
  #document: Members = {};
  #resolved: DryRun['resolved'] = {};
  /** Tells of each section that the user has opened or closed, by title, whether it is open. */
  readonly #open = new Map<string, boolean>();
  /** The constants of the model, which differ from the usual ones in the gain of a synapse. */
  #constants: Readonly<Record<string, number>> = USUAL_CONSTANTS;
  /** The field whose text has changed since it got the focus. */
  #typed: HTMLInputElement | undefined;

  /**
   * @param onChange called for every change in the form; it must show the document
   * @param onLeft called when a changed field loses the focus
   */
  constructor(
    private readonly onChange: (document: Members, change: Change) => void,
    onLeft: () => void,
  ) {
    // The field's own listener comes later and draws the form.
    const type = ({ target }: Event): unknown => (this.#typed = target as HTMLInputElement);
    this.#fields.addEventListener('input', type, { capture: true });
    for (const event of ['change', 'focusout']) {
      this.#fields.addEventListener(event, ({ target }) => {
        if (target !== this.#typed) return;
        this.#typed = undefined;
        onLeft();
        this.#render();
      });
    }
    this.#keepPresses();
  }

  /** A press that leaves a field may draw the form, which moves the pressed button away before the release. */
  #keepPresses(): void {
    let release: ((event: MouseEvent) => void) | undefined;
    this.#fields.addEventListener('mousedown', ({ target, button, clientX, clientY }) => {
      const pressed = (target as Element).closest<HTMLElement>('button, label, summary');
      release = undefined;
      if (pressed === null || button !== 0) return;
      const { left, top } = pressed.getBoundingClientRect();
      release = ({ target: under, clientX: x, clientY: y }) => {
        const now = pressed.getBoundingClientRect();
        const hasMoved = pressed.isConnected && (now.left !== left || now.top !== top);
        const isPress = Math.hypot(x - clientX, y - clientY) <= CLICK_PIXELS;
        if (hasMoved && isPress && !pressed.contains(under as Node)) pressed.click();
      };
    });
    addEventListener('mouseup', (event) => {
      release?.(event);
      release = undefined;
    });
  }

  get document(): Members {
    return this.#document;
  }

  /** True while the user types. An incomplete text is not yet an error. */
  get isTyping(): boolean {
    return this.#typed !== undefined && this.#typed === document.activeElement;
  }

  /** Shows a document from outside the form. */
  write(shown: Members): void {
    // A name that is half typed is of the document before.
    if (this.#typed?.list != null) this.#typed.value = '';
    this.#typed = undefined;
    this.faults.clear();
    for (const [title, isOpen] of this.#open) if (!isOpen) this.#open.delete(title);
    this.rename(shown);
  }

  /** Takes the form's own document, possibly with another name. */
  rename(shown: Members): void {
    this.#document = shown;
    this.#render();
  }

  allowChanges(allowed: boolean): void {
    this.#fields.disabled = !allowed;
  }

  /** Adds neurons from the search: to the silenced ones, or as a new input or report. */
  add(place: 'stimulate' | 'silence' | 'read', selector: string): void {
    if (place === 'silence') this.#append('silence', selector);
    else if (place === 'read') this.#addTo('reports', nameFrom(selector), newReport(selector));
    else this.#addTo('inputs', nameFrom(selector), newInput(selector));
  }

  /** @param synapseMv gain of a synapse of the served model */
  setGain(synapseMv: number): void {
    this.#constants = { ...USUAL_CONSTANTS, synapse_mv: synapseMv };
    this.#render();
  }

  /** Shows the number of neurons of each selector, if the service has resolved it. */
  showResolved(resolved: DryRun['resolved'] | undefined): void {
    this.#resolved = resolved ?? {};
    this.#render();
  }

  #change(changed: Json, change: Change = 'chosen'): void {
    // Members keep the order of the complete document, whatever the order of changes.
    const inOrder = [...Object.keys(MEMBERS), ...Object.keys(changed as Members)];
    const entries = Object.entries(changed as Members);
    entries.sort(([a], [b]) => inOrder.indexOf(a) - inOrder.indexOf(b));
    if (change === 'chosen') {
      this.#typed = undefined;
      this.faults.clear();
    }
    this.#document = Object.fromEntries(entries);
    this.onChange(this.#document, change);
  }

  #put(path: string, value: Json | undefined, change: Change = 'chosen'): void {
    this.#change(withValueAt(this.#document, path, value), change);
  }

  #append(member: 'silence' | 'sweep', item: Json): void {
    this.#put(pointer(member), [...listAt(this.#document, member), item]);
  }

  #addTo(member: NamedRows, name: string, value: Json): void {
    this.#put(pointer(member, freeName(name, membersAt(this.#document, member))), value);
  }

  /**
   * Draws the form. A control that is moved keeps the focus. If it goes, its field or the one that adds such items gets
   * it.
   */
  #render(): void {
    const focused = document.activeElement!;
    const around: HTMLElement[] = [];
    for (let each = focused.parentElement; each !== null; each = each.parentElement) around.push(each);
    render(this.#content(), this.#fields);
    if (document.activeElement === focused) return;
    if (focused.isConnected) return (focused as HTMLElement).focus({ preventScroll: true });
    const rest = around.find(({ isConnected }) => isConnected);
    const next = ['.actions > :enabled', '.add > input', 'label > input'].map((each) => `:scope > ${each}`);
    rest?.querySelector<HTMLElement>(next.join())?.focus({ preventScroll: true });
  }

  #content(): Control[] {
    const { name, trials } = MEMBERS as { readonly name: Schema; readonly trials: Schema };
    return [
      ...this.#controls('', { name }),
      this.#inputs(),
      this.#silence(),
      this.#part(
        'Network',
        ['constants', 'connection_overrides', 'wiring'],
        [this.#object('Constants', 'constants'), this.#overrides(), this.#object('Wiring', 'wiring')],
      ),
      group(
        'Trials',
        '',
        sentenceOf(trials),
        grid(this.#controls('', pick(MEMBERS, ['trials', 'duration_ms', 'seed']))),
      ),
      this.#reports(),
      this.#sweep(),
      this.#controlNetworks(),
      this.#part(
        'Names and network',
        ['node_sets', 'network', 'on_missing'],
        [this.#nodeSets(), grid(this.#controls('', pick(MEMBERS, ['network', 'on_missing'])))],
      ),
      ...this.#others('', this.#document, MEMBERS),
    ];
  }

  #inputs(): Control {
    const kinds = Object.fromEntries(Object.keys(INPUT_KINDS).map((name) => [name, valueText(name)]));
    const rows = this.#rowsOf('inputs', 'Input', (path, input) => {
      const kind = kindOf(input);
      const chosen =
        Object.entries(INPUT_KINDS).find(([, each]) => each === kind)?.[0] ?? String(input['module']);
      return this.#ofKind('module', path, input, kinds, chosen, kind?.schema, (name) =>
        withSchema(input, INPUT_KINDS[name as keyof typeof INPUT_KINDS].schema),
      );
    });
    const add = button('Add an input', () => this.#addTo('inputs', 'input', newInput([])));
    return group('Stimulate', '/inputs', '', rows, actions(add));
  }

  /**
   * Controls of an input or a report: its neurons, its kind, then the members of that kind.
   * @param kindMember names the kind
   * @param schema of the kind; undefined for an unknown one
   * @param toKind converts the input or report to another kind
   */
  #ofKind(
    kindMember: 'module' | 'type',
    path: string,
    value: Members,
    kinds: Readonly<Record<string, string>>,
    chosen: string,
    schema: Schema | undefined,
    toKind: (name: string) => Json,
  ): Control[] {
    const properties = schema?.properties ?? {};
    const label = labelOf(keysOf(path)[0]!, kindMember);
    return [
      ...this.#controls(path, pick(properties, SELECTED)),
      choiceField(label, `${path}/${kindMember}`, kinds, chosen, (name) => this.#put(path, toKind(name))),
      ...this.#controls(path, without(properties, [...SELECTED, kindMember])),
      ...this.#others(path, value, { ...properties, [kindMember]: {} }),
    ];
  }

  /** One list for neurons that are silenced throughout, and one row for each item with a window. */
  #silence(): Control {
    const items = listAt(this.#document, 'silence');
    const isTimed = (item: Json) => isMembers(item) && 'node_set' in item;
    const timedSchema = MEMBERS['silence']!.items!.anyOf![0]!.properties!;
    const rows = items.flatMap((item, at) => {
      if (!isTimed(item)) return [];
      const place = pointer('silence', at);
      const remove = () => this.#put(place, undefined);
      return [row(`Timed silence ${at + 1}`, place, remove, this.#controls(place, timedSchema))];
    });
    const places = [...items.keys()].filter((at) => !isTimed(items[at]!));
    const list = neuronList({
      label: 'what is silenced',
      selector: places.map((at) => items[at]!) as Members[],
      path: '/silence',
      pathOf: (at) => pointer('silence', places[at]!),
      found: this.#found('silence'),
      onChange: (selectors) => {
        const changed = [...selectors, ...items.filter(isTimed)];
        this.#put('/silence', changed.length > 0 ? changed : undefined);
      },
    });
    const add = button('Add a timed silence', () => this.#append('silence', { node_set: [], start_ms: 0 }));
    return group('Silence', '', '', list, rows, actions(add));
  }

  #overrides(): Control {
    const { additionalProperties, description } = MEMBERS['connection_overrides']!;
    const schema = (additionalProperties as Schema).properties!;
    const rows = this.#rowsOf('connection_overrides', 'Override', (path, value) => [
      ...this.#controls(path, schema),
      ...this.#others(path, value, schema),
    ]);
    const add = button('Add an override', () =>
      this.#addTo('connection_overrides', 'override', { source: [], target: [], weight: 0 }),
    );
    return group('Connections', '/connection_overrides', description!, rows, actions(add));
  }

  #object(title: string, member: string): Control {
    const { properties = {}, description = '' } = MEMBERS[member]!;
    const controls = grid(this.#controls(`/${member}`, properties));
    const others = this.#others(`/${member}`, membersAt(this.#document, member), properties);
    return group(title, `/${member}`, description.replace(/\. .*/s, '.'), controls, others);
  }

  #reports(): Control {
    const schemaOf = (type: string) => REPORT_KINDS[type as keyof typeof REPORT_KINDS]?.schema;
    const rows = this.#rowsOf('reports', 'Report', (path, report) => {
      const type = String(report['type'] ?? 'rate');
      return this.#ofKind('type', path, report, REPORT_LABELS, type, schemaOf(type), (name) =>
        withSchema(report, schemaOf(name), { type: name }),
      );
    });
    const hint = rows.length === 0 ? 'Nothing chosen: the channels of the model, by side.' : '';
    const add = button('Add a report', () => this.#addTo('reports', 'report', newReport([])));
    return group('Read', '/reports', hint, rows, actions(add));
  }

  #nodeSets(): Control {
    const rows = this.#rowsOf('node_sets', 'Set', (path, _, name) => [
      this.#neurons(`set ${name}`, path, name),
    ]);
    const add = button('Add a set', () => this.#addTo('node_sets', 'set', []));
    return group('Sets', '/node_sets', MEMBERS['node_sets']!.description!, rows, actions(add));
  }

  #sweep(): Control {
    const axes = listAt(this.#document, 'sweep');
    const [input] = Object.keys(membersAt(this.#document, 'inputs'));
    const rows = axes.map((axis, at) => {
      const path = pointer('sweep', at);
      const isDose = isMembers(axis) && !('each' in axis);
      const title = `${isDose ? 'Dose' : 'Screen'} ${at + 1}`;
      const controls = !isMembers(axis)
        ? note({ '': axis })
        : isDose
          ? this.#dose(axis, path)
          : this.#screen(axis, path, title);
      return row(title, path, () => this.#put(path, undefined), controls);
    });
    const dose =
      input === undefined
        ? { set: 'duration_ms', values: [100, 500, 1000] }
        : { set: `inputs.${input}.rate_hz`, values: [10, 50, 100, 150, 200] };
    const screen = { each: { responders_of: 'baseline' }, group_by: ['type'], as: 'silence' };
    const disabled = axes.length >= MAX_AXES;
    const buttons = [
      button('Add a dose', () => this.#append('sweep', dose), { disabled }),
      button('Add a screen', () => this.#append('sweep', screen), { disabled }),
    ];
    const hint =
      'A dose gives a parameter several values; a screen silences or stimulates groups of neurons in turn.';
    return group('Sweep', '/sweep', hint, rows, actions(...buttons));
  }

  #dose(axis: Members, path: string): Control[] {
    const inputs = Object.entries(membersAt(this.#document, 'inputs')).flatMap(([name, input]) => {
      const kind = isMembers(input) ? kindOf(input) : undefined;
      return Object.keys(kind === undefined ? {} : sweptMembersOf(kind)).map(
        (member) => `inputs.${name}.${member}`,
      );
    });
    const edits = Object.keys(sweptNumbers(this.#document));
    const parameters = [...inputs, 'duration_ms', 'seed', ...edits];
    const labels = Object.fromEntries(parameters.map((each) => [each, parameterLabel(each)]));
    const text = axisText(axis);
    const { set = '', ...rest } = axis;
    const write = (values: string) => this.#put(path, { set, ...axisValues(values) }, 'typed');
    const onInput = { onInput: write };
    return [
      choiceField('Parameter', `${path}/set`, labels, String(set), (chosen) =>
        this.#put(`${path}/set`, chosen),
      ),
      text === undefined
        ? note(rest)
        : this.#text('Values', `${path}/values`, text, '10, 50, 100 or from:to:step', onInput),
      ...this.#others(path, axis, { set: {}, values: {}, from: {}, to: {}, step: {} }),
    ];
  }

  #screen(axis: Members, path: string, title: string): Control[] {
    const isOfResponders = isMembers(axis['each']) && 'responders_of' in axis['each'];
    const inputs = Object.keys(membersAt(this.#document, 'inputs')).map((name) => [
      `inputs.${name}`,
      `stimulate them as ${name}`,
    ]);
    const edits = sweptGroups(this.#document).map((name) => [
      name,
      name === 'silence' ? 'silence them' : `take them as ${name.replace('connection_overrides.', '')}`,
    ]);
    const uses = Object.fromEntries([...edits, ...inputs]) as Readonly<Record<string, string>>;
    const top = NUMBER.textOf(valueAt(axis, '/each/top') ?? '') ?? '';
    return [
      choiceField(
        'Neurons',
        `${path}/each/responders_of`,
        { responders: 'those that respond without any', selected: 'these' },
        isOfResponders ? 'responders' : 'selected',
        (of) => this.#put(`${path}/each`, of === 'responders' ? { responders_of: 'baseline' } : []),
      ),
      isOfResponders
        ? this.#text('At most (groups)', `${path}/each/top`, top, '200', {
            onInput: (typed) => this.#put(`${path}/each/top`, NUMBER.valueOf(typed), 'typed'),
          })
        : this.#neurons(title.toLowerCase(), `${path}/each`, path.slice(1).replace('/', '.')),
      this.#groupings(`${path}/group_by`, 'neuron', axis['group_by']),
      choiceField('In turn', `${path}/as`, uses, String(axis['as'] ?? ''), (use) =>
        this.#put(`${path}/as`, use),
      ),
      ...this.#others(path, axis, { each: {}, group_by: {}, as: {} }),
    ];
  }

  #controlNetworks(): Control {
    const { properties, description } = DOCUMENT.properties.controls;
    const controls = membersAt(this.#document, 'controls');
    const has = Object.keys(controls).length > 0;
    const [form = 'shuffle'] = formsOf(controls as unknown as Controls);
    // Matched controls replace the groups of a screen.
    const screen = listAt(this.#document, 'sweep').find((axis) => isMembers(axis) && 'each' in axis);
    const screened = screen === undefined ? undefined : String(valueAt(screen, '/as')).split('.', 1)[0]!;
    const shuffles = properties.shuffle['enum'] as string[];
    const labels = {
      '': 'none',
      ...Object.fromEntries(shuffles.map((name) => [name, `shuffled ${valueText(name)}`])),
      resampled: 'resampled counts',
      sampled: 'sampled signs',
      ...(screened !== undefined && { matched: 'other neurons' }),
    };
    const forms = new Map([
      ['resampled', 'counts'],
      ['sampled', 'signs'],
      ['matched', screened!],
    ]);
    const count = controls['count'] ?? properties.count.default;
    const choose = (chosen: string): void =>
      this.#put('/controls', chosen === '' ? undefined : { [forms.get(chosen) ?? 'shuffle']: chosen, count });
    const shown = String(controls[form] ?? '');
    const compared = choiceField('Compare with', `/controls/${form}`, labels, shown, choose, '', 'form');
    const counted = has && this.#controls('/controls', { count: properties.count });
    const hint = sentenceOf(form === 'shuffle' ? { description } : properties[form]);
    return group('Controls', '/controls', hint, grid(compared, counted));
  }

  /** A control for each member of a schema; members without a control show their value as text. */
  #controls(path: string, schemas: Readonly<Record<string, Schema>>): Control[] {
    const members = (valueAt(this.#document, path) ?? {}) as Members;
    return Object.entries(schemas).flatMap(([name, schema]) =>
      this.#control(name, schema, path + pointer(name), own(members, name)),
    );
  }

  #control(name: string, schema: Schema, path: string, value: Json | undefined): Control[] {
    const [section, ...inner] = keysOf(path);
    const label = labelOf(inner.length === 0 ? '' : section!, name);
    if (nameOfRef(schema) === 'Selector') {
      const { what, resolved } = selectorAt(path);
      return [this.#neurons(what, path, resolved, ENDS.includes(name) ? label : '')];
    }
    if (name === 'group_by') return schema.maxItems === 0 ? [] : [this.#groupings(path, '', value)];
    const sentence = sentenceOf(schema);
    if (schema.enum !== undefined) {
      const offered = Object.fromEntries(schema.enum.map((each) => [String(each), valueText(String(each))]));
      const labels = schema['default'] === undefined ? { '': 'none', ...offered } : offered;
      const shown = String(value ?? schema['default'] ?? '');
      const choose = (chosen: string): void =>
        this.#put(path, chosen === '' || chosen === schema['default'] ? undefined : chosen);
      return [choiceField(label, path, labels, shown, choose, sentence)];
    }
    if (isRows(schema)) return this.#listedRows(name, schema, path, value);
    const writing = writingOf(schema);
    const text = value === undefined ? '' : writing?.textOf(value);
    if (writing === undefined || text === undefined) return [];
    const usual = this.#usualOf(section!, name);
    const figure = writing === COURSE && isMembers(value) && courseFigure(value);
    const hasSlider = writing === NUMBER || (writing === COURSE && !isMembers(value) && !text.includes(':'));
    const slider = hasSlider && this.#slider(label, schema, path, text, usual);
    const reset = slider && usual !== undefined && this.#reset(label, path, usual);
    const placeholder = usual === undefined ? placeholderOf(schema, writing) : String(usual);
    const onInput = (typed: string): void => this.#put(path, writing.valueOf(typed), 'typed');
    const look = writing === NUMBER ? 'number' : writing === COURSE ? 'course' : 'wide';
    return [
      this.#text(label, path, text, placeholder, { look, sentence, onInput, more: [figure, slider, reset] }),
    ];
  }

  /** Rows of a list, such as a pattern of rates. */
  #listedRows(name: string, schema: Schema, path: string, value: Json | undefined): Control[] {
    const rows = isList(value) ? value : [];
    if (rows.length > MAX_ROWS || !rows.every(isMembers)) return [];
    const shown = rows.map((_, at) => {
      const place = path + pointer(at);
      const controls = this.#controls(place, schema.items!.properties!);
      return row(`Row ${at + 1} of ${name}`, place, () => this.#put(place, undefined), controls);
    });
    const append = button('Add neurons with a rate', () =>
      this.#put(path + pointer(rows.length), { node_set: [], rate_hz: 100 }),
    );
    return [...shown, actions(append)];
  }

  /** Members at a path that have no control. */
  #others(path: string, members: Members, schemas: Readonly<Record<string, Schema>>): Control[] {
    const others = Object.entries(members).filter(([name, value]) => {
      const schema = own(schemas, name);
      if (schema === undefined) return true;
      if (Object.keys(schema).length === 0 || name === 'group_by' || nameOfRef(schema) !== undefined)
        return false;
      if (schema.enum !== undefined || schema['const'] !== undefined) return false;
      if (isRows(schema)) return !isList(value) || value.length > MAX_ROWS || !value.every(isMembers);
      const writing = writingOf(schema);
      if (path === '' && writing === undefined) return !isList(value) && !isMembers(value);
      return writing?.textOf(value) === undefined;
    });
    return others.length === 0 ? [] : [note(Object.fromEntries(others))];
  }

  /** The rows of a member whose own members have names. */
  #rowsOf(
    member: NamedRows,
    title: string,
    controlsOf: (path: string, value: Members, name: string) => readonly Control[],
  ): Control[] {
    const all = membersAt(this.#document, member);
    return Object.entries(all).map(([name, value]) => {
      const path = pointer(member, name);
      // Wait for the complete name, because each change renames the member.
      const rename = (given: string): void => {
        const free = freeName(given, without(all, [name]));
        this.#change(
          member === 'node_sets'
            ? withSetRenamed(this.#document, name, free)
            : renamed(this.#document, member, name, free),
        );
      };
      const controls =
        isMembers(value) || member === 'node_sets'
          ? controlsOf(path, isMembers(value) ? value : {}, name)
          : note({ [name]: value });
      return row(
        `${title} ${name}`,
        path,
        () => this.#put(path, undefined),
        this.#text('Name', `${path}/name`, name, '', { look: 'name', onChange: rename }),
        controls,
      );
    });
  }

  /** A section that is closed until it has content, unless the user opens or closes it. */
  #part(title: string, members: readonly string[], groups: readonly Control[]): Control {
    const isUsed = members.some((member) => member in this.#document);
    const onToggle = ({ currentTarget }: { readonly currentTarget: HTMLDetailsElement }): void => {
      this.#open.set(title, currentTarget.open);
      // Preact changes `open` only if it differs from the last drawing.
      this.#render();
    };
    const open = this.#open.get(title) ?? isUsed;
    return h('details', { class: 'part', open, onToggle }, h('summary', null, title), groups);
  }

  /** A field of text. While the user types in it, it keeps that text, which may be another form of the value. */
  #text(label: string, path: string, value: string, placeholder: string, options: TextOptions): Control {
    const shown = this.#typed?.name === path ? this.#typed.value : value;
    return textField(label, path, shown, placeholder, options);
  }

  /** The number in force if the document leaves a member out; undefined if the schema says it. */
  #usualOf(section: string, member: string): number | undefined {
    if (section === 'constants') return own(this.#constants, member);
    if (section === 'wiring') return member === 'jitter' ? 0 : undefined;
    return section === 'inputs' && member === 'scale' ? 1 : undefined;
  }

  /** A slider for the same number as a field. Times have none, because most of their range is useless. */
  #slider(
    label: string,
    schema: Schema,
    path: string,
    text: string,
    usual = Number(schema['default'] ?? schema.minimum),
  ): Control | undefined {
    const { minimum, maximum } = schema.anyOf?.[0] ?? schema;
    if (minimum === undefined || maximum === undefined || / \(ms\)$/.test(label)) return undefined;
    if (maximum - minimum > MAX_SLIDER || path.split('/').length < 3 || path.startsWith('/controls'))
      return undefined;
    const start = Number.isNaN(usual) ? minimum : usual;
    const value = text === '' ? start : Number(text);
    const step = schema.type === 'integer' ? 1 : stepOf(maximum - minimum);
    const moved =
      (change: Change) =>
      ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => {
        const steps = Math.round((Number(currentTarget.value) - start) / step);
        const stepped = Number((start + steps * step).toPrecision(9));
        this.#put(path, Math.min(maximum, Math.max(minimum, stepped)), change);
      };
    return h('input', {
      type: 'range',
      min: minimum,
      max: maximum,
      // The steps begin at the usual value, which HTML allows only for the minimum.
      step: 'any',
      value: Number.isNaN(value) ? minimum : value,
      'aria-label': `Slide ${label.replace(/ \(.*/, '').toLowerCase()}`,
      'aria-valuetext': `${value} ${/\((.*)\)/.exec(label)?.[1] ?? ''}`.trim(),
      onInput: moved('dragged'),
      onChange: moved('settled'),
    });
  }

  /** A button that takes the member out of the document, as long as it is there. */
  #reset(label: string, path: string, usual: number): Control | undefined {
    if (valueAt(this.#document, path) === undefined) return undefined;
    const what = `Set ${label.replace(/ \(.*/, '').toLowerCase()} back to ${usual}`;
    return button(`Back to ${usual}`, () => this.#put(path, undefined), { 'aria-label': what });
  }

  #groupings(path: string, byDefault: string, value: Json | undefined): Control {
    const chosen = isList(value) ? value.join(',') : byDefault;
    return choiceField('Groups', path, GROUPINGS, chosen, (groups) =>
      this.#put(path, groups === byDefault ? undefined : groups === '' ? [] : groups.split(',')),
    );
  }

  /** @param caption shown above it, if a row has several */
  #neurons(label: string, path: string, resolved: string, caption = ''): Control {
    return neuronList({
      label,
      selector: (valueAt(this.#document, path) ?? []) as Members,
      path,
      found: this.#found(resolved),
      caption,
      // A single selector is not a list.
      onChange: (selectors) => this.#put(path, selectors.length === 1 ? selectors[0] : selectors),
    });
  }

  /** Describes the neurons of a selector. @param name of the selector in `resolved` of an answer */
  #found(name: string): string {
    return describeResolved(own(this.#resolved, name));
  }
}

function describeResolved(resolved: ResolvedSet | undefined): string {
  if (resolved === undefined) return '';
  const { neurons, sides, types, missing } = resolved;
  const names = Object.keys(types).length;
  return (
    `${counted(neurons, 'neuron')}: ${sidesInWords(Object.entries(sides))}` +
    (names > 1 ? `; ${grouped(names)} types` : '') +
    (missing.length > 0 ? `; ${grouped(missing.length)} missing` : '')
  );
}
