import { Body, Controller, HttpCode, Post, Query, Req, Res, UseGuards } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiVersion } from '../http/api-versions.js';
import { clientOf } from '../http/client-address.js';
import { whenGone } from '../http/client-gone.js';
import { CACHE_NAME } from '../http/api-headers.js';
import { acceptsGzip } from '../http/content-encoding.js';
import { isWarmUp } from '../http/warm-up.js';
import { ApiRun } from '../answers/v1/api/run.api.js';
import { RunQuery, RunRequest } from '../answers/v1/api/run-request.dto.js';
import { experimentOf } from '../answers/v1/experiment.js';
import { QUERY_FIELDS } from '../answers/v1/fields.js';
import { giveBackUnlessBegun, RunLimitGuard } from '../rate-limit/run-limit.guard.js';
import { openReport } from './run-report.js';
import { RunService, type RunAnswer } from './run.service.js';

@ApiTags('Experiments')
@Controller({ path: 'run', version: '1' satisfies ApiVersion })
export class RunController {
  constructor(private readonly runs: RunService) {}

  @Post()
  @ApiRun()
  @HttpCode(200)
  @UseGuards(RunLimitGuard)
  async run(
    @Body() body: RunRequest,
    @Query() { view = QUERY_FIELDS.view.default }: RunQuery,
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
      whenGone: (listener) => whenGone(request, listener),
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
