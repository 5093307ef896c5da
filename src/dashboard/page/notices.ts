/** What the page says while it waits, and when something went wrong. */
import { byId, element } from './dom.js';
import type { ServiceFailure } from './service/client.js';

const TITLES = {
  offline: 'No connection.',
  limited: 'Too many runs in a minute.',
  unavailable: 'The model is not available just now.',
  refused: 'The service refused this experiment.',
};

export class Notices {
  readonly #status = byId('status');
  readonly #alert = byId('alert');
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param text empty takes the last one away */
  status(text: string): void {
    this.#status.textContent = text;
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#alert.hidden = true;
    this.#alert.replaceChildren();
  }

  /**
   * Shows why a call failed, with a button to try again where that can help. While the service asks to wait
   * it counts down and holds the button back.
   * @param automatic tries again by itself when the countdown ends
   */
  failure(failure: ServiceFailure, retry: () => void, automatic = false): void {
    this.clear();
    this.status('');
    const children: HTMLElement[] = [
      element('strong', {}, TITLES[failure.kind]),
      element('p', {}, failure.message),
    ];
    if (failure.kind !== 'refused') {
      const button = element('button', { type: 'button' }, 'Try again');
      button.addEventListener('click', () => {
        this.clear();
        retry();
      });
      children.push(button);
      if (failure.kind === 'limited' || automatic)
        this.#countDown(button, failure.retryAfterS, retry, automatic);
    }
    this.#alert.replaceChildren(...children);
    this.#alert.hidden = false;
  }

  #countDown(button: HTMLButtonElement, seconds: number, retry: () => void, automatic: boolean): void {
    if (seconds <= 0) {
      button.disabled = false;
      button.textContent = 'Try again';
      if (automatic) {
        this.clear();
        retry();
      }
      return;
    }
    button.disabled = !automatic;
    button.textContent = `Try again in ${seconds} s`;
    this.#timer = setTimeout(() => this.#countDown(button, seconds - 1, retry, automatic), 1000);
  }
}
