import { LRUCache } from 'lru-cache';
import type { Connectome } from '../../engine/connectome/connectome.js';
import { getOrBegin } from '../../engine/get-or-insert.js';
import { NodeSetResolver } from '../../engine/connectome/node-set-resolver.js';
import type { ExperimentDocument } from '../../experiments/document/document.js';
import { parseDocument } from '../../experiments/document/parse-document.js';
import type { ExperimentLimits } from '../../experiments/plan/experiment-limits.js';
import { planInParts, type ExperimentPlan } from '../../experiments/plan/plan.js';
import { parseSessionDocument, planSession, type SessionPlan } from '../../experiments/plan/session-plan.js';
import { ChunkRunner } from '../../experiments/run/chunk-runner.js';
import { inTurns, type Turn } from '../../experiments/run/turn.js';
import { parseJson, refuseRepeatedMember } from '../../engine/schema/json-text.js';
import type { InParts } from '../../engine/parts.js';
import { ClientLines } from '../queue/client-shares.js';
import type { AcceptedJob, DocumentLimits } from './messages.js';

/** Number of jobs whose plans are cached, usually more than are computed at a time. */
const KEPT_JOBS = 8;

/** The work to whose client the planning time is charged. */
interface PlanningWork {
  readonly client: string;
  readonly turn: Turn;
}

interface PlannedJob {
  readonly plan: ExperimentPlan;
  readonly conditions: ChunkRunner;
}

/** Plans documents. Those of one client are planned one after another, because planning takes memory. */
export class Planner {
  readonly clientLines = new ClientLines();
  readonly #jobs = new LRUCache<string, Promise<PlannedJob>>({ max: KEPT_JOBS });

  constructor(private readonly connectome: Connectome) {}

  /** Plans a session; see plan. */
  planSession(work: PlanningWork, text: string | undefined, limits: DocumentLimits): Promise<SessionPlan> {
    const parse = (document: unknown) => parseSessionDocument(document, limits, this.#channels);
    return this.#planOfText(work, text, parse, (parsed) => planSession(this.connectome, parsed, limits));
  }

  /** @param text JSON text; undefined for a document of defaults */
  plan(work: PlanningWork, text: string | undefined, limits: DocumentLimits): Promise<ExperimentPlan> {
    const parse = (document: unknown) => parseDocument(document, limits, this.#channels);
    return this.#planOfText(work, text, parse, (parsed) => this.#planning(parsed, limits));
  }

  /** Chunks of a job that begin together share one plan. */
  async planOfJob(work: PlanningWork, job: AcceptedJob): Promise<PlannedJob> {
    const { id, document, limits } = job;
    const known = this.#jobs.get(id);
    // The work that was planning may have been stopped; this one then plans itself.
    if (known !== undefined) return known.catch(() => this.planOfJob(work, job));
    const planning = async () => {
      const plan = await inTurns(work.turn, this.#planning(document, limits));
      return { plan, conditions: new ChunkRunner(plan) };
    };
    return getOrBegin(this.#jobs, id, () => this.clientLines.afterOthers(work.client, planning));
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
    return this.clientLines.afterOthers(client, async () => {
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
}
