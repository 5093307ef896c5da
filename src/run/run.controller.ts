import { Body, Controller, HttpCode, Post, Query, Req, Res } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { clientOf } from '../http/client-address.js';
import { acceptsGzip } from '../http/content-encoding.js';
import { giveBackUnlessBegun, RATE_LIMITED } from '../http/rate-limit.js';
import { isWarmUp } from '../http/warm-up.js';
import { ApiRun } from './run.api.js';
import { DEFAULT_VIEW, experimentOf, RunQuery, RunRequest } from './run-request.dto.js';
import { openReport } from './run-report.js';
import { CACHE_NAME, RunService, type RunAnswer } from './run.service.js';

@ApiTags('Experiments')
@Controller('api/v1/run')
export class RunController {
  constructor(private readonly runs: RunService) {}

  @Post()
  @ApiRun()
  @HttpCode(200)
  @RouteConfig(RATE_LIMITED)
  async run(
    @Body() body: RunRequest,
    @Query() { view = DEFAULT_VIEW }: RunQuery,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const gzip = acceptsGzip(request);
    const experiment = experimentOf(body);
    const report = openReport(request, experiment, view);
    const run = this.runs.run({
      experiment,
      view,
      gzip,
      client: clientOf(request),
      gone: whenGone(request, reply),
      isWarmUp: isWarmUp(request),
    });
    const answer = await run.catch(async (error: unknown) => {
      await giveBackUnlessBegun(error, request, reply);
      throw error;
    });
    report.answer = answer;
    const bytes = gzip ? await answer.result.gzip() : answer.result.identity;
    reply.headers({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      vary: 'Accept-Encoding',
      'cache-status': `${CACHE_NAME}; ${answer.cacheStatus}`,
      'x-backend': answer.result.backend,
      'server-timing': serverTiming(answer, reply.elapsedTime),
    });
    if (gzip) reply.header('content-encoding', 'gzip');
    reply.send(bytes);
  }
}

/** The socket tells it in every case, also for a request that waits behind others on its connection. */
function whenGone({ raw: { socket } }: FastifyRequest, reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  const abort = () => controller.abort();
  if (socket.destroyed) abort();
  socket.once('close', abort);
  // A connection lives for many requests; what is answered needs no watching.
  reply.raw.once('close', () => socket.off('close', abort));
  return controller.signal;
}

function serverTiming({ timings }: RunAnswer, totalMs: number): string {
  const parts =
    timings === undefined
      ? {}
      : {
          queue: timings.queueMs,
          simulate: timings.timings.simulateMs,
          serialise: timings.timings.serialiseMs,
        };
  return Object.entries({ ...parts, total: totalMs })
    .map(([name, ms]) => `${name};dur=${ms.toFixed(2)}`)
    .join(', ');
}
