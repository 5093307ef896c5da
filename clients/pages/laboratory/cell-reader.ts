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
 * Makes the marks of a figure on the page respond to pointer and keyboard, which a saved figure does not.
 * @param onRead gets the text of the mark that the reader points at
 */
export function makeReadable(figure: SVGSVGElement, onRead: (sentence: string) => void): void {
  const read = ({ target }: Event): void => {
    const title = titleOf(target as Element);
    if (title !== undefined) onRead(title);
  };
  for (const event of ['pointerover', 'click', 'focusin']) figure.addEventListener(event, read);
  figure.querySelectorAll<SVGGElement>('.map').forEach((map) => makeGrid(map));
}

/**
 * Title of the focused cell. The title finds the cell in the next figure, because its position changes as conditions
 * arrive.
 */
export function focusedCell(figure: Element): string | undefined {
  const focused = figure.querySelector('.cell:focus');
  return focused === null ? undefined : titleOf(focused);
}

export function focusCell(figure: Element, title: string): void {
  const cells = [...figure.querySelectorAll<SVGElement>('.cell')];
  cells.find((cell) => titleOf(cell) === title)?.focus({ preventScroll: true });
}

function titleOf(mark: Element): string | undefined {
  return mark.querySelector(':scope > title')?.textContent ?? undefined;
}

/** Makes a grid in the sense of ARIA: one Tab stop, and arrow keys inside. */
function makeGrid(map: SVGGElement): void {
  map.setAttribute('role', 'grid');
  const rows = [...map.querySelectorAll('.row')].map((row) => {
    row.setAttribute('role', 'row');
    return [...row.querySelectorAll<SVGRectElement>('.cell')];
  });
  rows.flat().forEach((cell, at) => {
    cell.setAttribute('role', 'gridcell');
    cell.setAttribute('aria-label', titleOf(cell) ?? '');
    cell.tabIndex = at === 0 ? 0 : -1;
    // A tap also moves the keyboard focus here.
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
