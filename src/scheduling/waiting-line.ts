import { Charges, FairQueue } from './fair-queue.js';
import type { QueuedTask } from './queued-task.js';

/**
 * Tasks of one urgency that have no worker: those that wait, those that the GPU is simulating, and those that are back
 * from it, which are the next for the workers.
 */
export class WaitingLine<Task extends QueuedTask> {
  /** Worker time that the tasks of each owner took. */
  readonly #charges = new Charges();
  readonly #waiting = new FairQueue<Task>(this.#charges);
  readonly #simulating = new Set<Task>();
  readonly #prepared = new FairQueue<Task>(this.#charges);

  /**
   * @param order of the tasks: as they came, or the owner next whose tasks took least
   * @param gpuComesFirst whether every task goes to the GPU before a worker gets it
   */
  constructor(
    private readonly order: 'arrival' | 'fair',
    private readonly gpuComesFirst: () => boolean,
  ) {}

  get size(): number {
    return this.#waiting.size + this.#simulating.size + this.#prepared.size;
  }

  /** Tasks that are back from the GPU. */
  get prepared(): number {
    return this.#prepared.size;
  }

  add(task: Task): void {
    this.#waiting.add(this.#keyOf(task), task);
  }

  /** A task that a worker has had comes before all that its owner has waiting. */
  putBack(task: Task): void {
    (task.isPrepared ? this.#prepared : this.#waiting).putBack(this.#keyOf(task), task);
  }

  delete(task: Task): void {
    this.#waiting.delete(this.#keyOf(task), task);
    this.#simulating.delete(task);
    this.#prepared.delete(this.#keyOf(task), task);
  }

  /** The next task for a worker. */
  peek(): Task | undefined {
    return this.#next.peek();
  }

  take(): Task | undefined {
    return this.#next.take();
  }

  /** All tasks of an owner, in their order. */
  of(owner: string): Task[] {
    return this.#next.of(owner);
  }

  /** The next task of each owner, in the order of their turns. */
  heads(): Task[] {
    return this.#next.heads();
  }

  takeOutOfTurn(task: Task): void {
    this.#next.takeItem(this.#keyOf(task), task);
  }

  /** Charges the owner of a task. */
  charge(task: Task, ms: number): void {
    this.#charges.charge(this.#keyOf(task), ms);
  }

  /** Tasks that the GPU may take, in the order in which workers would. */
  candidates(count: number): Task[] {
    const found: Task[] = [];
    for (const task of this.#waiting.inOrder()) {
      if (found.length === count) break;
      if (task.isForGpu) found.push(task);
    }
    return found;
  }

  /** Leaves to the workers what the GPU cannot compute; needed where it comes first. */
  passGpuBy(): void {
    for (const task of this.#waiting.inOrder()) {
      if (!task.isForGpu && this.#waiting.delete(this.#keyOf(task), task))
        this.#prepared.add(this.#keyOf(task), task);
    }
  }

  /** The GPU simulates it. */
  beginSimulation(task: Task): void {
    if (this.#waiting.delete(this.#keyOf(task), task)) this.#simulating.add(task);
  }

  /** @returns false for a task that was deleted meanwhile */
  endSimulation(task: Task): boolean {
    if (!this.#simulating.delete(task)) return false;
    this.#prepared.add(this.#keyOf(task), task);
    return true;
  }

  #keyOf({ owner }: Task): string {
    return this.order === 'fair' ? owner : '';
  }

  get #next(): FairQueue<Task> {
    return this.#prepared.size > 0 || this.gpuComesFirst() ? this.#prepared : this.#waiting;
  }
}
