/** Controls of an experiment, with the stimuli that the model has. */
import { byId, element, grouped } from './dom.js';
import { FIELDS } from '../../src/experiments/presets/fields.js';
import { describe, type Experiment, experimentFrom } from './service/experiment.js';
import type { Model } from './service/client.js';

/** Names of buttons that give a stimulus by hand; other stimuli have their label. */
const ACTS: Readonly<Record<string, string>> = {
  loom: 'Approach it',
  sugar: 'Give sugar',
  touch: 'Touch it',
  song: 'Sing',
  heat: 'Warm it',
  bitter: 'Give bitter',
  food: 'Smell of food',
  pheromone: 'Pheromone',
  colour: 'Colours',
  humid: 'Moist air',
};
const NONE = {
  id: 'none',
  label: 'Nothing',
  description: 'No stimulus. This model has no spontaneous activity: it stays silent.',
};

export class ExperimentForm {
  readonly #form = byId<HTMLFormElement>('experiment');
  readonly #stimuli = byId('stimulus-options');
  readonly #intensity = byId<HTMLInputElement>('intensity');
  readonly #seed = byId<HTMLInputElement>('seed');
  readonly #buttons = [byId<HTMLButtonElement>('run'), byId<HTMLButtonElement>('next-seed')];
  #model: Model | undefined;
  /** The exact intensity: the range input rounds to its steps, but a link may hold any number. */
  #exactIntensity: number = FIELDS.intensity.default;
  /** The button that lost the focus when it was disabled. */
  #pressed: HTMLButtonElement | undefined;

  /**
   * @param onSubmit called with the experiment if the button is pressed
   * @param onTap called with the experiment of the stimulus whose mark is tapped, and the current settings
   */
  constructor(onSubmit: (experiment: Experiment) => void, onTap: (experiment: Experiment) => void) {
    for (const input of [this.#intensity, this.#seed]) {
      const { minimum, maximum, default: preset } = FIELDS[input.name as 'intensity' | 'seed'];
      input.min = String(minimum);
      input.max = String(maximum);
      input.value = String(preset);
    }
    byId('intensity-shown').textContent = this.#intensity.value;
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      onSubmit(this.read());
    });
    // A browser sends a click for an arrow key, too. That key only chooses a stimulus.
    let isStepping = false;
    this.#stimuli.addEventListener('pointerdown', () => (isStepping = false));
    this.#stimuli.addEventListener('keydown', ({ key }) => (isStepping = key.startsWith('Arrow')));
    this.#stimuli.addEventListener('keyup', (event) => {
      isStepping = false;
      const { target, key } = event;
      if (key !== ' ' || !(target instanceof HTMLInputElement) || !target.checked) return;
      // The space bar does not click a stimulus that is chosen.
      event.preventDefault();
      target.click();
    });
    // Use click and not change, so that a second tap on the same stimulus counts.
    this.#stimuli.addEventListener('click', ({ target }) => {
      if (!(target instanceof HTMLInputElement)) return;
      this.#explain();
      if (!isStepping) onTap(this.read());
    });
    this.#intensity.addEventListener('input', () => (this.#exactIntensity = Number(this.#intensity.value)));
    this.#form.addEventListener('input', () => this.#explain());
    byId('next-seed').addEventListener('click', () => {
      this.#seed.value = String((Number(this.#seed.value) + 1) % (Number(this.#seed.max) + 1));
      this.#form.requestSubmit();
    });
  }

  /** Builds the choices. */
  offer(model: Model): void {
    this.#model = model;
    this.#stimuli.replaceChildren(
      ...model.stimuli.map(({ id, label }) =>
        element('div', { class: 'stimulus' }, hold(id, label), radio('stimulus', id, label, 'mark')),
      ),
      element('div', { class: 'stimulus' }, radio('stimulus', NONE.id, NONE.label)),
    );
    // The inputs are outside the form element but belong to it.
    for (const input of this.#stimuli.querySelectorAll('input')) input.setAttribute('form', this.#form.id);
    byId('duration-options').replaceChildren(
      ...FIELDS.duration_ms.enum.map((ms) => radio('duration_ms', String(ms), `${ms} ms`)),
    );
  }

  /** Disables or enables both run buttons; enabling restores the keyboard focus. */
  allowRuns(allowed: boolean): void {
    this.#pressed ??= this.#buttons.find((button) => button === document.activeElement);
    for (const button of this.#buttons) button.disabled = !allowed;
    if (!allowed) return;
    if (document.activeElement === document.body) this.#pressed?.focus({ preventScroll: true });
    this.#pressed = undefined;
  }

  labelOf(stimulus: string): string {
    return [...(this.#model?.stimuli ?? []), NONE].find(({ id }) => id === stimulus)?.label ?? stimulus;
  }

  read(): Experiment {
    const values = new FormData(this.#form);
    return experimentFrom((name) => (name === 'intensity' ? this.#exactIntensity : String(values.get(name))));
  }

  /** A value that a control does not offer leaves it unchanged. */
  write(experiment: Experiment): void {
    for (const name of ['stimulus', 'duration_ms'] as const) {
      document
        .querySelectorAll<HTMLInputElement>(`input[name="${name}"]`)
        .forEach((input) => (input.checked = input.value === String(experiment[name]) || input.checked));
    }
    const { min, max } = this.#intensity;
    if (experiment.intensity >= Number(min) && experiment.intensity <= Number(max)) {
      this.#intensity.value = String(experiment.intensity);
      this.#exactIntensity = experiment.intensity;
    }
    if (Number.isInteger(experiment.seed)) this.#seed.value = String(experiment.seed);
    this.#explain();
  }

  #explain(): void {
    const experiment = this.read();
    const { stimulus, intensity } = experiment;
    byId('settings-shown').textContent = describe(experiment, this.labelOf(stimulus));
    byId('intensity-shown').textContent = String(intensity);
    this.#intensity.setAttribute('aria-valuetext', String(intensity));
    const found = this.#model?.stimuli.find(({ id }) => id === stimulus);
    byId('stimulus-description').textContent =
      found === undefined
        ? NONE.description
        : `${found.description} ${grouped(found.neuron_count)} neurons, ` +
          `${Number((found.nominal_rate_hz * intensity).toFixed(1))} Hz each.`;
  }
}

/** Gives the stimulus to the live fly for as long as it is held. */
function hold(id: string, label: string): HTMLElement {
  const attributes = {
    type: 'button',
    class: 'hold',
    'data-act': id,
    'aria-pressed': 'false',
    disabled: true,
  };
  return element('button', attributes, ACTS[id] ?? label);
}

/** @param className `mark` for one that plays the recorded run */
function radio(name: string, value: string, label: string, className: string | false = false): HTMLElement {
  return element('label', { class: className }, element('input', { type: 'radio', name, value }), label);
}
