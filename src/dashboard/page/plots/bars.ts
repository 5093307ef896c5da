/** Numbers with bars, the kept run's below the current one's: channels and drives. */
import { element } from '../dom.js';

export interface BarRow {
  readonly label: string;
  readonly title: string;
  readonly value: number;
  readonly keptValue: number | undefined;
  readonly text: string;
}

/** @param range what the whole width of a bar stands for; a bar starts at 0, wherever that is */
export function fillBars(
  table: HTMLTableElement,
  rows: readonly BarRow[],
  range: readonly [number, number],
): void {
  const body = element('tbody');
  for (const row of rows) {
    const silent = row.value === 0 && (row.keptValue ?? 0) === 0;
    const track = element('span', { class: row.keptValue === undefined ? 'track' : 'track compared' });
    track.append(bar(row.value, range, ''));
    if (row.keptValue !== undefined) track.append(bar(row.keptValue, range, 'kept-bar'));
    const numbers = element('td', {}, row.text);
    if (row.keptValue !== undefined) {
      numbers.append(' ', element('span', { class: 'of-kept', title: 'kept run' }, String(row.keptValue)));
    }
    body.append(
      element(
        'tr',
        { class: silent ? 'silent' : '', title: row.title },
        element('th', { scope: 'row' }, row.label),
        element('td', {}, track),
        numbers,
      ),
    );
  }
  table.replaceChildren(body);
}

function bar(value: number, [low, high]: readonly [number, number], className: string): HTMLElement {
  const share = (at: number): number => Math.min(100, Math.max(0, (100 * (at - low)) / (high - low)));
  const [from, to] = [share(Math.min(0, value)), share(Math.max(0, value))];
  const created = element('i', { class: className });
  created.style.setProperty('--from', `${from}%`);
  created.style.setProperty('--length', `${to - from}%`);
  return created;
}
