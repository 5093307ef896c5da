/** Lets readers of a figure point at its marks, tap them, or go from cell to cell of a heat map with the keyboard. */

const STEPS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
  Home: [-Infinity, 0],
  End: [Infinity, 0],
};

/**
 * Adds what a figure on the page has beyond the one that is saved.
 * @param onRead is told what the mark says that somebody points at
 */
export function makeReadable(figure: SVGSVGElement, onRead: (sentence: string) => void): void {
  const read = ({ target }: Event): void => {
    const title = (target as Element).querySelector(':scope > title')?.textContent;
    if (title != null) onRead(title);
  };
  for (const event of ['pointerover', 'click', 'focusin']) figure.addEventListener(event, read);
  figure.querySelectorAll<SVGGElement>('.map').forEach((map) => makeGrid(map));
}

/** The cell that has the focus, for the same cell of the figure that takes the place of this one. */
export function focusedCell(figure: Element): number | undefined {
  const place = [...figure.querySelectorAll('.cell')].indexOf(document.activeElement as Element);
  return place < 0 ? undefined : place;
}

export function focusCell(figure: Element, place: number): void {
  figure.querySelectorAll<SVGElement>('.cell').item(place)?.focus({ preventScroll: true });
}

/** A grid as assistive technology knows it: one stop of the Tab key, and arrow keys within. */
function makeGrid(map: SVGGElement): void {
  map.setAttribute('role', 'grid');
  const rows = [...map.querySelectorAll('.row')].map((row) => {
    row.setAttribute('role', 'row');
    return [...row.querySelectorAll<SVGRectElement>('.cell')];
  });
  rows.flat().forEach((cell, at) => {
    cell.setAttribute('role', 'gridcell');
    cell.setAttribute('aria-label', cell.querySelector('title')?.textContent ?? '');
    cell.tabIndex = at === 0 ? 0 : -1;
    // A tap leads the keyboard here, too.
    cell.addEventListener('click', () => cell.focus({ preventScroll: true }));
    cell.addEventListener('focus', () => {
      rows.flat().forEach((other) => (other.tabIndex = other === cell ? 0 : -1));
    });
  });
  map.addEventListener('keydown', (event) => {
    const step = STEPS[event.key];
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const at = rows.findIndex((row) => row.includes(event.target as SVGRectElement));
    const row = rows[Math.min(rows.length - 1, Math.max(0, at + step[1]))]!;
    const column = rows[at]!.indexOf(event.target as SVGRectElement) + step[0];
    row[Math.min(row.length - 1, Math.max(0, column))]!.focus({ preventScroll: true });
  });
}
