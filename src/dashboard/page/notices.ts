/** What the page says while it waits, and when something went wrong. */
import { byId, element } from './dom.js';
import type { ServiceFailure } from './service/client.js';

const TITLES = {
  offline: 'No connection.',
  limited: 'Too many runs in a minute.',
  unavailable: 'The model is currently unavailable.',
  failed: 'Unexpected answer from the service.',
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
   * it counts down and holds the button back. The seconds are only for the eye: with every other change a
   * screen reader would read the whole alert again.
   * @param automatic tries again by itself when the countdown ends
   * @param onOver told when it ends
   */
  failure(failure: ServiceFailure, retry: () => void, automatic = false, onOver = (): void => {}): void {
    this.clear();
    this.status('');
    const children: HTMLElement[] = [
      element('strong', {}, TITLES[failure.kind]),
      element('p', {}, failure.message),
    ];
    if (failure.kind !== 'refused') {
      const wait = element('span', { 'aria-hidden': 'true' });
      const button = element('button', { type: 'button' }, 'Try again', wait);
      button.addEventListener('click', () => {
        this.clear();
        retry();
      });
      children.push(button);
      if (failure.kind === 'limited' || automatic) {
        button.disabled = !automatic;
        this.#countDown(button, wait, failure.retryAfterS, () => {
          onOver();
          if (!automatic) return;
          this.clear();
          retry();
        });
      }
    }
    this.#alert.replaceChildren(...children);
    this.#alert.hidden = false;
  }

  #countDown(button: HTMLButtonElement, wait: HTMLElement, seconds: number, onOver: () => void): void {
    if (seconds <= 0) {
      button.disabled = false;
      wait.textContent = '';
      onOver();
      return;
    }
    wait.textContent = ` in ${seconds} s`;
    this.#timer = setTimeout(() => this.#countDown(button, wait, seconds - 1, onOver), 1000);
  }
}
