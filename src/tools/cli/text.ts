/** Width of all output in characters. */
export const LINE_WIDTH = 80;

/** Joins lines and trims their ends. */
export function linesText(lines: readonly string[]): string {
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
}

/** Wraps a text at LINE_WIDTH. `first` begins the first line, `further` all others. */
export function wrapped(text: string, first = '', further = first): string[] {
  const [word = '', ...words] = text.split(' ');
  const lines = [first + word];
  for (const next of words) {
    const line = `${lines.at(-1)} ${next}`;
    if (line.length <= LINE_WIDTH) lines[lines.length - 1] = line;
    else lines.push(further + next);
  }
  return lines;
}

/** Pads the cells of rows, so that columns align. */
export function aligned(rows: readonly (readonly (string | number)[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => String(row[column]).length)),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => String(cell).padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  );
}

/** Cuts or pads a text to the width. */
export function fitted(text: string, width: number): string {
  const characters = [...text];
  return characters.length > width ? `${characters.slice(0, width - 1).join('')}…` : text.padEnd(width);
}

/** Eighths of a character, from an empty to a full one. */
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];

/** A bar on a scale from 0 to `scale`; any value above 0 is visible. */
export function bar(value: number, scale: number, width: number): string {
  if (value <= 0 || scale <= 0) return '';
  const eighths = Math.max(1, Math.round(Math.min(value / scale, 1) * width * 8));
  return '█'.repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8]!;
}
