/** Colours of series and heat maps: on paper, in grey, and in the dark theme of the pages. */
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

/** For paper without hues. */
export const GREYS: Palette = {
  ...PAPER,
  text: '#000000',
  muted: '#4d4d4d',
  line: '#d9d9d9',
  series: ['#1a1a1a', '#767676', '#474747', '#8c8c8c', '#333333', '#5e5e5e'],
  heat: ['#ffffff', '#d0d0d0', '#a0a0a0', '#707070', '#404040', '#101010'],
};

/** For the dark theme of the pages, which has its other colours in its style sheet. */
export const ON_DARK: Pick<Palette, 'series' | 'heat'> = {
  series: ['#ffb347', '#5cc8ff', '#7bd88f', '#c98bff', '#f2e15c', '#ff8fc2'],
  heat: ['#1d2330', '#4f2a4a', '#96403f', '#dd7a2b', '#ffc05c', '#fff4d6'],
};

export function colourOf(paint: Paint, palette: Palette): string {
  if (typeof paint === 'number') return palette.series[paint % palette.series.length]!;
  return paint === 'none' ? 'none' : palette[paint];
}
