/** Sessions of this thread. There are no other clients, so they end only on request. */
import type { Connectome } from '../../src/engine/connectome/connectome.js';
import { CodedError } from '../../src/engine/errors.js';
import { packedJson } from '../../src/experiments/document/packed.js';
import type { ExperimentLimits } from '../../src/experiments/plan/experiment-limits.js';
import {
  parseSessionDocument,
  planSession,
  type SessionPlan,
} from '../../src/experiments/plan/session-plan.js';
import type { SegmentState } from '../../src/experiments/plan/trial.js';
import { inTurns, type Turn } from '../../src/experiments/run/turn.js';
import { Session, type SessionStates } from '../../src/experiments/sessions/session.js';
import {
  type Changes,
  LastStep,
  parseBranch,
  parseStep,
  type StepRequest,
} from '../../src/experiments/sessions/step.js';
import type { Computer } from './computer.js';

export type LocalLimits = ExperimentLimits & {
  readonly ids: number;
  readonly inputEventsPerBrainSecond: number;
};

const OWNER = 'tab';

interface OpenSession {
  readonly session: Session;
  readonly lastStep: LastStep;
}

export class LocalSessions {
  readonly #sessions = new Map<string, OpenSession>();
  #opened = 0;

  constructor(
    private readonly connectome: Connectome,
    private readonly computer: Computer,
    private readonly limits: LocalLimits,
  ) {}

  /** Opens a session of a document and returns its state. */
  async open(document: unknown, turn: Turn, signal: AbortSignal): Promise<object> {
    const plan = await this.#plan(document, turn);
    const { connectome, computer } = this;
    return this.#keep(
      await Session.open(
        {
          newName: () => `tab-${++this.#opened}`,
          states: statesOf(plan),
          connectome,
          runStep: (task, step) => computer.runStep(task, step),
          owner: OWNER,
          limits: { ...this.limits, documentBytes: Infinity },
        },
        signal,
      ),
    );
  }

  /** @param reads the drives if true */
  async step(name: string, request: unknown, readsDrives: boolean, turn: Turn): Promise<string> {
    const { session, lastStep } = this.#find(name);
    const step = parseStep(request);
    const known = lastStep.answerTo(step, readsDrives);
    if (known !== undefined) return textOf(await known);
    session.checkStep(step);
    lastStep.checkIsOver();
    return textOf(
      await lastStep.remember(step, readsDrives, this.#compute(session, step, readsDrives, turn)),
    );
  }

  async branch(name: string, request: unknown, turn: Turn): Promise<object> {
    const { session, lastStep } = this.#find(name);
    const changes = parseBranch(request);
    lastStep.checkIsOver();
    const branch = session.branch();
    try {
      branch.change(changes, await this.#neuronsToSilence(branch, changes, turn));
      return this.#keep(branch);
    } catch (error) {
      branch.end(error as CodedError);
      throw error;
    }
  }

  status(name: string): object {
    return this.#find(name).session.status;
  }

  /** The session so far as JSON. */
  document(name: string, turn: Turn): Promise<string> {
    return inTurns(turn, packedJson(this.#find(name).session.document()));
  }

  end(name: string): object {
    const { session } = this.#find(name);
    this.#sessions.delete(name);
    session.end(ended());
    return session.status;
  }

  #keep(session: Session): object {
    this.#sessions.set(session.name, { session, lastStep: new LastStep() });
    return session.status;
  }

  #find(name: string): OpenSession {
    const open = this.#sessions.get(name);
    if (open === undefined) throw ended();
    return open;
  }

  #plan(document: unknown, turn: Turn): Promise<SessionPlan> {
    const { connectome, limits } = this;
    const channels = connectome.metadata.channels.map(({ id }) => id);
    return inTurns(turn, planSession(connectome, parseSessionDocument(document, limits, channels), limits));
  }

  /** Computes a step. It is free of charge here, so its price does not matter. */
  async #compute(session: Session, request: StepRequest, readsDrives: boolean, turn: Turn) {
    const step = session.planStep(request, await this.#neuronsToSilence(session, request, turn));
    return (await session.run(step, readsDrives, (answer) => inTurns(turn, answer))).answer;
  }

  async #neuronsToSilence(session: Session, changes: Changes, turn: Turn) {
    const silence = session.silenceToPlan(changes);
    if (silence === undefined) return undefined;
    const text = await inTurns(turn, packedJson(silence.document));
    const { protocol } = await this.#plan(JSON.parse(text), turn);
    return silence.isWhole ? protocol.silenced : protocol.silencedWindows!.at(-1)!.neurons;
  }
}

/** Memory of a session and its branches. Each state that is given back is used again. */
function statesOf(plan: SessionPlan): SessionStates {
  const { brain: brainBytes, cursors: cursorBytes } = plan.stateBytes;
  const free: SegmentState[] = [];
  const holders = new Map<SegmentState, number>();
  const newState = (): SegmentState => ({
    brain: new Uint8Array(new SharedArrayBuffer(brainBytes)),
    cursors: new Uint32Array(new SharedArrayBuffer(cursorBytes)),
  });
  return {
    plan,
    enter: () => () => undefined,
    take: () => {
      const state = free.pop() ?? newState();
      holders.set(state, 1);
      return state;
    },
    share: (state) => holders.set(state, holders.get(state)! + 1),
    giveBack: (state) => {
      const left = holders.get(state)! - 1;
      holders.set(state, left);
      if (left === 0) free.push(state);
    },
    keep: (_, neurons) => [neurons, () => undefined],
    hold: () => () => undefined,
  };
}

function textOf(answer: Uint8Array): string {
  return new TextDecoder().decode(answer);
}

function ended(): CodedError {
  return new CodedError('SESSION_ENDED', 'There is no such session: it has ended, or another tab has it.');
}
