import type { Paint } from './figure.js';

export interface Palette {
  readonly background: string;
  readonly text: string;
  readonly muted: string;
  readonly line: string;
  /** A colour for each series. They differ in hue and in lightness. */
  readonly series: readonly string[];
  /** Colours of a heat map, from 0 to the highest number. Lightness changes steadily, so a grey copy is as readable. */
  readonly heat: readonly string[];
}

/** For paper: the colours of the light theme on white. */
export const PAPER: Palette = {
  background: '#ffffff',
  text: '#1c1e24',
  muted: '#59606c',
  line: '#dcd8cd',
  series: ['#b93c0a', '#0a5fa8', '#1f6b35', '#7a35b8', '#8a6d00', '#a81f6b'],
  heat: ['#fff4dd', '#fdc873', '#f08a30', '#c24a10', '#7a2010', '#32090f'],
};

export function colourOf(paint: Paint, palette: Palette): string {
  if (typeof paint === 'number') return palette.series[paint % palette.series.length]!;
  return paint === 'none' ? 'none' : palette[paint];
}
