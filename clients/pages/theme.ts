/** Reads the colours of styles.css for the brain and the plots, which CSS does not draw. */

/** Super classes in the order of signal flow, which is also their order in the raster. */
export const SUPER_CLASSES = [
  'sensory',
  'sensory_ascending',
  'ascending',
  'optic',
  'visual_projection',
  'visual_centrifugal',
  'central',
  'endocrine',
  'descending',
  'motor',
] as const;

/** Names in styles.css. `shared` is the colour of neurons that the run and the kept run share. */
const COLOURS = ['panel', 'stage', 'text', 'muted', 'line', 'run', 'kept', 'shared'] as const;

type Colours = Readonly<Record<(typeof COLOURS)[number], string>>;

export interface Theme extends Colours {
  readonly dark: boolean;
  /** One for each of SUPER_CLASSES, then one for all others. */
  readonly superClasses: readonly string[];
}

const darkness = matchMedia('(prefers-color-scheme: dark)');

export function readTheme(): Theme {
  const style = getComputedStyle(document.documentElement);
  // The build resolves light-dark(); otherwise both colours are in the value.
  const colour = (name: string): string => {
    const [light, dark = light] = style.getPropertyValue(`--${name}`).match(/#\w+/g)!;
    return darkness.matches ? dark! : light!;
  };
  return {
    ...(Object.fromEntries(COLOURS.map((name) => [name, colour(name)])) as Colours),
    dark: darkness.matches,
    superClasses: [...SUPER_CLASSES, 'other'].map((superClass) => colour(`class-${superClass}`)),
  };
}

export function onThemeChange(listener: () => void): void {
  darkness.addEventListener('change', listener);
}

/** @returns index into Theme.superClasses */
export function superClassIndex(superClass: string): number {
  const index = (SUPER_CLASSES as readonly string[]).indexOf(superClass);
  return index < 0 ? SUPER_CLASSES.length : index;
}

/** `#rrggbb` as three numbers from 0 to 1. */
export function rgbOf(hex: string): [number, number, number] {
  const value = Number.parseInt(hex.slice(1), 16);
  return [(value >> 16) / 255, ((value >> 8) & 255) / 255, (value & 255) / 255];
}
