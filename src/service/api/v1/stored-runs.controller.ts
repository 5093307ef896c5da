import { Controller, Get, Param, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { describeValue, notFound } from '../../../engine/errors.js';
import { getOrBegin } from '../../../engine/get-or-insert.js';
import { experimentOf, availableStimuli } from '../../../experiments/presets/experiment.js';
import { ModelHealth, perModel } from '../../health/model-health.js';
import { withoutIdleLimit } from '../../http/request-watch.js';
import { StaticBody } from '../../http/static-body.js';
import { siteOf } from '../../limits/client-address.js';
import { RunService } from './run.service.js';

/**
 * Serves one run of each stimulus to the page. Each is computed once for all readers and stored, so it does not count
 * as a reader's run. There is one for each stimulus of the model, and one without a stimulus.
 */
@ApiExcludeController()
@Controller('runs')
export class StoredRunsController {
  /** Bodies by stimulus; a failed run is not stored. */
  readonly #runsOf = perModel(() => new Map<string, Promise<StaticBody>>());

  constructor(
    private readonly health: ModelHealth,
    private readonly runs: RunService,
  ) {}

  /** Answers like POST /api/v1/run with this stimulus and all defaults. */
  @Get(':digest/:stimulus')
  async run(
    @Param('digest') digest: string,
    @Param('stimulus') stimulus: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const model = this.health.model();
    const { connectome } = model;
    if (digest !== connectome.digest) {
      throw notFound(
        `There are no runs of the connectome ${describeValue(digest)}; there are of ${connectome.digest}.`,
      );
    }
    const stimuli = [...availableStimuli(connectome.metadata), 'none'] as const;
    const known = stimuli.find((each) => each === stimulus);
    if (known === undefined) {
      throw notFound(`There is no run of ${describeValue(stimulus)}; there are ${stimuli.join(', ')}.`);
    }
    const compute = async () => {
      const experiment = experimentOf({ stimulus: known });
      const wanted = { experiment, view: 'full', gzip: false, client: siteOf(reply.request) } as const;
      const { result } = await this.runs.run(wanted);
      return StaticBody.json(result.identity);
    };
    const run = () => getOrBegin(this.#runsOf(model), known, compute);
    await (await withoutIdleLimit(reply.request, run)).send(reply);
  }
}
