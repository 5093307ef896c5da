/** The controls of an experiment, made from what the model offers. */
import { byId, element, grouped } from './dom.js';
import type { Experiment } from './service/experiment.js';
import type { Model } from '../../answers/v1/api/model.dto.js';

const NONE = {
  id: 'none',
  label: 'Nothing',
  description: 'No stimulus. This model has no spontaneous activity: it stays silent.',
};

export class ExperimentForm {
  readonly #form = byId<HTMLFormElement>('experiment');
  readonly #intensity = byId<HTMLInputElement>('intensity');
  readonly #seed = byId<HTMLInputElement>('seed');
  readonly #buttons = [byId<HTMLButtonElement>('run'), byId<HTMLButtonElement>('next-seed')];
  #model: Model | undefined;
  /** What the range stands for: it rounds to its steps itself, but a link may hold any number. */
  #exactIntensity = Number(this.#intensity.value);
  /** The button that lost the focus when it was disabled. */
  #pressed: HTMLButtonElement | undefined;

  constructor(onSubmit: (experiment: Experiment) => Promise<void>) {
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      void onSubmit(this.read());
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
    const { duration_ms: duration, intensity, seed } = model.parameters;
    byId('stimulus-options').replaceChildren(
      ...[...model.stimuli, NONE].map(({ id, label }) => radio('stimulus', id, label)),
    );
    byId('duration-options').replaceChildren(
      ...duration.allowed.map((ms) => radio('duration_ms', String(ms), `${ms} ms`)),
    );
    for (const [input, range] of [
      [this.#intensity, intensity],
      [this.#seed, seed],
    ] as const) {
      input.min = String(range.minimum);
      input.max = String(range.maximum);
    }
    this.write(defaultsOf(model));
  }

  /** Holds both buttons back that run something, or lets go of them where the keyboard left them. */
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
    return {
      stimulus: String(values.get('stimulus')),
      duration_ms: Number(values.get('duration_ms')),
      intensity: this.#exactIntensity,
      seed: Number(this.#seed.value),
    };
  }

  /** Values that the controls do not offer leave them as they are. */
  write(experiment: Experiment): void {
    for (const name of ['stimulus', 'duration_ms'] as const) {
      this.#form
        .querySelectorAll<HTMLInputElement>(`input[name="${name}"]`)
        .forEach((input) => (input.checked = input.value === String(experiment[name]) || input.checked));
    }
    const { min, max } = this.#intensity;
    if (experiment.intensity >= Number(min) && experiment.intensity <= Number(max)) {
      this.#intensity.value = String(experiment.intensity);
      this.#exactIntensity = experiment.intensity;
    }
    this.#seed.value = String(experiment.seed);
    this.#explain();
  }

  #explain(): void {
    const { stimulus, intensity } = this.read();
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

export function defaultsOf({ parameters }: Model): Experiment {
  return {
    stimulus: parameters.stimulus.default,
    duration_ms: parameters.duration_ms.default,
    intensity: parameters.intensity.default,
    seed: parameters.seed.default,
  };
}

function radio(name: string, value: string, label: string): HTMLElement {
  return element('label', {}, element('input', { type: 'radio', name, value }), label);
}
