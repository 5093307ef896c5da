/** Sizes of text, as estimates, because no font can be measured in a service. */
import { max } from 'd3-array';

export const FONT_PX = 12;
/** Estimated width of a character. Names of types have many capitals, which are wide. */
export const CHARACTER_PX = 7.6;
/** Estimated width of a digit. */
export const DIGIT_PX = 6.4;

export function longest(texts: readonly string[]): number {
  return max(texts, ({ length }) => length) ?? 0;
}

/** Shortens a text to a width in pixels, with estimated widths of characters. */
export function shortened(content: string, widthPx: number): string {
  const most = Math.max(3, Math.floor(widthPx / CHARACTER_PX));
  return content.length <= most ? content : `${content.slice(0, most - 1)}…`;
}

/** Breaks a text into lines at spaces. @param most maximum number of characters of a line */
export function linesOf(content: string, most: number): string[] {
  const lines: string[] = [];
  for (const word of content.split(' ')) {
    const line = `${lines.at(-1) ?? ''} ${word}`.trim();
    if (lines.length > 0 && line.length <= most) lines[lines.length - 1] = line;
    else lines.push(word);
  }
  return lines;
}
