import { promisify } from 'node:util';
import { gzip as gzipCallback } from 'node:zlib';
import { Controller, Get, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiNeurons } from '../answers/v2/api/neurons.api.js';
import { CsvEncoder } from '../answers/v2/formats/csv.js';
import { FORMATS } from '../answers/v2/formats/formats.js';
import { modelId } from '../connectome/model-id.js';
import { searchNeurons, type FoundNeuron } from '../connectome/neuron-search.js';
import { LABELS } from '../connectome/selection.js';
import { ModelHealth } from '../health/model-health.js';
import type { ApiVersion } from '../http/api-versions.js';
import { acceptsGzip } from '../http/content-encoding.js';
import { answerFormat } from './answer-format.js';
import { DEFAULT_LIMIT, NeuronQuery, patternsOf } from './neuron-query.dto.js';

const gzip = promisify(gzipCallback);
const GZIP_LEVEL = 3;
const COLUMNS = ['root_id', ...LABELS] as const;

@ApiTags('Neurons')
@Controller({ path: 'neurons', version: '2' satisfies ApiVersion })
export class NeuronsController {
  constructor(private readonly health: ModelHealth) {}

  @Get()
  @ApiNeurons()
  async neurons(
    @Query() query: NeuronQuery,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { connectome } = this.health.model();
    const format = answerFormat(query.format, request, ['json', 'csv']);
    const found = searchNeurons(connectome, patternsOf(query), {
      from: Number(query.from ?? 0),
      limit: Number(query.limit ?? DEFAULT_LIMIT),
    });
    const body =
      format === 'csv'
        ? csvOf(found.neurons)
        : Buffer.from(JSON.stringify({ model: modelId(connectome), ...found }));
    const gzipped = acceptsGzip(request);
    const { mediaType, parameters } = FORMATS[format];
    reply.headers({
      'content-type': mediaType + parameters,
      'cache-control': 'no-store',
      vary: 'Accept, Accept-Encoding',
      ...(gzipped && { 'content-encoding': 'gzip' }),
    });
    reply.send(gzipped ? await gzip(body, { level: GZIP_LEVEL }) : body);
  }
}

function csvOf(neurons: readonly FoundNeuron[]): Buffer {
  const encoder = new CsvEncoder(
    COLUMNS.map((name) => ({ name, type: 'text' })),
    ',',
  );
  const values = COLUMNS.map((name) => neurons.map((neuron) => neuron[name]));
  const rows = { condition: 0, rows: neurons.length, values, truncated: false };
  return Buffer.concat([...encoder.begin(), ...encoder.append(rows), ...encoder.end()]);
}
