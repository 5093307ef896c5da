import {
  Controller,
  Delete,
  Get,
  Header,
  HttpCode,
  HttpStatus,
  Param,
  Post,
  Query,
  Res,
} from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CodedError } from '../../../errors.js';
import type { SessionPlan } from '../../../experiments/plan/session-plan.js';
import { Session, type StepHost } from '../../../sessions/session.js';
import { Sessions } from '../../../sessions/sessions.js';
import { parseBranch, parseStep } from '../../../sessions/step.js';
import { Environment } from '../../config/environment.js';
import { type LoadedModel, ModelHealth } from '../../health/model-health.js';
import { apiPath, type ApiVersion } from '../../http/api-versions.js';
import { DOCUMENT_ROUTE, EACH_MEMBER_ONCE } from '../../http/request-body.js';
import { whenEnded, withoutIdleLimit } from '../../http/request-watch.js';
import { JSON_TYPE } from '../../http/static-body.js';
import { BrainBudget, type Charge } from '../../limits/brain-budget.js';
import { clientOf, siteOf } from '../../limits/client-address.js';
import { DOCUMENT_LIMIT_BYTES, Limits } from '../../limits/limits.js';
import { ExperimentsService } from './experiments.service.js';
import {
  ApiSessionBranch,
  ApiSessionDocument,
  ApiSessionEnd,
  ApiSessions,
  ApiSessionStatus,
  ApiSessionStep,
  StepQuery,
} from './sessions.api.js';

/** Steps are paid in advance in pieces of this length: a store that replicas share is not asked for each of them. */
const PREPAID_MS = 1_000;
const NOT_STORED = { 'content-type': JSON_TYPE, 'cache-control': 'no-store' };

/** The last payment of a session, and what it bought. */
interface Payment {
  readonly charge: Charge;
  readonly brainMs: number;
}

@ApiTags('Sessions')
@Controller({ path: 'sessions', version: '2' satisfies ApiVersion })
export class SessionsController {
  readonly #models = new WeakMap<Session, LoadedModel>();
  readonly #payments = new WeakMap<Session, Payment>();

  constructor(
    private readonly sessions: Sessions,
    private readonly experiments: ExperimentsService,
    private readonly budget: BrainBudget,
    private readonly health: ModelHealth,
    private readonly limits: Limits,
    private readonly environment: Environment,
  ) {}

