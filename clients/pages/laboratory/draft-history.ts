/** Earlier documents of the form, for undo and redo. */
import type { Members } from './json.js';

const MAX_DOCUMENTS = 50;

export class DraftHistory {
  /** The last one is in the form. */
  #past: Members[] = [];
  /** The last one comes next. */
  #undone: Members[] = [];
  #control: string | undefined;

  /**
   * Takes a document of the form.
   * @param control the control that is typed in or dragged, if any; its changes count as one until `endChange`
   */
  take(document: Members, control?: string): void {
    const last = this.#past.at(-1);
    if (last !== undefined && JSON.stringify(last) === JSON.stringify(document)) return;
    if (control !== undefined && control === this.#control) this.#past.pop();
    this.#control = control;
    this.#past = [...this.#past, document].slice(-MAX_DOCUMENTS);
    this.#undone = [];
  }

  endChange(): void {
    this.#control = undefined;
  }

  get canUndo(): boolean {
    return this.#past.length > 1;
  }

  get canRedo(): boolean {
    return this.#undone.length > 0;
  }

  /** @returns the document before the one in the form; undefined if there is none */
  undo(): Members | undefined {
    this.#control = undefined;
    if (!this.canUndo) return undefined;
    this.#undone.push(this.#past.pop()!);
    return this.#past.at(-1);
  }

  /** @returns the document that was undone last */
  redo(): Members | undefined {
    this.#control = undefined;
    const next = this.#undone.pop();
    if (next !== undefined) this.#past.push(next);
    return next;
  }
}
