/**
 * Calls between two threads or processes. A work has an object in each of them; a call names the work and a method of its
 * far object, and is answered with data or a failure.
 */
import type { Transferable } from 'node:worker_threads';
import { CodedError, failureOf, type Failure } from '../errors.js';

/** A request, or a chunk of a job, as both sides know it. */
export interface WorkId {
  /** Client whose turns it takes. */
  readonly client: string;
  readonly id: number;
}

/** A result whose memory is transferred, not copied. */
export class Transferred<T> {
  /** @param arrays those of the value; no other array may use their memory */
  constructor(
    readonly value: T,
    readonly arrays: readonly ArrayBufferView<ArrayBuffer>[],
  ) {}
}

type Method = (...given: never[]) => unknown;
/** Methods of an object, whose arguments and results are plain data. */
export type MethodOf<Far> = { [Name in keyof Far]: Far[Name] extends Method ? Name : never }[keyof Far];
export type Given<Far, Name extends keyof Far> = Far[Name] extends (...given: infer All) => unknown
  ? All
  : never;
export type Result<Far, Name extends keyof Far> = Far[Name] extends (...given: never[]) => infer Returned
  ? Value<Awaited<Returned>>
  : never;
type Value<T> = T extends Transferred<infer V> ? V : T;

interface Call {
  readonly work: WorkId;
  readonly name: string;
  readonly given: readonly unknown[];
  /** Number of a call whose caller waits for the answer. */
  readonly call?: number;
}
type Message = Call | { readonly answered: number; readonly value?: unknown; readonly failure?: Failure };

interface Waiting {
  readonly work: WorkId;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

/** One end of the way to another thread or process, whose objects are of type Far. */
export class RemoteCalls<Far> {
  readonly #waiting = new Map<number, Waiting>();
  #calls = 0;
  #failure: CodedError | undefined;

  /**
   * @param post sends a message, which the other end is to receive
   * @param objectOf gives the object of a work on this side, if it is not over
   */
  constructor(
    private readonly post: (message: unknown, memory?: readonly Transferable[]) => void,
    private readonly objectOf: (work: WorkId) => object | undefined,
  ) {}

  /** To be told of the messages of the other end. */
  readonly receive = (received: unknown): void => {
    const message = received as Message;
    if (!('answered' in message)) {
      void this.#perform(message);
      return;
    }
    const { answered, value, failure } = message;
    const waiting = this.#waiting.get(answered);
    this.#waiting.delete(answered);
    if (failure === undefined) waiting?.resolve(value as never);
    else waiting?.reject(CodedError.fromFailure(failure));
  };

  /** @throws CodedError what the method throws, or what the link failed with */
  call<Name extends MethodOf<Far>>(
    work: WorkId,
    name: Name,
    ...given: Given<Far, Name>
  ): Promise<Result<Far, Name>> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) {
        reject(this.#failure);
        return;
      }
      const call = this.#calls++;
      // First, so that a message that cannot be sent leaves nothing that waits.
      this.post({ work, name, given, call });
      this.#waiting.set(call, { work, resolve, reject });
    });
  }

  /** Calls without an answer. */
  send<Name extends MethodOf<Far>>(work: WorkId, name: Name, ...given: Given<Far, Name>): void {
    if (this.#failure === undefined) this.post({ work, name, given });
  }

  /** Rejects the calls of a work that wait for an answer, which is then not read. */
  abandon(work: WorkId, reason: Error): void {
    for (const [call, waiting] of this.#waiting) {
      if (waiting.work === work && this.#waiting.delete(call)) waiting.reject(reason);
    }
  }

  /** Rejects what waits and all that is called from now on. */
  fail(failure: CodedError): void {
    this.#failure = failure;
    for (const { reject } of this.#waiting.values()) reject(failure);
    this.#waiting.clear();
  }

  async #perform({ work, name, given, call }: Call): Promise<void> {
    const object = this.objectOf(work) as
      Record<string, (...given: readonly unknown[]) => unknown> | undefined;
    if (call === undefined) {
      // A failure that no caller waits for is not caught.
      await object?.[name]!(...given);
      return;
    }
    try {
      if (object === undefined) throw new CodedError('RUN_CANCELLED', 'The request is over.');
      const result = await object[name]!(...given);
      if (result instanceof Transferred) {
        const memory = new Set(result.arrays.map(({ buffer }) => buffer));
        this.post({ answered: call, value: result.value as unknown }, [...memory]);
      } else {
        this.post({ answered: call, value: result });
      }
    } catch (error) {
      this.post({ answered: call, failure: failureOf(error) });
    }
  }
}