  @Post()
  @ApiSessions()
  @HttpCode(HttpStatus.CREATED)
  @RouteConfig(DOCUMENT_ROUTE)
  async create(@Res() reply: FastifyReply): Promise<void> {
    const { request } = reply;
    if (this.environment.BACKEND === 'gpu') {
      const message = 'Sessions are computed on the CPU, and this service insists on its GPU (BACKEND=gpu).';
      throw new CodedError('MODEL_FAILED', message);
    }
    const plan = await this.experiments.planSession(request);
    await this.#open(reply, async (model, signal) => {
      const charge =
        plan.priceMs > 0 ? await this.budget.charge(clientOf(request), plan.priceMs, reply) : undefined;
      const limits = {
        ...this.limits,
        documentBytes: DOCUMENT_LIMIT_BYTES,
        brainSeconds: this.#brainSeconds,
      };
      const { connectome, queue } = model;
      const session = await Session.open(plan, { connectome, queue, owner: siteOf(request), limits }, signal);
      await charge?.settle(session.startPriceMs);
      return session;
    });
  }

  @Get(':session')
  @ApiSessionStatus()
  @Header('cache-control', 'no-store')
  status(@Param('session') name: string): object {
    return this.#statusOf(this.#find(name));
  }

  @Delete(':session')
  @ApiSessionEnd()
  @Header('cache-control', 'no-store')
  end(@Param('session') name: string): object {
    const session = this.#find(name);
    const status = this.#statusOf(session);
    this.sessions.end(session);
    return status;
  }

  @Get(':session/document')
  @ApiSessionDocument()
  @Header('cache-control', 'no-store')
  document(@Param('session') name: string): object {
    return this.#find(name).document();
  }

  @Post(':session/steps')
  @ApiSessionStep()
  @RouteConfig(EACH_MEMBER_ONCE)
  @HttpCode(HttpStatus.OK)
  async step(
    @Param('session') name: string,
    @Query() { drive }: StepQuery,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    this.health.modelForRuns();
    const session = this.#find(name);
    const step = parseStep(reply.request.body ?? {});
    this.sessions.touch(session);
    const answer = await session.step(step, drive === 'true', this.#hostOf(reply));
    this.sessions.touch(session);
    this.sessions.steps.next({ durationMs: step.duration_ms, tookMs: reply.elapsedTime });
    reply.headers(NOT_STORED).send(answer);
  }

  @Post(':session/branches')
  @ApiSessionBranch()
  @RouteConfig(EACH_MEMBER_ONCE)
  @HttpCode(HttpStatus.CREATED)
  async branch(@Param('session') name: string, @Res() reply: FastifyReply): Promise<void> {
    this.health.modelForRuns();
    const session = this.#find(name);
    const changes = parseBranch(reply.request.body ?? {});
    await this.#open(reply, () => session.branch(changes, this.#hostOf(reply)));
  }

  /** Makes room for a session, opens it, and tells where it is. */
  async #open(
    reply: FastifyReply,
    open: (model: LoadedModel, signal: AbortSignal) => Promise<Session>,
  ): Promise<void> {
    const { request } = reply;
    const model = this.health.modelForRuns();
    const leave = this.sessions.admit(siteOf(request), model.queue.trialsAtOnce);
    const endTask = this.health.beginLongTask();
    const gone = new AbortController();
    const abort = () => gone.abort(new CodedError('RUN_CANCELLED', 'The client has gone.'));
    const drain = () => gone.abort(this.health.ending.reason);
    const stopListening = whenEnded(request, abort);
    this.health.ending.addEventListener('abort', drain);
    try {
      const session = await withoutIdleLimit(request, () => open(model, gone.signal));
      gone.signal.throwIfAborted();
      this.#models.set(session, model);
      this.sessions.keep(session, () => {
        leave();
        void this.#settle(session);
      });
      reply
        .headers({ ...NOT_STORED, location: `${apiPath('2', 'sessions')}/${session.name}` })
        .send(this.#statusOf(session));
    } catch (error) {
      leave();
      throw error;
    } finally {
      stopListening();
      this.health.ending.removeEventListener('abort', drain);
      endTask();
    }
  }

  /** @throws CodedError SESSION_ENDED, also where its model is served no longer */
  #find(name: string): Session {
    const session = this.sessions.find(name);
    if (this.#models.get(session) !== this.health.model()) this.sessions.end(session);
    return this.sessions.find(name);
  }

  #statusOf(session: Session): object {
    return { ...session.status, idle_s: this.limits.sessionIdleMs / 1000 };
  }

  /** As an experiment that is answered at once may have: its document is one. */
  get #brainSeconds(): number {
    const { EXPERIMENT_BRAIN_SECONDS: atOnce, EXPERIMENT_BRAIN_SECONDS_PER_MINUTE: perMinute } =
      this.environment;
    return perMinute === 0 ? atOnce : Math.min(atOnce, perMinute);
  }

  #hostOf(reply: FastifyReply): StepHost {
    const { request } = reply;
    return {
      plan: (document): Promise<SessionPlan> =>
        this.experiments.planSession(request, JSON.stringify(document)),
      charge: async (session, brainMs) => {
        if (session.creditMs >= brainMs) return;
        const paidMs = Math.ceil(Math.max(PREPAID_MS, brainMs - session.creditMs));
        const charge = await this.budget.charge(clientOf(request), paidMs, reply);
        session.creditMs += paidMs;
        this.#payments.set(session, { charge, brainMs: paidMs });
      },
    };
  }

  /** Gives back what was paid and is not used, and charges what was used and is not paid. */
  async #settle(session: Session): Promise<void> {
    const payment = this.#payments.get(session);
    const usedMs = payment && Math.max(0, payment.brainMs - session.creditMs);
    if (usedMs !== undefined) await payment!.charge.settle(usedMs);
  }
}
