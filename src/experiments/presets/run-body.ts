/**
 * Computes a run of version 1: draws the input events, simulates, counts spikes, and writes the body of POST /api/v1/run. The
 * body depends neither on the machine nor on the time.
 */
import type { Connectome } from '../../engine/connectome/connectome.js';
import { modelId } from '../../engine/connectome/model-id.js';
import { drawInputEvents, type DrawInputEvents, stimulatedBy } from '../../engine/stimulus/input-events.js';
import { type DriveDefinition, drivesOf, readDrives } from './drives.js';
import { experimentOf, runId, type Experiment, type View, protocolOf } from './experiment.js';
import { FIELDS } from './fields.js';
import { JsonBytes } from './json-bytes.js';
import { FRAME_MS, rasterDigest, Readout, type DetailedResult, type Result } from './readout.js';
import type { SimulationEngine, SpikeRaster } from '../../engine/simulation/simulation.js';

/** Estimated sizes: of a body without frames, of a frame without spikes, and of a spike (an upper bound). */
const HEAD_BYTES = 4096;
const FRAME_BYTES = 512;
const SPIKE_BYTES = 12;
const MAX_FRAMES = FIELDS.duration_ms.enum.at(-1)! / FRAME_MS;

/** A response body as UTF-8 JSON. */
export interface RunBody {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Length of the members that both views share. The body of view=drive is these bytes and a closing brace. */
  readonly headBytes: number;
}

export class ExperimentRunner {
  readonly #readout: Readout;
  readonly #modelId: string;
  readonly #drives: readonly DriveDefinition[];

  /** @param draw a faster function for the same events */
  constructor(
    private readonly connectome: Connectome,
    private readonly engine: SimulationEngine,
    private readonly draw: DrawInputEvents = drawInputEvents,
  ) {
    this.#readout = new Readout(connectome);
    this.#drives = drivesOf(connectome.metadata.channels.map(({ id }) => id));
    this.#modelId = modelId(connectome);
  }

  simulate(experiment: Experiment): SpikeRaster {
    const protocol = protocolOf(this.connectome, experiment);
    const inputEvents = this.draw(protocol, (i) => this.connectome.neuronId(i));
    return this.engine.simulate(inputEvents, protocol);
  }

  /** The drives of any spikes in a given time. */
  drives(raster: Pick<SpikeRaster, 'neurons'>, durationMs: number): Record<string, number> {
    return readDrives(this.#readout.read(raster, durationMs).rates, this.#drives);
  }

  /** @returns the body. view=full is view=drive with exactly two more members, `frames` and `top_types`. */
  body(experiment: Experiment, view: View, raster: SpikeRaster): RunBody {
    const stimulated = stimulatedBy(protocolOf(this.connectome, experiment).inputs);
    const { duration_ms: durationMs } = experiment;
    const detailed = view === 'full' ? this.#readout.readInDetail(raster, durationMs, stimulated) : undefined;
    const reading = detailed ?? this.#readout.read(raster, durationMs);
    const frameBytes = detailed && MAX_FRAMES * FRAME_BYTES + SPIKE_BYTES * raster.steps.length;
    const json = new JsonBytes(HEAD_BYTES + (frameBytes ?? 0));
    this.#writeHead(json, experiment, stimulated.length, raster, reading);
    const headBytes = json.length;
    if (detailed !== undefined) {
      writeFrames(json, raster, detailed);
      json.text(`,"top_types":${JSON.stringify(detailed.topTypes)}`);
    }
    json.text('}');
    return { bytes: json.finish(), headBytes };
  }

  #writeHead(
    json: JsonBytes,
    experiment: Experiment,
    stimulatedNeurons: number,
    raster: SpikeRaster,
    reading: Result,
  ): void {
    const head = {
      id: runId(this.connectome.digest, experiment),
      model: this.#modelId,
      // Writes the fields in the order of their definition, not of the request.
      ...experimentOf(experiment),
      total_spikes: reading.total,
      responding_neurons: reading.responding,
      stimulated_neurons: stimulatedNeurons,
      connections: this.connectome.connectionCount,
      spikes: {
        total: reading.total,
        stimulated_neurons: stimulatedNeurons,
        responding_neurons: reading.responding,
        mean_rate_hz: reading.meanRateHz,
        digest: rasterDigest(raster),
      },
      channels: reading.rates,
      drive: readDrives(reading.rates, this.#drives),
    };
    json.text(JSON.stringify(head).slice(0, -1));
  }
}

function writeFrames(json: JsonBytes, raster: SpikeRaster, { frames }: DetailedResult): void {
  json.text(',"frames":[');
  frames.forEach(({ tMs, rates, from, to }, at) => {
    const channels = JSON.stringify(rates);
    json.text(`${at === 0 ? '' : ','}{"t":${tMs},"total":${to - from},"channels":${channels},"steps":[`);
    json.integers(raster.steps, from, to);
    json.text('],"spikes":[');
    json.integers(raster.neurons, from, to);
    json.text(']}');
  });
  json.text(']');
}
