/** Numbers with bars, the kept run's below the current one's: channels and drives. */
import { element } from '../dom.js';

export interface BarRow {
  readonly label: string;
  readonly title: string;
  readonly value: number;
  readonly keptValue: number | undefined;
  readonly text: string;
  /** What the whole width of the bar stands for; the bar starts at 0, wherever that is. */
  readonly range: readonly [number, number];
}

export interface BarGroup {
  /** Left out where there is one group alone. */
  readonly heading?: string;
  readonly rows: readonly BarRow[];
}

export function fillBars(table: HTMLTableElement, groups: readonly BarGroup[]): void {
  table.replaceChildren(...groups.map(bodyOf));
}

function bodyOf({ heading, rows }: BarGroup): HTMLElement {
  const body = element('tbody');
  if (heading !== undefined) {
    body.append(element('tr', {}, element('th', { scope: 'rowgroup', colspan: '3' }, heading)));
  }
  for (const row of rows) {
    const silent = row.value === 0 && (row.keptValue ?? 0) === 0;
    const track = element('span', { class: row.keptValue === undefined ? 'track' : 'track compared' });
    track.append(bar(row.value, row.range, ''));
    if (row.keptValue !== undefined) track.append(bar(row.keptValue, row.range, 'kept-bar'));
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
  return body;
}

function bar(value: number, [low, high]: readonly [number, number], className: string): HTMLElement {
  const share = (at: number): number => Math.min(100, Math.max(0, (100 * (at - low)) / (high - low)));
  const [from, to] = [share(Math.min(0, value)), share(Math.max(0, value))];
  const created = element('i', { class: className });
  created.style.setProperty('--from', `${from}%`);
  created.style.setProperty('--length', `${to - from}%`);
  return created;
}
