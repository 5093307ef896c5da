/** The reader's window: its width, and whether things should move. */

/** Matches if the reader prefers reduced motion. */
export const withLessMotion = matchMedia('(prefers-reduced-motion: reduce)');

export function scrollBehavior(): ScrollBehavior {
  return withLessMotion.matches ? 'instant' : 'smooth';
}

/** Calls a listener if the width changes. A phone that hides its address bar changes only the height. */
export function onWidth(listener: () => void): void {
  let width = innerWidth;
  addEventListener('resize', () => {
    if (innerWidth === width) return;
    width = innerWidth;
    listener();
  });
}
