/**
 * Shows on one picture why the live fly acts: the stimuli, the neurons that answer, and the formula that moves the body. All
 * numbers are of one step.
 */
import type { CompactAtlas } from '../../../src/engine/connectome/atlas-binary.js';
import { byId, element, grouped, swatch } from '../dom.js';
import { spoken } from '../selection.js';
import type { Model } from '../service/client.js';
import { countsOf } from '../service/run-result.js';
import { SUPER_CLASSES } from '../theme.js';
import { shortDrive } from '../verdict.js';

/** Numbers that change faster cannot be read. */
const PAUSE_MS = 200;
/** Drives of nearly every step; another one is shown if there is any. */
const USUAL = ['walk', 'turn'];
/** Weaker drives move nothing. */
const FAINTEST = 0.05;

interface SeamStep {
  readonly durationMs: number;
  /** Rates in Hz of the stimuli that are on. */
  readonly given: Readonly<Record<string, number>>;
  /** One entry for each spike of the step. */
  readonly neurons: readonly number[];
  /** Rates in Hz in the step. */
  readonly channels: Readonly<Record<string, number>>;
  readonly drive: Readonly<Record<string, number>>;
}

export class Seam {
  readonly #parts = ['You', 'Neurons that answer', 'Formula', 'Body'].map((title) => {
    const content = element('div');
    return { title, content };
  });
  readonly #caption = element('figcaption', { class: 'hint' });
  readonly #sizes: Uint32Array;
  #formula: Model['drives'][number] | undefined;
  #latest: SeamStep = { durationMs: 20, given: {}, neurons: [], channels: {}, drive: {} };
  /** The step with the strongest unusual drive since the last drawing; one of 20 ms may make the fly take off. */
  #telling = this.#latest;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    into: HTMLElement,
    private readonly model: Model,
    private readonly atlas: CompactAtlas,
  ) {
    this.#sizes = new Uint32Array(atlas.types.length);
    for (const type of atlas.typeIndices) this.#sizes[type]!++;
    const items = this.#parts.map(({ title, content }) =>
      element('li', {}, element('b', {}, title), content),
    );
    into.replaceChildren(element('ol', {}, ...items), this.#caption);
    this.#draw(this.#latest);
  }

  show(step: SeamStep): void {
    this.#latest = step;
    if (this.#timer !== undefined) {
      if (unusualDrive(step) >= unusualDrive(this.#telling)) this.#telling = step;
      return;
    }
    this.#telling = step;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      const drawn = this.#telling;
      this.#draw(drawn);
      if (drawn !== this.#latest) this.show(this.#latest);
    }, PAUSE_MS);
  }

  #draw(step: SeamStep): void {
    const [you, neurons, formula, body] = this.#parts.map(({ content }) => content);
    you!.replaceChildren(...this.#given(step));
    neurons!.replaceChildren(...this.#answering(step));
    formula!.replaceChildren(...this.#computed(step));
    body!.replaceChildren(`The fly ${byId('fly-behaviour').textContent}.`);
    this.#caption.textContent = `Rates of one step of ${step.durationMs} ms. The wiring decides which neurons answer; formula and movement are engineered.`;
  }

  #given({ given }: SeamStep): HTMLElement[] {
    const lines = this.model.stimuli
      .filter(({ id }) => (given[id] ?? 0) > 0)
      .map(({ id, label, neuron_count: count }) =>
        line(`${label}: ${given[id]} Hz into ${grouped(count)} neurons`),
      );
    return lines.length > 0 ? lines : [line('nothing')];
  }

  /** The type of each super class that has most spikes, in the order of signal flow. Neurons without a type are left out. */
  #answering({ neurons, durationMs }: SeamStep): HTMLElement[] {
    const { types, typeIndices } = this.atlas;
    const spikes = countsOf(neurons.map((neuron) => typeIndices[neuron]!));
    const lines = SUPER_CLASSES.flatMap((superClass) => {
      const [loudest] = [...spikes]
        .filter(([type]) => types[type]!.superClass === superClass && types[type]!.name !== '')
        .sort((a, b) => b[1] - a[1]);
      if (loudest === undefined) return [];
      const [type, count] = loudest;
      const rateHz = Math.round((1000 * count) / this.#sizes[type]! / durationMs);
      const text = `${types[type]!.name} ${rateHz} Hz `;
      return [line(swatch(`class-${superClass}`), text, element('small', {}, spoken(superClass)))];
    });
    return lines.length > 0 ? lines : [line('all silent')];
  }

  /** The formula of the strongest drive with its numbers. It stays if the drive fades, so zeros are seen too. */
  #computed({ channels, drive }: SeamStep): (HTMLElement | string)[] {
    const strength = ({ id }: { id: string }) => Math.abs(drive[id] ?? 0);
    const loud = this.model.drives.filter((each) => strength(each) >= FAINTEST);
    const special = loud.filter(({ id }) => !USUAL.includes(id));
    const [strongest] = (special.length > 0 ? special : loud).sort((a, b) => strength(b) - strength(a));
    const shown = (this.#formula = strongest ?? this.#formula);
    if (shown === undefined) return [line('no drive yet')];
    const written = shown.formula.split(/((?:channels|drive)\.\w+)/).map((part) => {
      const [kind, id = ''] = part.split('.', 2);
      if (kind === 'channels') {
        const label = this.model.channels.find((each) => each.id === id)?.label ?? id;
        return element('b', {}, `${label} ${channels[id] ?? 0} Hz`);
      }
      return kind === 'drive' ? element('b', {}, `${id} ${shortDrive(drive[id] ?? 0)}`) : part;
    });
    return [line(`${shown.id} = `, ...written, ` = ${shortDrive(drive[shown.id] ?? 0)}`)];
  }
}

function unusualDrive({ drive }: SeamStep): number {
  return Math.max(0, ...Object.keys(drive).map((id) => (USUAL.includes(id) ? 0 : Math.abs(drive[id]!))));
}

function line(...content: (Node | string)[]): HTMLElement {
  return element('p', {}, ...content);
}
