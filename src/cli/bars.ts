/** Eighths of a character, from an empty to a full one. */
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];

/** A bar of `value` on a scale from 0; any value above 0 is visible. */
export function bar(value: number, scale: number, width: number): string {
  if (value <= 0 || scale <= 0) return '';
  const eighths = Math.max(1, Math.round(Math.min(value / scale, 1) * width * 8));
  return '█'.repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8]!;
}
