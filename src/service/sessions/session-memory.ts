/**
 * Memory of all sessions: one shared buffer of fixed size. V8 does not count shared memory and frees it late, so
 * sessions reuse the memory of those that ended. The size of a session is known before it opens.
 */
import { Logger } from '@nestjs/common';
import { CodedError, queueFull } from '../../engine/errors.js';
import type { SessionPlan } from '../../experiments/plan/session-plan.js';
import type { SegmentState } from '../../experiments/plan/trial.js';
import { ClientShares, limitFor } from '../../workers/queue/client-shares.js';
import { withMovedArrays } from '../../workers/pool/moved-arrays.js';
import type { Limits } from '../limits/limits.js';

/** The current state, and the one that a step writes. */
const STATES_OF_SESSION = 2;
const UNIT_BYTES = 64;
const BYTES_PER_MB = 1e6;
/** Other clients end their sessions or let them expire. */
const RETRY_AFTER_S = 10;

type Piece = Uint8Array<SharedArrayBuffer>;

interface Range {
  readonly begin: number;
  readonly end: number;
}

/** Allocates pieces of one buffer. The operating system provides its pages when they are first written. */
class Arena {
  readonly #buffer: SharedArrayBuffer;
  /** Free ranges, ascending; adjacent ones are merged. */
  #free: readonly Range[];

  constructor(bytes: number) {
    this.#buffer = new SharedArrayBuffer(bytes);
    this.#free = [{ begin: 0, end: bytes }];
  }

  /** @throws CodedError QUEUE_FULL if no free range is large enough */
  take(bytes: number): Piece {
    const room = roomFor(bytes);
    const at = this.#free.findIndex(({ begin, end }) => end - begin >= room);
    if (at < 0) throw queueFull(`sessions have left no ${inMb(bytes)} of memory in one piece`, RETRY_AFTER_S);
    const { begin, end } = this.#free[at]!;
    const rest = begin + room < end ? [{ begin: begin + room, end }] : [];
    this.#free = [...this.#free.slice(0, at), ...rest, ...this.#free.slice(at + 1)];
    return new Uint8Array(this.#buffer, begin, bytes);
  }

  giveBack({ byteOffset: begin, byteLength }: Piece): void {
    const ranges = [...this.#free, { begin, end: begin + roomFor(byteLength) }];
    const joined: { begin: number; end: number }[] = [];
    for (const range of ranges.sort((a, b) => a.begin - b.begin)) {
      const last = joined.at(-1);
      if (last?.end === range.begin) last.end = range.end;
      else joined.push({ ...range });
    }
    this.#free = joined;
  }
}

export class SessionMemory {
  readonly #shares = new ClientShares();
  #arena: Arena | undefined;
  #isRefused = false;

  constructor(private readonly bounds: Pick<Limits, 'sessionBytesPerClient' | 'sessionBytesPerWorker'>) {}

  /** Number of bytes that sessions hold. */
  get bytes(): number {
    return this.#shares.ofAll;
  }

  /**
   * Allocates memory for a session, including the part that it shares with its branches.
   * @param workers number of workers that compute sessions
   * @returns the states, and a function to call once when the session has ended
   * @throws CodedError TOO_EXPENSIVE, QUEUE_FULL
   */
  open(
    client: string,
    plan: SessionPlan,
    workers: number,
  ): readonly [states: SessionStates, leave: () => void] {
    const ofAll = this.bounds.sessionBytesPerWorker * workers;
    const arena = this.#arenaOf(ofAll);
    const { document, protocol, neuronsOfReports, arrayBytes } = plan;
    this.#check(client, arrayBytes + bytesOfSession(plan), ofAll);
    const leave = this.#shares.take(client, arrayBytes);
    const leaveStates = this.#shares.take(client, bytesOfSession(plan));
    const pieces: Piece[] = [];
    const giveBack = () => {
      for (const piece of pieces) arena.giveBack(piece);
      leave();
    };
    const count = (own: string, bytes: number) => {
      this.#check(own, bytes, ofAll);
      return this.#shares.take(own, bytes);
    };
    let states: SessionStates;
    try {
      const moved = withMovedArrays({ document, protocol, neuronsOfReports }, (bytes) => {
        pieces.push(arena.take(bytes));
        return pieces.at(-1)!;
      });
      states = new SessionStates({ ...plan, ...moved }, arena, count, giveBack);
    } catch (error) {
      giveBack();
      leaveStates();
      throw error;
    }
    return [states, states.enter(client, leaveStates)];
  }

  /** @throws CodedError QUEUE_FULL if the system refuses the memory */
  #arenaOf(bytes: number): Arena {
    try {
      return (this.#arena ??= new Arena(bytes));
    } catch (error) {
      if (!this.#isRefused) {
        new Logger(SessionMemory.name).error(
          `The system refuses ${inMb(bytes)} for sessions: ${String(error)}`,
        );
      }
      this.#isRefused = true;
      throw queueFull('the system has no memory for sessions', RETRY_AFTER_S);
    }
  }

  /** @throws CodedError TOO_EXPENSIVE, QUEUE_FULL */
  #check(client: string, needed: number, ofAll: number): void {
    const maxBytes = Math.min(this.bounds.sessionBytesPerClient, ofAll);
    const takes = `the session takes ${inMb(needed)} of memory`;
    if (needed > maxBytes) {
      throw new CodedError(
        'TOO_EXPENSIVE',
        `With its inputs and reports ${takes}; at most ${inMb(maxBytes)} are allowed. With fewer stimulated neurons it would fit.`,
        { path: '/inputs' },
      );
    }
    const heldBytes = this.#shares.of(client);
    if (heldBytes + needed > maxBytes) {
      throw queueFull(
        `${takes}, others of this client have ${inMb(heldBytes)}, and ${inMb(maxBytes)} are allowed`,
        RETRY_AFTER_S,
      );
    }
    const limit = limitFor(heldBytes, ofAll);
    if (this.#shares.ofAll + needed > limit) {
      throw queueFull(
        `${takes}, all others have ${inMb(this.#shares.ofAll)}, and ${inMb(limit)} are allowed`,
        RETRY_AFTER_S,
      );
    }
  }
}

/**
 * States of a session and its branches. A branch continues from a state of its parent, so several sessions can hold
 * one state. Each session adds memory for two states, so a step always finds a free one.
 */
export class SessionStates {
  /** States that no session holds. */
  readonly #free: SegmentState[] = [];
  /** Number of sessions that hold each of the other states. */
  readonly #holders = new Map<SegmentState, number>();
  /** Functions that release the bytes of sessions that have ended. */
  readonly #leaving: (() => void)[] = [];
  /** Functions that free stored neurons. */
  readonly #stored = new Set<() => void>();
  #sessions = 0;
  /** Number of readers of the plan's arrays, which may outlast the sessions. */
  #readers = 0;

