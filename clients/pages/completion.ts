/** Completes names in text fields. */
import { element } from './dom.js';

const PAUSE_MS = 200;
const MAX_NAMES = 40;

interface Completion {
  /** Options of the fields that are completed. */
  readonly list: HTMLDataListElement;
  /** Finds names for the start of one; those that begin otherwise are not offered. */
  readonly namesLike: (start: string, signal: AbortSignal) => readonly string[] | Promise<readonly string[]>;
  /** True if commas separate names in the fields. Only the last one is completed. */
  readonly areSeveral?: boolean;
}

/** Fills the list with names that begin like the text of the focused field. */
export function completeNames({ list, namesLike, areSeveral = false }: Completion): void {
  let pause: ReturnType<typeof setTimeout> | undefined;
  let asked = new AbortController();

  async function fill(text: string): Promise<void> {
    const { signal } = (asked = new AbortController());
    const [, before = '', last = ''] = areSeveral ? /^(.*,\s*)?(.*)$/.exec(text)! : ['', '', text];
    const start = last.trim();
    if (start === '') return;
    try {
      const fitting = [...new Set(await namesLike(start, signal))].filter((name) =>
        name.toLowerCase().startsWith(start.toLowerCase()),
      );
      if (signal.aborted) return;
      const options = fitting.slice(0, MAX_NAMES).map((name) => element('option', { value: before + name }));
      list.replaceChildren(...options);
    } catch {
      // Users can type names without completion, and unknown ones are refused.
    }
  }

  document.addEventListener('input', ({ target }) => {
    if (!(target instanceof HTMLInputElement) || target.list !== list) return;
    clearTimeout(pause);
    asked.abort();
    pause = setTimeout(() => void fill(target.value), PAUSE_MS);
  });
}
