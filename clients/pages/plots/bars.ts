/**
 * Shows channels and drives as numbers with bars, the kept run below the current one. A label opens its explanation.
 */
import { element, pushButton } from '../dom.js';

export interface BarRow {
  readonly id: string;
  readonly label: string;
  readonly explanation: string;
  readonly value: number;
  readonly keptValue: number | undefined;
  readonly text: string;
  /** Values at the two ends of the bar's column; the bar starts at 0. */
  readonly range: readonly [number, number];
}

export interface BarGroup {
  /** Absent if there is only one group. */
  readonly heading?: string;
  readonly rows: readonly BarRow[];
}

/**
 * Fills the table. Silent rows are folded, and a button below the table shows them. If the table has the same rows already,
 * only their numbers change; focus and open rows stay.
 */
export function fillBars(table: HTMLTableElement, groups: readonly BarGroup[]): void {
  const rows = groups.flatMap((group) => group.rows);
  const shown = () => [...table.querySelectorAll<HTMLTableRowElement>('tr[data-of]')];
  const ids = shown().map(({ dataset }) => dataset['of']);
  if (ids.join() !== rows.map(({ id }) => id).join()) table.replaceChildren(...groups.map(bodyOf));
  shown().forEach((row, at) => write(row, rows[at]!));
  const silent = table.querySelectorAll('tr.silent').length;
  const unfold = table.nextElementSibling as HTMLButtonElement;
  unfold.hidden = silent === 0;
  unfold.textContent = `${silent} silent`;
  unfold.onclick = () => {
    unfold.ariaExpanded = String(table.classList.toggle('unfolded'));
  };
}

function bodyOf({ heading, rows }: BarGroup): HTMLElement {
  const body = element('tbody');
  if (heading !== undefined) {
    body.append(element('tr', {}, element('th', { scope: 'rowgroup', colspan: '3' }, heading)));
  }
  for (const { id, label } of rows) {
    const text = element('td', { colspan: '3' });
    const explanation = element('tr', { class: 'explanation', hidden: true }, text);
    const unfold = (): void => {
      explanation.hidden = !explanation.hidden;
      button.ariaExpanded = String(!explanation.hidden);
    };
    const button = pushButton(label, unfold, { class: 'label', 'aria-expanded': 'false' });
    body.append(
      element('tr', { 'data-of': id }, element('th', { scope: 'row' }, button), element('td'), element('td')),
      explanation,
    );
  }
  return body;
}

function write(row: HTMLTableRowElement, { value, keptValue, text, range, explanation }: BarRow): void {
  row.className = value === 0 && (keptValue ?? 0) === 0 ? 'silent' : '';
  row.nextElementSibling!.firstElementChild!.textContent = explanation;
  const track = element('span', { class: keptValue === undefined ? 'track' : 'track compared' });
  track.append(bar(value, range, ''));
  if (keptValue !== undefined) track.append(bar(keptValue, range, 'kept-bar'));
  if (range[0] < 0) {
    const zero = element('b', { class: 'zero' });
    zero.style.setProperty('--from', `${share(0, range)}%`);
    track.append(zero);
  }
  const [, bars, numbers] = row.cells;
  bars!.replaceChildren(track);
  numbers!.replaceChildren(text);
  if (keptValue !== undefined) {
    numbers!.append(' ', element('span', { class: 'of-kept' }, String(keptValue)));
  }
}

function bar(value: number, range: readonly [number, number], className: string): HTMLElement {
  const [from, to] = [share(Math.min(0, value), range), share(Math.max(0, value), range)];
  const created = element('i', { class: className });
  created.style.setProperty('--from', `${from}%`);
  created.style.setProperty('--length', `${to - from}%`);
  return created;
}

/** Position of a value in percent of the width. */
function share(at: number, [low, high]: readonly [number, number]): number {
  return Math.min(100, Math.max(0, (100 * (at - low)) / (high - low)));
}