  /**
   * @param plan its arrays are in the arena
   * @param onEmpty called when the last session has ended and nobody reads its arrays
   */
  constructor(
    readonly plan: SessionPlan,
    private readonly arena: Arena,
    private readonly count: (client: string, bytes: number) => () => void,
    private readonly onEmpty: () => void,
  ) {}

  /**
   * Allocates memory for one more session.
   * @param leave releases its bytes
   * @returns a function to call once when the session has ended
   * @throws CodedError QUEUE_FULL
   */
  enter(client: string, leave = this.count(client, bytesOfSession(this.plan))): () => void {
    const states: SegmentState[] = [];
    try {
      while (states.length < STATES_OF_SESSION) states.push(this.#newState());
    } catch (error) {
      leave();
      for (const state of states) this.arena.giveBack(pieceOf(state));
      this.#endIfUnused();
      throw error;
    }
    this.#free.push(...states);
    this.#sessions++;
    return () => {
      this.#leaving.push(leave);
      this.#settle();
    };
  }

  /**
   * Stores neurons that a step names, for as long as the plan.
   * @returns the stored neurons, and a function that frees them early if the step fails
   * @throws CodedError QUEUE_FULL
   */
  keep(client: string, neurons: Uint32Array): readonly [stored: Uint32Array, forget: () => void] {
    const leave = this.count(client, roomFor(neurons.byteLength));
    try {
      const piece = this.arena.take(neurons.byteLength);
      const stored = new Uint32Array(piece.buffer, piece.byteOffset, neurons.length);
      stored.set(neurons);
      const forget = () => {
        if (!this.#stored.delete(forget)) return;
        this.arena.giveBack(piece);
        leave();
      };
      this.#stored.add(forget);
      return [stored, forget];
    } catch (error) {
      leave();
      throw error;
    }
  }

  hold(): () => void {
    this.#readers++;
    return () => {
      this.#readers--;
      this.#endIfUnused();
    };
  }

  /** @returns memory for the state that a step will write */
  take(): SegmentState {
    const state = this.#free.pop();
    if (state === undefined) throw new Error('no state is free');
    this.#holders.set(state, 1);
    return state;
  }

  /** Called when one more session holds a state. */
  share(state: SegmentState): void {
    this.#holders.set(state, this.#holders.get(state)! + 1);
  }

  giveBack(state: SegmentState): void {
    const others = this.#holders.get(state)! - 1;
    if (others > 0) {
      this.#holders.set(state, others);
      return;
    }
    this.#holders.delete(state);
    this.#free.push(state);
    this.#settle();
  }

  /**
   * Frees the memory of ended sessions. A worker may still write to a state of one, so this waits until there is a free
   * state for the next step of each session that goes on.
   */
  #settle(): void {
    while (
      this.#leaving.length > 0 &&
      this.#free.length >= STATES_OF_SESSION + this.#sessions - this.#leaving.length
    ) {
      for (const state of this.#free.splice(0, STATES_OF_SESSION)) this.arena.giveBack(pieceOf(state));
      this.#leaving.shift()!();
      this.#sessions--;
      this.#endIfUnused();
    }
  }

  #endIfUnused(): void {
    if (this.#sessions > 0 || this.#readers > 0) return;
    for (const forget of this.#stored) forget();
    this.onEmpty();
  }

  #newState(): SegmentState {
    const { brain: brainBytes, cursors: cursorBytes } = this.plan.stateBytes;
    const brainRoom = roomFor(brainBytes);
    const { buffer, byteOffset } = this.arena.take(brainRoom + cursorBytes);
    return {
      brain: new Uint8Array(buffer, byteOffset, brainBytes),
      cursors: new Uint32Array(buffer, byteOffset + brainRoom, cursorBytes / Uint32Array.BYTES_PER_ELEMENT),
    };
  }
}

/** Bytes of a session without the arrays of the plan. */
function bytesOfSession({ stateBytes: { brain, cursors } }: SessionPlan): number {
  return STATES_OF_SESSION * roomFor(roomFor(brain) + cursors);
}

function pieceOf({ brain, cursors }: SegmentState): Piece {
  const piece = brain as Piece;
  return new Uint8Array(piece.buffer, piece.byteOffset, roomFor(piece.byteLength) + cursors.byteLength);
}

function roomFor(bytes: number): number {
  return UNIT_BYTES * Math.max(1, Math.ceil(bytes / UNIT_BYTES));
}

function inMb(bytes: number): string {
  return `${(bytes / BYTES_PER_MB).toFixed(1)} MB`;
}
