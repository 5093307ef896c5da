/** Numbers with bars, the kept run's below the current one's: channels and drives. A label opens its explanation. */
import { element } from '../dom.js';

export interface BarRow {
  readonly id: string;
  readonly label: string;
  readonly explanation: string;
  readonly value: number;
  readonly keptValue: number | undefined;
  readonly text: string;
  /** Values at the two ends of the bar's column; the bar starts at 0, wherever that is. */
  readonly range: readonly [number, number];
}

export interface BarGroup {
  /** Left out where there is one group alone. */
  readonly heading?: string;
  readonly rows: readonly BarRow[];
}

/** Explanations that were open in the table stay open. */
export function fillBars(table: HTMLTableElement, groups: readonly BarGroup[]): void {
  const open = new Set(
    [...table.querySelectorAll<HTMLElement>('button[aria-expanded=true]')].map(
      (button) => button.dataset['of']!,
    ),
  );
  table.replaceChildren(...groups.map((group) => bodyOf(group, open)));
}

function bodyOf({ heading, rows }: BarGroup, open: ReadonlySet<string>): HTMLElement {
  const body = element('tbody');
  if (heading !== undefined) {
    body.append(element('tr', {}, element('th', { scope: 'rowgroup', colspan: '3' }, heading)));
  }
  for (const row of rows) {
    const silent = row.value === 0 && (row.keptValue ?? 0) === 0;
    const track = element('span', { class: row.keptValue === undefined ? 'track' : 'track compared' });
    track.append(bar(row.value, row.range, ''));
    if (row.keptValue !== undefined) track.append(bar(row.keptValue, row.range, 'kept-bar'));
    if (row.range[0] < 0) {
      const zero = element('b', { class: 'zero' });
      zero.style.setProperty('--from', `${share(0, row.range)}%`);
      track.append(zero);
    }
    const numbers = element('td', {}, row.text);
    if (row.keptValue !== undefined) {
      numbers.append(' ', element('span', { class: 'of-kept' }, String(row.keptValue)));
    }
    const isOpen = open.has(row.id);
    const explanation = element(
      'tr',
      { class: 'explanation' },
      element('td', { colspan: '3' }, row.explanation),
    );
    explanation.hidden = !isOpen;
    const button = element(
      'button',
      { type: 'button', class: 'label', 'data-of': row.id, 'aria-expanded': String(isOpen) },
      row.label,
    );
    button.addEventListener('click', () => {
      explanation.hidden = !explanation.hidden;
      button.setAttribute('aria-expanded', String(!explanation.hidden));
    });
    body.append(
      element(
        'tr',
        { class: silent ? 'silent' : '' },
        element('th', { scope: 'row' }, button),
        element('td', {}, track),
        numbers,
      ),
      explanation,
    );
  }
  return body;
}

function bar(value: number, range: readonly [number, number], className: string): HTMLElement {
  const [from, to] = [share(Math.min(0, value), range), share(Math.max(0, value), range)];
  const created = element('i', { class: className });
  created.style.setProperty('--from', `${from}%`);
  created.style.setProperty('--length', `${to - from}%`);
  return created;
}

/** Percent of the width at which a value stands. */
function share(at: number, [low, high]: readonly [number, number]): number {
  return Math.min(100, Math.max(0, (100 * (at - low)) / (high - low)));
}
