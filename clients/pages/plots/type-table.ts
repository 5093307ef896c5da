/** Shows the most active cell types of the visible runs. Pressing one marks its neurons in the brain. */
import { element, grouped, pushButton, refill, tableHead } from '../dom.js';
import { spoken } from '../selection.js';
import type { TopType } from '../service/client.js';

export type TypeActivity = Pick<TopType, 'spikes' | 'responding' | 'rate_hz'>;

export interface TypeRow {
  readonly type: string;
  readonly superClass: string;
  readonly neurons: number;
  /** Undefined if it is not known, or not yet. */
  readonly run: TypeActivity | undefined;
  readonly kept: TypeActivity | undefined;
  /** Undefined if the answer does not have it. */
  readonly stimulated: number | undefined;
}

/** @param isCompared true to show the kept run's numbers too */
export function fillTypeTable(
  table: HTMLTableElement,
  rows: readonly TypeRow[],
  isCompared: boolean,
  isMarked: (row: TypeRow) => boolean,
  onPress: (row: TypeRow, pressed: boolean) => void,
): void {
  const of = (read: (activity: TypeActivity) => string) => {
    const known = (activity: TypeActivity | undefined): string => (activity ? read(activity) : '–');
    return (row: TypeRow): string | HTMLElement[] =>
      isCompared
        ? [element('span', {}, known(row.run)), element('span', { class: 'of-kept' }, known(row.kept))]
        : known(row.run);
  };
  const responding = of((activity) => grouped(activity.responding));
  const columns: Readonly<Record<string, (row: TypeRow) => string | HTMLElement[]>> = {
    'Super class': ({ superClass }) => spoken(superClass),
    Responding(row) {
      const counts = responding(row);
      const neurons = ` of ${grouped(row.neurons)}`;
      return typeof counts === 'string' ? counts + neurons : [...counts, element('span', {}, neurons)];
    },
    Spikes: of(({ spikes }) => grouped(spikes)),
    'Rate (Hz)': of(({ rate_hz: rateHz }) => String(rateHz)),
    Stimulated: ({ stimulated }) => (stimulated ? grouped(stimulated) : '–'),
  };
  const body = element('tbody');
  for (const row of rows) {
    const isPressed = isMarked(row);
    const button = pushButton(row.type, () => onPress(row, !isPressed), {
      'aria-pressed': String(isPressed),
    });
    const cells = Object.values(columns).map((read) => element('td', {}, ...[read(row)].flat()));
    body.append(element('tr', {}, element('th', { scope: 'row' }, button), ...cells));
  }
  refill(table, [tableHead(['Type', ...Object.keys(columns)]), body]);
}
