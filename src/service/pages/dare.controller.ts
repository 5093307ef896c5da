import { readdirSync } from 'node:fs';
import { Controller, Get, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { LRUCache } from 'lru-cache';
import { CodedError, notFound } from '../../engine/errors.js';
import { mapped } from '../../engine/mapped.js';
import { modelId } from '../../engine/connectome/model-id.js';
import { darePicture } from '../../experiments/figures/dare-figure.js';
import { drivesOf, readDrives } from '../../experiments/presets/drives.js';
import { experimentOf } from '../../experiments/presets/experiment.js';
import { asInRun, lesionDocument } from '../../experiments/presets/lesion-document.js';
import { pngInThread } from '../../workers/figures/png.js';
import { ExperimentsService } from '../api/v2/experiments.service.js';
import { type LoadedModel, ModelHealth, perModel } from '../health/model-health.js';
import { withoutIdleLimit } from '../http/request-watch.js';
import { REVALIDATE, StaticBody } from '../http/static-body.js';
import { type Dare, dareIn, previewPath } from './dare.js';
import { PAGE_DIRECTORY } from './pages.controller.js';

const MAX_PICTURES = 64;
const WIDTH_PX = 1200;
/** Price of drawing a picture: a tenth of a second of CPU time. */
const DRAWING_MS = 5_000;

/** A condition of the answer, whose reports are of channels. */
interface Condition {
  readonly index?: number;
  readonly reports: Readonly<Record<string, readonly [{ readonly rate_hz: { readonly mean: number } }]>>;
}

/**
 * Draws the preview that sites show beside the link of a dare. It computes what the page would ask for, so whoever opens
 * the link gets a stored answer. The client that asks first pays.
 */
@ApiExcludeController()
@Controller('dare')
export class DareController {
  readonly #picturesOf = perModel(() => new LRUCache<string, StaticBody>({ max: MAX_PICTURES }));
  readonly #usual = usualPreview();

  constructor(
    private readonly health: ModelHealth,
    private readonly experiments: ExperimentsService,
  ) {}

  /** Leads to the picture of all pages if the dare is not of this brain, or cannot be computed now. */
  @Get('preview.png')
  async preview(@Res() reply: FastifyReply): Promise<void> {
    const { request } = reply;
    try {
      const model = this.health.model();
      const dare = dareIn(request.query, model.connectome);
      if (dare === undefined) throw notFound('There is no such dare with this brain.');
      const [pictures, path] = [this.#picturesOf(model), previewPath(dare)];
      const picture =
        pictures.get(path) ?? (await withoutIdleLimit(request, () => this.#draw(model, dare, reply)));
      pictures.set(path, picture);
      await picture.send(reply);
    } catch (error) {
      if (!(error instanceof CodedError) || this.#usual === undefined) throw error;
      reply.header('cache-control', 'no-store').redirect(this.#usual, 302);
    }
  }

  async #draw(model: LoadedModel, { stimulus, types }: Dare, reply: FastifyReply): Promise<StaticBody> {
    const { metadata } = model.connectome;
    const channels = metadata.channels.map(({ id }) => id);
    const run = { ...experimentOf({}), stimulus: stimulus.id };
    const document = lesionDocument(run, stimulus.nominalRateHz, channels, types);
    const lines = (await this.experiments.lines(document, reply)) as Condition[];
    const drives = lines
      .filter((line) => line.index !== undefined)
      .map(({ reports }) => {
        const rates = mapped(reports, ([group]) => asInRun(group.rate_hz.mean));
        return readDrives(rates, drivesOf(channels));
      });
    // There is no second condition if the silenced neurons never spike.
    const [intact, lesioned = intact!] = drives;
    const svg = darePicture({
      stimulus: stimulus.label,
      types,
      model: modelId(model.connectome),
      intact: intact!,
      lesioned,
    });
    // A stored answer is free, a picture is not.
    const draw = () => pngInThread({ svg, widthPx: WIDTH_PX });
    const png = await this.experiments.paying(DRAWING_MS, reply, draw);
    return new StaticBody(png, 'image/png', REVALIDATE);
  }
}

/** The picture of all pages, relative to a preview; undefined if the pages were not built. */
function usualPreview(): string | undefined {
  try {
    const name = readdirSync(new URL('assets/', PAGE_DIRECTORY)).find((file) =>
      /^preview.*\.jpg$/.test(file),
    );
    return name && `../assets/${name}`;
  } catch {
    return undefined;
  }
}
