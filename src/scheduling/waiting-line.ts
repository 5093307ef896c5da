import { Charges, FairQueue } from './fair-queue.js';

interface LineJob {
  readonly owner: string;
  /** True when a worker is next: it has been to the GPU, simulated or not, or its worker has ended. */
  readonly isPrepared: boolean;
  readonly isForGpu: boolean;
}

/**
 * Jobs of one urgency that have no worker: those that wait, those that the GPU is simulating, and those that are back
 * from it, which are the next for the workers.
 */
export class WaitingLine<Job extends LineJob> {
  /** Worker time that the jobs of each owner took. */
  readonly #charges = new Charges();
  readonly #waiting = new FairQueue<Job>(this.#charges);
  readonly #simulating = new Set<Job>();
  readonly #prepared = new FairQueue<Job>(this.#charges);

  /**
   * @param order of the jobs: as they came, or the owner next whose jobs took least
   * @param gpuComesFirst whether every job goes to the GPU before a worker gets it
   */
  constructor(
    private readonly order: 'arrival' | 'fair',
    private readonly gpuComesFirst: () => boolean,
  ) {}

  get size(): number {
    return this.#waiting.size + this.#simulating.size + this.#prepared.size;
  }

  /** Jobs that are back from the GPU. */
  get prepared(): number {
    return this.#prepared.size;
  }

  add(job: Job): void {
    this.#waiting.add(this.#keyOf(job), job);
  }

  /** A job that a worker has had comes before all that its owner has waiting. */
  putBack(job: Job): void {
    (job.isPrepared ? this.#prepared : this.#waiting).putBack(this.#keyOf(job), job);
  }

  delete(job: Job): void {
    this.#waiting.delete(this.#keyOf(job), job);
    this.#simulating.delete(job);
    this.#prepared.delete(this.#keyOf(job), job);
  }

  /** The next job for a worker. */
  peek(): Job | undefined {
    return this.#next.peek();
  }

  take(): Job | undefined {
    return this.#next.take();
  }

  /** All jobs of an owner, in their order. */
  of(owner: string): Job[] {
    return this.#next.of(owner);
  }

  /** The next job of each owner, in the order of their turns. */
  heads(): Job[] {
    return this.#next.heads();
  }

  takeOutOfTurn(job: Job): void {
    this.#next.takeItem(this.#keyOf(job), job);
  }

  /** Charges the owner of a job. */
  charge(job: Job, ms: number): void {
    this.#charges.charge(this.#keyOf(job), ms);
  }

  /** Jobs that the GPU may take, in the order in which workers would. */
  candidates(count: number): Job[] {
    const found: Job[] = [];
    for (const job of this.#waiting.inOrder()) {
      if (found.length === count) break;
      if (job.isForGpu) found.push(job);
    }
    return found;
  }

  /** Leaves to the workers what the GPU cannot compute; needed where it comes first. */
  passGpuBy(): void {
    for (const job of this.#waiting.inOrder()) {
      if (!job.isForGpu && this.#waiting.delete(this.#keyOf(job), job))
        this.#prepared.add(this.#keyOf(job), job);
    }
  }

  /** The GPU simulates it. */
  beginSimulation(job: Job): void {
    if (this.#waiting.delete(this.#keyOf(job), job)) this.#simulating.add(job);
  }

  /** @returns false for a job that was deleted meanwhile */
  endSimulation(job: Job): boolean {
    if (!this.#simulating.delete(job)) return false;
    this.#prepared.add(this.#keyOf(job), job);
    return true;
  }

  #keyOf({ owner }: Job): string {
    return this.order === 'fair' ? owner : '';
  }

  get #next(): FairQueue<Job> {
    return this.#prepared.size > 0 || this.gpuComesFirst() ? this.#prepared : this.#waiting;
  }
}
