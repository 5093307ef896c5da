/** Earlier documents of the form, for undo and redo. */
import type { Members } from './json.js';

const MAX_DOCUMENTS = 50;

export class DraftHistory {
  #documents: Members[] = [];
  /** The index of the one in the form; -1 before the first. */
  #at = -1;
  #control: unknown;

  /**
   * Takes a document of the form.
   * @param control the control that is typed in or dragged, if any; its changes count as one until `endChange`
   */
  take(document: Members, control?: unknown): void {
    if (JSON.stringify(this.#documents[this.#at]) === JSON.stringify(document)) return;
    const isSameChange = control !== undefined && control === this.#control;
    this.#control = control;
    const before = this.#documents.slice(0, this.#at + (isSameChange ? 0 : 1));
    this.#documents = [...before, document].slice(-MAX_DOCUMENTS);
    this.#at = this.#documents.length - 1;
  }

  endChange(): void {
    this.#control = undefined;
  }

  get canUndo(): boolean {
    return this.#at > 0;
  }

  get canRedo(): boolean {
    return this.#at + 1 < this.#documents.length;
  }

  /** @returns the document before the one in the form; undefined if there is none */
  undo(): Members | undefined {
    return this.#move(-1);
  }

  /** @returns the document that was undone last */
  redo(): Members | undefined {
    return this.#move(1);
  }

  #move(by: -1 | 1): Members | undefined {
    this.#control = undefined;
    if (!(by < 0 ? this.canUndo : this.canRedo)) return undefined;
    return this.#documents[(this.#at += by)];
  }
}
