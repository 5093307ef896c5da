/** The most active cell types. Pressing one points its neurons out in the brain. */
import { element, grouped } from '../dom.js';
import type { TopType } from '../../../answers/v1/api/run-response.dto.js';

const COLUMNS = ['Type', 'Super class', 'Responding', 'Spikes', 'Rate', 'Stimulated'];

/** @param marked is pressed from the start */
export function fillTypeTable(
  table: HTMLTableElement,
  types: readonly TopType[],
  marked: TopType | undefined,
  onMark: (type: TopType | undefined) => void,
): void {
  const head = element('tr', {}, ...COLUMNS.map((name) => element('th', { scope: 'col' }, name)));
  const body = element('tbody');
  for (const type of types) {
    const button = element(
      'button',
      {
        type: 'button',
        class: 'quiet',
        'aria-pressed': String(type === marked),
        title: 'Highlight in the brain',
      },
      type.type,
    );
    button.addEventListener('click', () => {
      const pressed = button.getAttribute('aria-pressed') !== 'true';
      body.querySelectorAll('button').forEach((other) => other.setAttribute('aria-pressed', 'false'));
      button.setAttribute('aria-pressed', String(pressed));
      onMark(pressed ? type : undefined);
    });
    body.append(
      element(
        'tr',
        {},
        element('th', { scope: 'row' }, button),
        element('td', {}, type.super_class.replaceAll('_', ' ')),
        element('td', {}, `${grouped(type.responding)} of ${grouped(type.neurons)}`),
        element('td', {}, grouped(type.spikes)),
        element('td', {}, `${type.rate_hz} Hz`),
        element('td', {}, type.stimulated === 0 ? '–' : grouped(type.stimulated)),
      ),
    );
  }
  table.replaceChildren(element('thead', {}, head), body);
}
