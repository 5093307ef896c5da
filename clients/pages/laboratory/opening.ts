/**
 * The first view of the laboratory: a published figure, finished, and one slider. "Open the bench" leads to the form with the
 * same document.
 */
import { byId } from '../dom.js';
import { EXAMPLES, namedTruly } from './examples.js';
import type { Members } from './json.js';

const EXAMPLE = 'shiu2024-fig1d';
/** Fewer rates and trials than published: a second or two of computation. */
const RATES = { set: 'inputs.sugar.rate_hz', from: 20, to: 200, step: 20 };
const TRIALS = 3;

export class Opening {
  readonly #main = document.querySelector('main')!;
  readonly #gain = byId<HTMLInputElement>('opening-gain');
  #synapseMv: number | undefined;

  /**
   * @param onChange called with the document while the slider moves, and when it rests
   * @param onBench called with the document when the bench is opened
   */
  constructor(
    onChange: (document: Members, isAtRest: boolean) => void,
    onBench: (document: Members) => void,
  ) {
    this.#gain.addEventListener('input', () => {
      this.#describe();
      onChange(this.document, false);
    });
    this.#gain.addEventListener('change', () => onChange(this.document, true));
    byId('open-bench').addEventListener('click', () => {
      this.isOpen = false;
      onBench(this.document);
    });
  }

  get isOpen(): boolean {
    return this.#main.classList.contains('opening');
  }

  set isOpen(isOpen: boolean) {
    this.#main.classList.toggle('opening', isOpen);
    byId('opening').hidden = !isOpen;
  }

  /** @param synapseMv strength of a synapse in this brain, in mV */
  setGain(synapseMv: number): void {
    this.#synapseMv = synapseMv;
    this.#gain.disabled = false;
    this.#describe();
  }

  get isReady(): boolean {
    return this.#synapseMv !== undefined;
  }

  get document(): Members {
    const example = EXAMPLES.find(({ id }) => id === EXAMPLE)!.document;
    const document = { ...example, sweep: [RATES], trials: TRIALS };
    const isChanged = this.isReady && this.#gain.value !== '100';
    return namedTruly(isChanged ? { ...document, constants: { synapse_mv: this.#strengthMv } } : document);
  }

  get #strengthMv(): number {
    return Number(((this.#synapseMv! * Number(this.#gain.value)) / 100).toPrecision(4));
  }

  #describe(): void {
    const text = `${this.#gain.value} %, ${this.#strengthMv} mV`;
    byId('opening-gain-shown').textContent = text;
    this.#gain.setAttribute('aria-valuetext', text);
  }
}
