import { Controller, Get, Param, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CodedError, describeValue } from '../../../errors.js';
import { getOrBegin } from '../../../get-or-insert.js';
import { experimentOf } from '../../../presets/experiment.js';
import { availableStimuli } from '../../../presets/presets.js';
import { ModelHealth, perModel } from '../../health/model-health.js';
import { withoutIdleLimit } from '../../http/request-watch.js';
import { JSON_TYPE, REVALIDATE, StaticBody } from '../../http/static-body.js';
import { siteOf } from '../../limits/client-address.js';
import { RunService } from './run.service.js';

/**
 * One run of each stimulus, for the page: computed once for all readers and kept, so it costs them no run. There are as
 * many as the model has stimuli, and one without any.
 */
@ApiExcludeController()
@Controller('runs')
export class KeptRunsController {
  /** By stimulus; a run that failed is not kept. */
  readonly #runsOf = perModel(() => new Map<string, Promise<StaticBody>>());

  constructor(
    private readonly health: ModelHealth,
    private readonly runs: RunService,
  ) {}

  /** The answer to POST /api/v1/run with this stimulus and all defaults. */
  @Get(':digest/:stimulus')
  async run(
    @Param('digest') digest: string,
    @Param('stimulus') stimulus: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const model = this.health.model();
    const { connectome } = model;
    if (digest !== connectome.digest) {
      throw new CodedError(
        'NOT_FOUND',
        `There are no runs of the connectome ${describeValue(digest)}; there are of ${connectome.digest}.`,
      );
    }
    const stimuli = [...availableStimuli(connectome.metadata), 'none'] as const;
    const known = stimuli.find((each) => each === stimulus);
    if (known === undefined) {
      throw new CodedError(
        'NOT_FOUND',
        `There is no run of ${describeValue(stimulus)}; there are ${stimuli.join(', ')}.`,
      );
    }
    const compute = async () => {
      const experiment = experimentOf({ stimulus: known });
      const order = { experiment, view: 'full', gzip: true, client: siteOf(reply.request) } as const;
      const { result } = await this.runs.run(order);
      return new StaticBody(result.identity, await result.gzip(), JSON_TYPE, REVALIDATE);
    };
    const run = () => getOrBegin(this.#runsOf(model), known, compute);
    (await withoutIdleLimit(reply.request, run)).send(reply);
  }
}
