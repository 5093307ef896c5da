/** The tools that agents have: the requests of the typed client, with a short text beside each answer. */
import type { Brain, ConnectionQuery, ExperimentDocument, NeuronQuery, RunRequest } from '#client';
import { checked, checkOf } from '../../src/engine/schema/check.js';
import type { Schema } from '../../src/engine/schema/json-schema.js';
import type { DryRun } from '../../src/experiments/document/result.js';
import { dryRunTable } from '../../src/tools/cli/experiment/dry-run-table.js';
import { type PresetModel, presetTable } from '../../src/tools/cli/preset-table.js';
import { Experiments } from './experiments.js';
import { ARGUMENTS, USUAL_ROWS } from './schemas.js';
import type { AskedStep, OpenSessions } from './sessions.js';
import { connectionsText, modelText, neuronsText, stateText, stepText } from './texts.js';

/** A call of a tool that is under way. */
export interface Call {
  readonly signal: AbortSignal;
  /** Longest total wait for a service that asks to wait. */
  readonly waitAtMostS: number;
  /** @param all undefined if it is not known */
  readonly report: (trialsDone: number, all: number | undefined) => void;
}

export interface ToolAnswer {
  readonly text: string;
  /** The answer of the service. */
  readonly content: object;
  readonly png?: Uint8Array;
}

interface Tool {
  readonly description: string;
  readonly inputSchema: Schema;
  readonly answer: (args: unknown, call: Call) => Promise<ToolAnswer>;
}

type Session = { readonly session: string };

/** Arguments that are requests as they stand: only the brain checks them. */
const REQUESTS: readonly Schema[] = [ARGUMENTS.run, ARGUMENTS.document, ARGUMENTS.outline];

function tool<Args>(
  inputSchema: Schema,
  description: string,
  answer: (args: Args, call: Call) => Promise<ToolAnswer>,
): Tool {
  const check = REQUESTS.includes(inputSchema) ? undefined : checkOf(inputSchema, 'The arguments');
  return {
    description,
    inputSchema,
    answer: async (args, call) => answer((check ? checked(check, args) : args) as Args, call),
  };
}

/** Adds a text to an answer of the brain. */
async function told<T extends object>(
  answer: Promise<T>,
  textOf: (content: T) => string,
): Promise<ToolAnswer> {
  const content = await answer;
  return { text: textOf(content), content };
}

type Tools = Readonly<Record<string, Tool>>;

export function toolsOf(brain: Brain, sessions: OpenSessions): Tools {
  return { ...wiringTools(brain), ...experimentTools(brain), ...sessionTools(sessions) };
}

function wiringTools(brain: Brain): Tools {
  const { client } = brain;
  return {
    describe_model: tool(
      ARGUMENTS.none,
      'Describes the simulated brain: wiring, limitations, stimuli, channels, published sets of neurons.',
      async (_, call) => {
        const [model, sets] = await Promise.all([brain.model(call), client.nodeSets(call)]);
        // A hundred sets are parts of others, such as @SEZ.aDT6.
        const whole = sets.node_sets.filter(({ name }) => !name.includes('.'));
        const node_sets = whole.map(({ name, neurons, description }) => ({ name, neurons, description }));
        return { text: modelText(model, node_sets), content: { ...model, node_sets } };
      },
    ),
    find_neurons: tool(
      ARGUMENTS.neurons,
      'Finds neurons by labels or root ids, counts them, and suggests names that may have been meant.',
      (query: NeuronQuery, call) =>
        told(client.neurons({ limit: USUAL_ROWS, ...query }, call), (found) =>
          neuronsText(found, query.from),
        ),
    ),
    list_connections: tool(
      ARGUMENTS.connections,
      'Lists connections between two sets of neurons, by cell type or by neuron, with synapses and sign.',
      (query: ConnectionQuery, call) =>
        told(client.connections({ limit: USUAL_ROWS, ...query }, call), (found) =>
          connectionsText(found, query.from),
        ),
    ),
  };
}

function experimentTools(brain: Brain): Tools {
  const experiments = new Experiments(brain);
  return {
    plan_experiment: tool(
      ARGUMENTS.outline,
      'Checks an experiment without running it: price, warnings, conditions, and the neurons of each selector.',
      (document: ExperimentDocument, call) =>
        told(brain.client.dryRun(document, call), (dryRun) => dryRunTable(dryRun as DryRun)),
    ),
    run_experiment: tool(
      ARGUMENTS.document,
      'Runs an experiment: stimulates, silences, edits, sweeps and reads any neurons. Draws a figure.',
      (document: ExperimentDocument, call) => experiments.run(document, call),
    ),
    run_stimulus: tool(
      ARGUMENTS.run,
      'Runs a prepared stimulus once (version 1): rates of channels, drives, most active cell types.',
      async (request: RunRequest, call) => {
        const [run, model] = await Promise.all([brain.run(request, call), brain.model(call)]);
        const { frames: _raster, ...content } = run;
        return { text: presetTable(content, model as PresetModel), content };
      },
    ),
  };
}

function sessionTools(sessions: OpenSessions): Tools {
  return {
    open_session: tool(
      ARGUMENTS.outline,
      'Opens a session, a brain that continues: one trial, without sweep and controls.',
      (document: ExperimentDocument, { signal }) => told(sessions.open(document, signal), stateText),
    ),
    step_session: tool(
      ARGUMENTS.step,
      'Continues a session by a step. Without t_ms it begins where the session is.',
      ({ session, ...step }: AskedStep & Session, { signal }) =>
        told(sessions.step(session, step, signal), stepText),
    ),
    end_session: tool(
      ARGUMENTS.session,
      'Ends a session. All sessions end with the connection, too.',
      ({ session }: Session) => told(sessions.end(session), (state) => `Ended. ${stateText(state)}`),
    ),
  };
}
