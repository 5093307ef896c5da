/**
 * Method calls between two threads or processes (remote procedure calls). A unit of work has one object on each side.
 * A call names the work and a method of the remote object; the answer is plain data or a failure.
 */
import type { Transferable } from 'node:worker_threads';
import { CodedError, failureOf, type Failure } from '../../engine/errors.js';
import { getOrInsert } from '../../engine/get-or-insert.js';

/** A unit of work, known to both sides: a request or a chunk of a job. */
export interface WorkId {
  /** The client to whom the computing time is charged. */
  readonly client: string;
  readonly id: number;
}

/** A result whose memory is transferred, not copied. */
export class Transferred<T> {
  /** @param arrays arrays inside the value; no other array may use their memory */
  constructor(
    readonly value: T,
    readonly arrays: readonly ArrayBufferView<ArrayBuffer>[],
  ) {}
}

type Method = (...given: never[]) => unknown;
/** Names of the methods of an object. Their arguments and results must be plain data. */
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
  /** Number of the call; absent if the caller expects no answer. */
  readonly call?: number;
}
type Message = Call | { readonly answered: number; readonly value?: unknown; readonly failure?: Failure };

interface Waiting {
  readonly work: WorkId;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

/** One end of a connection to another thread or process, whose objects have type Far. */
export class RemoteCalls<Far> {
  readonly #waiting = new Map<number, Waiting>();
  /** Pending calls of each work, so that its end does not search those of all others. */
  readonly #callsOf = new WeakMap<WorkId, Set<number>>();
  #calls = 0;
  #failure: CodedError | undefined;

  /**
   * @param post sends a message to the other end's `receive`
   * @param objectOf returns this side's object of a work; undefined if the work is over
   */
  constructor(
    private readonly post: (message: unknown, memory?: readonly Transferable[]) => void,
    private readonly objectOf: (work: WorkId) => object | undefined,
  ) {}

  /** Listener for messages from the other end. */
  readonly receive = (received: unknown): void => {
    const message = received as Message;
    if (!('answered' in message)) {
      void this.#perform(message);
      return;
    }
    const { answered, value, failure } = message;
    const waiting = this.#waiting.get(answered);
    if (waiting === undefined) return;
    this.#waiting.delete(answered);
    this.#callsOf.get(waiting.work)?.delete(answered);
    if (failure === undefined) waiting.resolve(value as never);
    else waiting.reject(CodedError.fromFailure(failure));
  };

  /** @throws CodedError the failure of the method or of the connection */
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
      // Posted first: if the message cannot be sent, no pending call is left.
      this.post({ work, name, given, call });
      this.#waiting.set(call, { work, resolve, reject });
      getOrInsert(this.#callsOf, work, () => new Set()).add(call);
    });
  }

  /** Calls a method without waiting for an answer. */
  send<Name extends MethodOf<Far>>(work: WorkId, name: Name, ...given: Given<Far, Name>): void {
    if (this.#failure === undefined) this.post({ work, name, given });
  }

  /** Rejects the pending calls of a work and ignores their later answers. */
  abandon(work: WorkId, reason: Error): void {
    for (const call of this.#callsOf.get(work) ?? []) {
      this.#waiting.get(call)?.reject(reason);
      this.#waiting.delete(call);
    }
    this.#callsOf.delete(work);
  }

  /** Rejects all pending and all future calls. */
  fail(failure: CodedError): void {
    this.#failure = failure;
    for (const { reject } of this.#waiting.values()) reject(failure);
    this.#waiting.clear();
  }

  async #perform({ work, name, given, call }: Call): Promise<void> {
    const object = this.objectOf(work) as
      | Record<string, (...given: readonly unknown[]) => unknown>
      | undefined;
    if (call === undefined) {
      // Without a caller that waits, a failure becomes an unhandled rejection.
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
