/** Messages of the page during waits and after failures. */
import { byId, element, pushButton } from './dom.js';
import type { FailureKind, ServiceFailure } from './service/client.js';

/** Failures for which trying again does not help. */
export const FINAL: readonly FailureKind[] = ['refused', 'ended'];
/** Time for which a brief text stays. */
const BRIEF_MS = 6000;
const TITLES: Readonly<Record<FailureKind, string>> = {
  offline: 'No connection.',
  limited: 'Too many runs in a minute.',
  unavailable: 'The model is currently unavailable.',
  failed: 'Unexpected answer from the service.',
  refused: 'This experiment was refused.',
  ended: 'This job has no results.',
};

export class Notices {
  #timer: ReturnType<typeof setTimeout> | undefined;
  #fading: ReturnType<typeof setTimeout> | undefined;
  /** Aborted when the visible failure goes. */
  #shown = new AbortController();
  #text = '';
  #brief = '';
  #loading = '';
  readonly #status: HTMLElement;
  readonly #alert: HTMLElement;

  /**
   * @param of part with the messages: those of the brain are over its canvas, all others at the window's edge
   * @param titles replacements of the usual titles
   */
  constructor(
    of: 'page' | 'brain',
    private readonly titles: Partial<Readonly<Record<FailureKind, string>>> = {},
  ) {
    const prefix = of === 'brain' ? 'brain-' : '';
    this.#status = byId(`${prefix}status`);
    this.#alert = byId(`${prefix}alert`);
  }

  /** @param text empty clears the message */
  status(text: string): void {
    this.#text = text;
    if (text !== '') this.#brief = '';
    this.#show();
  }

  /** Shows a text for some seconds. Use it if nobody has to act on the text. */
  brief(text: string): void {
    clearTimeout(this.#fading);
    this.#brief = text;
    this.#show();
    this.#fading = setTimeout(() => {
      this.#brief = '';
      this.#show();
    }, BRIEF_MS);
  }

  /** @param sentence progress that replaces the status; empty if it is over */
  loading(sentence: string): void {
    this.#loading = sentence;
    this.#show();
  }

  #show(): void {
    this.#status.textContent = this.#loading || this.#brief || this.#text;
  }

  /** Copies a text to the clipboard. */
  copy(text: string): void {
    // A page without TLS has no clipboard, so this throws.
    const copied = Promise.resolve().then(() => navigator.clipboard.writeText(text));
    copied.then(
      () => this.brief('Copied.'),
      () => this.brief('The browser did not allow copying.'),
    );
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#shown.abort();
    this.#alert.hidden = true;
    this.#alert.replaceChildren();
  }

  /**
   * Shows the reason of a failure, with a retry button if that can help. During the wait that the service asks for, the
   * button counts down, and is disabled unless `automatic`. The seconds are hidden from screen readers, which would
   * otherwise read the whole alert again each second. When the browser is online again, the call is repeated if
   * `automatic`; otherwise the message goes.
   * @param automatic true to try again when the countdown ends
   * @param onOver called when the countdown ends
   */
  failure(failure: ServiceFailure, retry: () => void, automatic = false, onOver = (): void => {}): void {
    this.clear();
    this.status('');
    this.#shown = new AbortController();
    if (failure.kind === 'offline') {
      const whenOnline = (): void => {
        this.clear();
        onOver();
        if (automatic) retry();
      };
      addEventListener('online', whenOnline, { signal: this.#shown.signal });
    }
    const children: HTMLElement[] = [
      element('strong', {}, this.titles[failure.kind] ?? TITLES[failure.kind]),
      element('p', {}, failure.message),
    ];
    if (!FINAL.includes(failure.kind)) {
      const wait = element('span', { 'aria-hidden': 'true' });
      const again = (): void => {
        this.clear();
        retry();
      };
      const button = pushButton('Try again', again, { class: false });
      button.append(wait);
      children.push(button);
      if (failure.kind === 'limited' || automatic) {
        button.disabled = !automatic;
        this.#countDown(button, wait, failure.retryAfterS, () => {
          onOver();
          if (automatic) again();
        });
      }
    }
    if (failure.kind === 'offline' && !automatic) {
      children.push(pushButton('Close', () => this.clear()));
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
