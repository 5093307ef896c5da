/** npm run preset runs an experiment of version 1, as POST /api/v1/run does, here or on a service. */
import type { Experiment, View } from '../../experiments/presets/experiment.js';
import { FIELDS, QUERY_FIELDS, type Field } from '../../experiments/presets/fields.js';
import { ExperimentRunner } from '../../experiments/presets/run-body.js';
import { describeValue } from '../../engine/errors.js';
import { address, choice, defineCommand, demand, flag, integer, text } from './command.js';
import { allowedBy, isAllowedBy } from '../../engine/schema/allowed-values.js';
import { presetTable, type PresetModel, type PresetRun } from './preset-table.js';
import { readConnectome, servedFile } from './read-connectome.js';
import { Service } from './service.js';
import { compiledSimulators } from './simulators.js';

const { stimulus, duration_ms: duration, intensity, seed } = FIELDS;
/** An option for a numeric field. The number has no exponent, sign or blanks. */
const numberOf = <F extends Field>(placeholder: string, help: string, field: F) =>
  text(placeholder, help, {
    default: field.default as number,
    read: (given: string) => {
      const isNumber = (field.type === 'number' ? /^(\d+\.?\d*|\.\d+)$/ : /^\d{1,16}$/).test(given);
      return isNumber && isAllowedBy(field, Number(given)) ? Number(given) : undefined;
    },
    allowed: allowedBy(field)!,
  });

export const command = defineCommand({
  name: 'preset',
  summary:
    'Runs a preset of version 1: a stimulus, rates of channels, drives made of them.\n' +
    `Stimuli: ${stimulus.enum.join(' ')}`,
  positionals: { usage: '[STIMULUS]', help: `One of these; ${stimulus.default} by default.` },
  options: {
    duration: numberOf('MS', `${duration.label}: ${duration.enum.join(', ')}.`, duration),
    intensity: numberOf('X', `${intensity.label}, ${intensity.minimum} to ${intensity.maximum}.`, intensity),
    seed: integer(`${seed.label}, ${seed.minimum} to ${seed.maximum}.`, [seed.minimum, seed.maximum], {
      default: seed.default,
    }),
    connectome: text('FILE', 'Connectome to use; by default CONNECTOME_FILE.'),
    url: address('Use the service at this URL instead.'),
    json: flag('Print the HTTP body.'),
    view: choice(QUERY_FIELDS.view.enum, 'Members of the HTTP body.', {
      default: QUERY_FIELDS.view.default,
    }),
  },
  async run(options, [name = stimulus.default], { environment, print, progress }) {
    const { url, connectome, json, view } = options;
    demand(
      isAllowedBy(stimulus, name),
      `the stimulus should be ${allowedBy(stimulus)}, found ${describeValue(name)}`,
    );
    demand(
      url === undefined || connectome === undefined,
      '--url cannot be combined with --connectome: a service uses its own connectome',
    );
    const experiment = {
      stimulus: name,
      duration_ms: options.duration,
      intensity: options.intensity,
      seed: options.seed,
    } as Experiment;
    const answer =
      url === undefined
        ? await computed(connectome ?? (await servedFile(environment)), experiment, view)
        : await asked(new Service(url, progress), experiment, view);
    if (json) print(answer.body);
    else print(presetTable(JSON.parse(answer.body) as PresetRun, await answer.model()));
  },
});

interface PresetAnswer {
  /** The body of the answer to POST /api/v1/run. */
  readonly body: string;
  model(): Promise<PresetModel>;
}

async function computed(path: string, experiment: Experiment, view: View): Promise<PresetAnswer> {
  const { connectome } = await readConnectome(path);
  const { draw, engineOf } = compiledSimulators();
  const runner = new ExperimentRunner(connectome, engineOf(connectome), draw);
  const { bytes } = runner.body(experiment, view, runner.simulate(experiment));
  return { body: new TextDecoder().decode(bytes), model: async () => connectome.metadata };
}

async function asked(service: Service, experiment: Experiment, view: View): Promise<PresetAnswer> {
  const { client, patience } = service;
  const run = await service.asked(client.run(experiment, { ...patience, view }));
  return { body: JSON.stringify(run), model: () => service.asked(client.model(patience)) };
}
