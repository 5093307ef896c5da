/** Messages of the page during waits and after failures. */
import { byId, element, pushButton, refill } from './dom.js';
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
  /** The control that had the focus before the failure. */
  #before: HTMLElement | null = null;
  /** The text of a failure that stays while it is tried again, and its next wait. */
  #kept: { readonly text: string; readonly wait: (seconds: number) => void } | undefined;
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

  /** Hides the failure. If the focus was in it, the control that had it before has it again. */
  clear(): void {
    this.#end();
    const focused = document.activeElement;
    const hadFocus = this.#alert.contains(focused);
    const preventScroll = focused?.matches(':focus-visible') === false;
    this.#alert.hidden = true;
    this.#alert.replaceChildren();
    if (!hadFocus) return;
    const others = ['run', 'brain'].map((id) => document.getElementById(id));
    [this.#before, ...others].find((each) => {
      each?.focus({ preventScroll });
      return each === document.activeElement;
    });
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#shown.abort();
    this.#kept = undefined;
  }

  /**
   * Shows the reason of a failure, with a retry button if that can help. During the wait that the service asks for, the
   * button counts down, and is disabled unless `automatic`. The seconds are hidden from screen readers, which would
   * otherwise read the whole alert again each second. When the browser is online again, the call is repeated if
   * `automatic`; otherwise the message goes.
   * @param automatic true to try again when the countdown ends; `kept` if the message then stays until it is cleared, so
   *   that screen readers read the same failure once
   * @param onOver called when the countdown ends
   */
  failure(
    failure: ServiceFailure,
    retry: () => void,
    automatic: boolean | 'kept' = false,
    onOver = (): void => {},
  ): void {
    const title = this.titles[failure.kind] ?? TITLES[failure.kind];
    const text = `${title} ${failure.message}`;
    this.status('');
    if (this.#kept?.text === text) return this.#kept.wait(failure.retryAfterS);
    this.#end();
    const { activeElement } = document;
    if (activeElement !== document.body && !this.#alert.contains(activeElement))
      this.#before = activeElement as HTMLElement;
    this.#shown = new AbortController();
    const wait = element('span', { 'aria-hidden': 'true' });
    let isTrying = false;
    const again = (): void => {
      if (isTrying) return;
      clearTimeout(this.#timer);
      wait.textContent = '';
      isTrying = automatic === 'kept';
      if (!isTrying) this.clear();
      retry();
    };
    if (failure.kind === 'offline') {
      const whenOnline = (): void => {
        onOver();
        if (automatic) again();
        else this.clear();
      };
      addEventListener('online', whenOnline, { signal: this.#shown.signal });
    }
    const children: HTMLElement[] = [element('strong', {}, title), element('p', {}, failure.message)];
    if (!FINAL.includes(failure.kind)) {
      const button = pushButton('Try again', again, { class: false });
      button.append(wait);
      children.push(button);
      if (failure.kind === 'limited' || automatic) {
        button.disabled = !automatic;
        const countDown = (seconds: number): void => {
          isTrying = false;
          this.#countDown(button, wait, seconds, () => {
            onOver();
            if (automatic) again();
          });
        };
        if (automatic === 'kept') this.#kept = { text, wait: countDown };
        countDown(failure.retryAfterS);
      }
    }
    if (failure.kind === 'offline' && !automatic) {
      children.push(pushButton('Close', () => this.clear()));
    }
    refill(this.#alert, children);
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
