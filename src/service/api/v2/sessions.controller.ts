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
import type { Session } from '../../../experiments/sessions/session.js';
import { parseBranch, parseStep } from '../../../experiments/sessions/step.js';
import { ModelHealth } from '../../health/model-health.js';
import { apiPath, type ApiVersion } from '../../http/api-versions.js';
import { publicPrefix } from '../../http/public-address.js';
import { DOCUMENT_ROUTE, EACH_MEMBER_ONCE } from '../../http/request-body.js';
import { withoutIdleLimit } from '../../http/request-watch.js';
import { JSON_TYPE } from '../../http/static-body.js';
import { Limits } from '../../limits/limits.js';
import { Sessions } from '../../sessions/sessions.js';
import { ApiOperationOf } from './operations.js';
import { dtoOf } from '../../http/request-fields.js';
import { STEP_QUERY } from '../../../experiments/formats/queries.js';
import { SessionsService } from './sessions.service.js';

const NOT_STORED = { 'content-type': JSON_TYPE, 'cache-control': 'no-store' };

/** The query of POST /api/v2/sessions/{session}/steps. */
export class StepQuery extends dtoOf(STEP_QUERY) {}

@ApiTags('Sessions')
@Controller({ path: 'sessions', version: '2' satisfies ApiVersion })
export class SessionsController {
  constructor(
    private readonly service: SessionsService,
    private readonly sessions: Sessions,
    private readonly health: ModelHealth,
    private readonly limits: Limits,
  ) {}

  @Post()
  @ApiOperationOf('openSession')
  @HttpCode(HttpStatus.CREATED)
  @RouteConfig(DOCUMENT_ROUTE)
  async create(@Res() reply: FastifyReply): Promise<void> {
    this.#created(reply, await this.service.open(reply));
  }

  @Get(':session')
  @ApiOperationOf('getSession')
  @Header('cache-control', 'no-store')
  status(@Param('session') name: string): object {
    return this.#statusOf(this.service.find(name).session);
  }

  @Delete(':session')
  @ApiOperationOf('endSession')
  @Header('cache-control', 'no-store')
  end(@Param('session') name: string): object {
    const served = this.service.find(name);
    const status = this.#statusOf(served.session);
    this.sessions.end(served);
    return status;
  }

  @Get(':session/document')
  @ApiOperationOf('getSessionDocument')
  async document(@Param('session') name: string, @Res() reply: FastifyReply): Promise<void> {
    const bytes = await this.service.document(this.service.find(name), reply);
    reply.headers(NOT_STORED).send(Buffer.from(bytes.buffer));
  }

  @Post(':session/steps')
  @ApiOperationOf('stepSession')
  @RouteConfig(EACH_MEMBER_ONCE)
  @HttpCode(HttpStatus.OK)
  async step(
    @Param('session') name: string,
    @Query() { drive }: StepQuery,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    this.health.modelForRuns();
    const served = this.service.find(name);
    const step = parseStep(reply.request.body ?? {});
    this.sessions.touch(served);
    const answer = await withoutIdleLimit(reply.request, () =>
      this.service.step(served, step, drive === 'true', reply),
    );
    this.sessions.touch(served);
    this.sessions.steps.next({ durationMs: step.duration_ms, tookMs: reply.elapsedTime });
    reply.headers(NOT_STORED).send(answer);
  }

  @Get(':session/events')
  @ApiOperationOf('watchSession')
  events(@Param('session') name: string, @Res() reply: FastifyReply): void {
    this.health.modelForRuns();
    const served = this.service.find(name);
    const status = JSON.stringify(this.#statusOf(served.session));
    // Before the headers, because a refusal is JSON.
    const events = this.service.watch(served, status, reply.request);
    // The last header tells nginx not to buffer.
    reply
      .headers({ ...NOT_STORED, 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' })
      .send(events);
  }

  @Post(':session/branches')
  @ApiOperationOf('branchSession')
  @RouteConfig(EACH_MEMBER_ONCE)
  @HttpCode(HttpStatus.CREATED)
  async branch(@Param('session') name: string, @Res() reply: FastifyReply): Promise<void> {
    this.health.modelForRuns();
    const served = this.service.find(name);
    const changes = parseBranch(reply.request.body ?? {});
    this.#created(reply, await this.service.branch(served, changes, reply));
  }

  #created(reply: FastifyReply, session: Session): void {
    reply
      .headers({
        ...NOT_STORED,
        location: `${publicPrefix(reply.request)}${apiPath('2', 'sessions')}/${session.name}`,
      })
      .send(this.#statusOf(session));
  }

  #statusOf(session: Session): object {
    return { ...session.status, idle_s: this.limits.sessionIdleMs / 1000 };
  }
}
