import { LRUCache } from 'lru-cache';
import type { Connectome } from '../../connectome/connectome.js';
import { NodeSetResolver } from '../../connectome/node-set-resolver.js';
import type { ExperimentDocument } from '../../experiments/document/document.js';
import { parseDocument } from '../../experiments/document/parse-document.js';
import type { ExperimentLimits } from '../../experiments/plan/experiment-limits.js';
import { planInParts, type ExperimentPlan } from '../../experiments/plan/plan.js';
import { parseSessionDocument, planSession, type SessionPlan } from '../../experiments/plan/session-plan.js';
import { ChunkRunner } from '../../experiments/run/chunk-runner.js';
import { inTurns, type Turn } from '../../experiments/run/turn.js';
import { parseJson } from '../../json-text.js';
import type { InParts } from '../../parts.js';
import { refuseRepeatedMember } from '../../repeated-member.js';
import type { AcceptedJob, DocumentLimits } from './messages.js';

/** Jobs whose plans are kept: more than are computed in turn, as a rule. */
const KEPT_JOBS = 8;

/** Work whose turns planning takes. */
interface PlanningWork {
  readonly client: string;
  readonly turn: Turn;
}

interface PlannedJob {
  readonly plan: ExperimentPlan;
  readonly conditions: ChunkRunner;
}

/** Makes plans of documents, those of one client one after another: a plan that is being made takes memory. */
export class Planner {
  /** The last plan of each client that is being made. */
  readonly #lastOf = new Map<string, Promise<unknown>>();
  readonly #jobs = new LRUCache<string, Promise<PlannedJob>>({ max: KEPT_JOBS });

  constructor(private readonly connectome: Connectome) {}

  /** As plan, of a session. */
  planSession(work: PlanningWork, text: string | undefined, limits: DocumentLimits): Promise<SessionPlan> {
    const parse = (document: unknown) => parseSessionDocument(document, limits, this.#channels);
    return this.#planOfText(work, text, parse, (parsed) => planSession(this.connectome, parsed, limits));
  }

  /** @param text undefined where every default is wanted */
  plan(work: PlanningWork, text: string | undefined, limits: DocumentLimits): Promise<ExperimentPlan> {
    const parse = (document: unknown) => parseDocument(document, limits, this.#channels);
    return this.#planOfText(work, text, parse, (parsed) => this.#planning(parsed, limits));
  }

  /** Chunks of a job that begin together wait for one plan. */
  async planOfJob(work: PlanningWork, job: AcceptedJob): Promise<PlannedJob> {
    const { id, document, limits } = job;
    const known = this.#jobs.get(id);
    // The work whose turns a plan took may have been stopped: the next one makes its own.
    if (known !== undefined) return known.catch(() => this.planOfJob(work, job));
    const planning = this.afterOthers(work.client, async () => {
      const plan = await inTurns(work.turn, this.#planning(document, limits));
      return { plan, conditions: new ChunkRunner(plan) };
    });
    this.#jobs.set(id, planning);
    planning.catch(() => {
      if (this.#jobs.peek(id) === planning) this.#jobs.delete(id);
    });
    return planning;
  }

  get #channels(): readonly string[] {
    return this.connectome.metadata.channels.map(({ id }) => id);
  }

  #planOfText<Parsed, Plan>(
    { client, turn }: PlanningWork,
    text = '{}',
    parse: (document: unknown) => Parsed,
    planning: (parsed: Parsed) => InParts<Plan>,
  ): Promise<Plan> {
    return this.afterOthers(client, async () => {
      const document = await turn(() => parseJson(text));
      await turn(() => refuseRepeatedMember(text));
      const parsed = await turn(() => parse(document));
      return inTurns(turn, planning(parsed));
    });
  }

  #planning(document: ExperimentDocument, limits: ExperimentLimits) {
    const { connectome } = this;
    return planInParts(connectome, document, new NodeSetResolver(connectome, document), limits);
  }

  /** @param line a client, or what else has a line of its own: `plan` begins when all before it in the line is done */
  async afterOthers<T>(line: string, plan: () => Promise<T>): Promise<T> {
    const planned = (this.#lastOf.get(line) ?? Promise.resolve()).then(plan);
    const settled = planned.then(
      () => undefined,
      () => undefined,
    );
    this.#lastOf.set(line, settled);
    try {
      return await planned;
    } finally {
      if (this.#lastOf.get(line) === settled) this.#lastOf.delete(line);
    }
  }
}
