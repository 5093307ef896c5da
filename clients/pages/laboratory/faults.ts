/** Shows an error at its control in the form. */
import { element, suggested } from '../dom.js';
import type { Fault } from '../service/client.js';
import { keysOf } from './json.js';

/** The refused text of a control of numbers that has a comma within a number. */
const COMMA = /got "[-+\d.,:;eE\s…]*\d,\d[-+\d.,:;eE\s…]*"/;
const COMMA_SENTENCE = ' Numbers have a decimal point. In a list, a space follows each comma: 0.5, 1.5.';

/** A message, with a button for each suggested name. */
export function faultElement(
  message: string,
  { suggestions = [] }: Fault,
  onSuggestion: (suggestion: string) => void,
): HTMLElement {
  const fault = element('div', { class: 'fault', role: 'alert' }, element('p', {}, message));
  if (suggestions.length > 0)
    fault.append(element('p', { class: 'suggestions' }, ...suggested(suggestions, onSuggestion)));
  return fault;
}

export class Faults {
  /** @param fields hold the controls; those of a member have its path as `data-path` */
  constructor(private readonly fields: HTMLElement) {}

  /**
   * Shows an error at its control, in the words of the form, with suggestions.
   * @returns true if the form has such a control
   */
  show(message: string, place: Fault, onSuggestion: (suggestion: string) => void): boolean {
    this.clear();
    const target = place.path === undefined ? undefined : this.#controlAt(place.path);
    if (target === undefined) return false;
    target.closest('details')?.setAttribute('open', '');
    const text = inWordsOf(target, message, place.path!) + (COMMA.test(message) ? COMMA_SENTENCE : '');
    const fault = faultElement(text, place, onSuggestion);
    fault.id = 'fault';
    const control = target.closest('li, .control');
    if (control === null) target.append(fault);
    else control.after(fault);
    // A list of names has its fault at the field below them.
    const field = target.matches('input, select')
      ? target
      : (target.querySelector(':scope > ul > .add > input') ?? target.querySelector('input, select'));
    field?.setAttribute('aria-invalid', 'true');
    field?.setAttribute('aria-describedby', 'fault');
    return true;
  }

  focus(): void {
    document.getElementById('fault')?.scrollIntoView({ block: 'center' });
    this.fields.querySelector<HTMLElement>('[aria-invalid]')?.focus({ preventScroll: true });
  }

  clear(): void {
    document.getElementById('fault')?.remove();
    this.fields.querySelectorAll('[aria-invalid]').forEach((control) => {
      control.removeAttribute('aria-invalid');
      control.removeAttribute('aria-describedby');
    });
  }

  /** The control for the path, or for the closest enclosing path. */
  #controlAt(path: string): HTMLElement | undefined {
    for (let place = path; place !== ''; place = place.slice(0, place.lastIndexOf('/'))) {
      const found = this.fields.querySelector<HTMLElement>(`[data-path="${CSS.escape(place)}"]`);
      if (found !== null) return found;
    }
    return undefined;
  }
}

/** Replaces the member's name in the message by the label of its control. */
function inWordsOf(target: HTMLElement, message: string, path: string): string {
  if (target.dataset['path'] !== path) return message;
  const label = target.closest('.control')?.querySelector('label > span')?.textContent;
  if (label == null) return message;
  const row = target.closest('.row')?.getAttribute('aria-label');
  const name = keysOf(path).reduce(
    (text, key) => (/^\d+$/.test(key) ? `${text}[${key}]` : text === '' ? key : `${text}.${key}`),
    '',
  );
  return message.replace(
    name,
    row == null ? label : `${label} of ${row.charAt(0).toLowerCase()}${row.slice(1)}`,
  );
}
