/**
 * From an experiment to the bytes of its answer: draws the input events, simulates, reads out, writes the body of
 * POST /api/v1/run. The body holds nothing that depends on the machine or the moment.
 */
import type { Connectome } from '../../connectome/connectome.js';
import { modelId } from '../../connectome/model-id.js';
import { drawInputEvents, type DrawInputEvents, type InputEvents } from '../../experiment/input-events.js';
import type { Protocol } from '../../experiment/protocol.js';
import { type DriveDefinition, drivesOf, readDrives } from './drives.js';
import { experimentOf, type Experiment, type View } from './experiment.js';
import { FIELDS } from './fields.js';
import { JsonBytes } from './json-bytes.js';
import { FRAME_MS, rasterDigest, Readout, type DetailedReading, type Reading } from './readout.js';
import { protocolOf } from './protocol.js';
import { digestWithout, runId } from './run-id.js';
import type { SimulationEngine, SpikeRaster } from '../../engine/simulation.js';

/** Roughly what a body without frames takes, what a frame adds, and what a spike adds at most. */
const HEAD_BYTES = 4096;
const FRAME_BYTES = 512;
const SPIKE_BYTES = 12;
const FRAMES_AT_MOST = FIELDS.duration_ms.allowed.at(-1)! / FRAME_MS;

export class ExperimentRunner {
  readonly #readout: Readout;
  readonly #digest: string;
  readonly #modelId: string;
  readonly #drives: readonly DriveDefinition[];
  readonly #draw: DrawInputEvents;
  readonly #silenced: Uint32Array;

  /**
   * @param draw a faster way to the same events
   * @param silenced neurons whose outputs are cut; the model and the ids of the runs are then others
   */
  constructor(
    private readonly connectome: Connectome,
    private readonly engine: SimulationEngine,
    {
      draw = drawInputEvents,
      silenced = new Uint32Array(0),
    }: { readonly draw?: DrawInputEvents; readonly silenced?: Uint32Array } = {},
  ) {
    this.#readout = new Readout(connectome);
    this.#drives = drivesOf(connectome.metadata.channels.map(({ id }) => id));
    this.#digest = digestWithout(connectome, silenced);
    this.#modelId = modelId({ metadata: connectome.metadata, digest: this.#digest });
    this.#draw = draw;
    this.#silenced = silenced;
  }

  protocolOf(experiment: Experiment): Protocol {
    return protocolOf(this.connectome, experiment, this.#silenced);
  }

  inputEventsOf(experiment: Experiment): InputEvents {
    return this.#draw(this.protocolOf(experiment), (i) => this.connectome.neuronId(i));
  }

  simulate(experiment: Experiment, inputEvents: InputEvents): SpikeRaster {
    return this.engine.simulate(inputEvents, this.protocolOf(experiment));
  }

  /**
   * @returns the body as UTF-8 JSON. view=full is view=drive with exactly two more members, `frames` and
   *   `top_types`, at its end.
   */
  body(
    experiment: Experiment,
    view: View,
    inputEvents: InputEvents,
    raster: SpikeRaster,
  ): Uint8Array<ArrayBuffer> {
    const stimulated = inputEvents.stimulated;
    if (view === 'drive') {
      const json = new JsonBytes(HEAD_BYTES);
      this.#writeHead(
        json,
        experiment,
        stimulated.length,
        raster,
        this.#readout.read(raster, experiment.duration_ms),
      );
      json.text('}');
      return json.finish();
    }
    const reading = this.#readout.readInDetail(raster, experiment.duration_ms, stimulated);
    const json = new JsonBytes(HEAD_BYTES + FRAMES_AT_MOST * FRAME_BYTES + SPIKE_BYTES * raster.steps.length);
    this.#writeHead(json, experiment, stimulated.length, raster, reading);
    writeFrames(json, raster, reading);
    writeTopTypes(json, reading);
    json.text('}');
    return json.finish();
  }

  #writeHead(
    json: JsonBytes,
    experiment: Experiment,
    stimulatedNeurons: number,
    raster: SpikeRaster,
    reading: Reading,
  ): void {
    const head = {
      id: runId(this.#digest, experiment),
      model: this.#modelId,
      // In the order of the fields, not in that of the request.
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

function writeFrames(json: JsonBytes, raster: SpikeRaster, { frames }: DetailedReading): void {
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

function writeTopTypes(json: JsonBytes, { topTypes }: DetailedReading): void {
  const types = topTypes.map((top) => ({
    type: top.type,
    super_class: top.superClass,
    neurons: top.neurons,
    responding: top.responding,
    spikes: top.spikes,
    rate_hz: top.rateHz,
    stimulated: top.stimulated,
  }));
  json.text(`,"top_types":${JSON.stringify(types)}`);
}
