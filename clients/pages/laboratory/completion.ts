/** Completes names of cell types, published sets and sets of the document in all fields for neurons. */
import { byId, element } from '../dom.js';
import { service } from '../service/client.js';

/** Id of the list of names that these fields offer. */
export const NAMES = 'neuron-names';
const PAUSE_MS = 200;
const MAX_NAMES = 40;

let pause: ReturnType<typeof setTimeout> | undefined;
let asked = new AbortController();

/**
 * Fills the list with names that begin like the text of the focused field.
 * @param ownNames names of the sets that the document defines, which come first
 */
export function completeNames(ownNames: () => readonly string[]): void {
  document.addEventListener('input', ({ target }) => {
    if (!(target instanceof HTMLInputElement) || target.getAttribute('list') !== NAMES) return;
    clearTimeout(pause);
    asked.abort();
    pause = setTimeout(() => void fill(target.value.trim(), ownNames()), PAUSE_MS);
  });
}

async function fill(text: string, own: readonly string[]): Promise<void> {
  const { signal } = (asked = new AbortController());
  if (text === '' || text.includes(':')) return;
  try {
    const names = text.startsWith('@')
      ? (await service.nodeSets({ signal })).node_sets
          .filter(({ neurons }) => neurons > 0)
          .map(({ name }) => name)
      : Object.keys(
          (await service.neurons({ type: `${text.replaceAll('*', '')}*`, limit: 1 }, { signal })).types,
        );
    const fitting = [...new Set([...own, ...names])].filter((name) =>
      name.toLowerCase().startsWith(text.toLowerCase()),
    );
    byId(NAMES).replaceChildren(...fitting.slice(0, MAX_NAMES).map((value) => element('option', { value })));
  } catch {
    // Users can type names without completion, and the service refuses unknown ones.
  }
}
