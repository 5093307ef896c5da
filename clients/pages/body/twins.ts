/** Shows two flies side by side that get the same input events: one has all its neurons, the other lacks some. */
import { byId } from '../dom.js';
import type { FullRun } from '../service/client.js';
import type { FlyView } from './fly-view.js';

export class Twins {
  readonly #views = byId('views');
  readonly #frame = byId('fly-2');
  readonly #back = byId<HTMLButtonElement>('one-fly');
  /** Built on first use. */
  #second: FlyView | undefined;

  /** @param onBack called if the user wants one fly again */
  constructor(
    readonly first: FlyView,
    private readonly build: (figure: HTMLElement) => FlyView,
    onBack: () => void,
  ) {
    this.#back.addEventListener('click', () => {
      onBack();
      byId('fly-canvas').focus({ preventScroll: true });
    });
  }

  /** The flies on the page. */
  get shown(): readonly FlyView[] {
    return this.#frame.hidden ? [this.first] : [this.first, this.#second!];
  }

  /**
   * @param names of the cell types that are silent in the second run
   * @returns false if the browser draws no further view
   */
  show(intact: FullRun, lesioned: FullRun, names: string): boolean {
    const second = this.#begin(names);
    if (second === undefined) return false;
    this.first.show(intact);
    second.show(lesioned);
    return true;
  }

  /**
   * Shows a second live fly.
   * @param names of the cell types that are silent in it
   * @returns false if the browser draws no further view
   */
  showLive(names: string): boolean {
    const second = this.#begin(names);
    second?.setLive(true);
    return second !== undefined;
  }

  end(): void {
    this.#present(false);
    this.first.name = 'The fly';
    this.#second?.rest();
  }

  #begin(names: string): FlyView | undefined {
    try {
      this.#second ??= this.build(this.#frame);
    } catch {
      // Browsers bound the number of WebGL contexts.
      return undefined;
    }
    this.#present(true);
    this.first.name = 'The intact fly';
    this.#second.name = `The fly without ${names}`;
    return this.#second;
  }

  #present(areTwo: boolean): void {
    this.#views.classList.toggle('twins', areTwo);
    this.#frame.hidden = this.#back.hidden = !areTwo;
  }
}
