/**
 * Answers requests of the API in this thread: the same paths, bodies, statuses and sentences as the service, from the same
 * code. Only the limits are missing that protect other clients.
 */
import {
  ATLAS_IDS,
  ATLAS_MAP,
  atlasOf,
  ATLAS_START,
  atlasFolder,
} from '../../src/engine/connectome/atlas.js';
import { encodeAtlas, firstPartLength, mapOf } from '../../src/engine/connectome/atlas-binary.js';
import { encodeIds } from '../../src/engine/connectome/atlas-ids.js';
import { cardOfNeuron, cardOfType } from '../../src/engine/connectome/cell-card.js';
import type { Connectome } from '../../src/engine/connectome/connectome.js';
import { NodeSetResolver } from '../../src/engine/connectome/node-set-resolver.js';
import { publishedNodeSets } from '../../src/engine/connectome/node-sets.js';
import { Partners } from '../../src/engine/connectome/partners.js';
import { CodedError, errorBody, failureOf } from '../../src/engine/errors.js';
import { BODY, checkedFields, QUERY } from '../../src/engine/schema/checked-fields.js';
import { parseJson, refuseRepeatedMember } from '../../src/engine/schema/json-text.js';
import type { ExperimentDocument } from '../../src/experiments/document/document.js';
import { describeNodeSets } from '../../src/experiments/document/node-set-list.js';
import { parseDocument } from '../../src/experiments/document/parse-document.js';
import { servedModel } from '../../src/experiments/document/served-model.js';
import { type AnswerPiece, answerOfRun, checkRequest } from '../../src/experiments/formats/answer.js';
import { dryRunJson, progressLine } from '../../src/experiments/formats/answer-json.js';
import { connectionTable } from '../../src/experiments/formats/connection-table.js';
import { contentTypeOf, type Format, TABLE_FORMATS } from '../../src/experiments/formats/formats.js';
import { neuronTable } from '../../src/experiments/formats/neuron-table.js';
import {
  answerRequest,
  CONNECTION_QUERY,
  connectionSearchOf,
  EXPERIMENT_QUERY,
  headersOf,
  linkTo,
  NEURON_QUERY,
  neuronSearchOf,
  STEP_QUERY,
} from '../../src/experiments/formats/queries.js';
import { FIXED_LIMITS, JSON_ROWS, TABLE_ROWS } from '../../src/experiments/plan/experiment-limits.js';
import { planInParts, type ExperimentPlan } from '../../src/experiments/plan/plan.js';
import { trialTask, type TrialResult, type TrialTask } from '../../src/experiments/plan/trial.js';
import {
  type Experiment,
  experimentOf,
  presetOf,
  type View,
} from '../../src/experiments/presets/experiment.js';
import { FIELDS, QUERY_FIELDS } from '../../src/experiments/presets/fields.js';
import { describeModel } from '../../src/experiments/presets/model-description.js';
import type { ExperimentProgress as TrialProgress } from '../../src/experiments/run/condition-run.js';
import { inTurns, type Turn } from '../../src/experiments/run/turn.js';
import type { Computer } from './computer.js';
import { type LocalLimits, LocalSessions } from './local-sessions.js';
import { turnsOf } from './turns.js';

export interface LocalRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly body?: string | undefined;
  /** True if it asks for a job. */
  readonly isJob?: boolean | undefined;
}

type Bytes = Uint8Array<ArrayBuffer>;

export interface LocalAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Pieces are made if somebody reads them. */
  readonly body: Bytes | AsyncGenerator<Bytes, void, undefined>;
}

/** Computes trials, here or in several threads. */
export interface Trials {
  readonly threads: number;
  run(task: TrialTask, signal: AbortSignal): Promise<TrialResult>;
}

/** A request whose path has matched. */
interface Matched extends LocalRequest {
  readonly query: Readonly<Record<string, string>>;
  /** The parts of the path that vary. */
  readonly parts: readonly string[];
  readonly signal: AbortSignal;
  readonly turn: Turn;
}

type Route = readonly [
  method: string,
  path: RegExp,
  answer: (request: Matched) => LocalAnswer | Promise<LocalAnswer>,
];

const MAX_CONDITIONS = 20_000;
const PIECE_BYTES = 64 * 1024;
/** A line of NDJSON about the progress comes so often, if no other does. */
const PROGRESS_EVERY_MS = 250;
const JSON_TYPE = 'application/json; charset=utf-8';
const TEXT_TYPE = 'text/plain; charset=utf-8';
const BINARY_TYPE = 'application/octet-stream';
const encoder = new TextEncoder();
const NEVER = new AbortController().signal;

export class LocalService {
  readonly #partners: Partners;
  readonly #sessions: LocalSessions;
  readonly #atlasFolder: string;
  #atlas: Bytes | undefined;

  constructor(
    private readonly connectome: Connectome,
    private readonly computer: Computer,
    private readonly trials: Trials,
  ) {
    this.#partners = new Partners(connectome);
    this.#sessions = new LocalSessions(connectome, computer, limitsOf('json'));
    this.#atlasFolder = atlasFolder(connectome);
  }

  /** Never rejects: a failure is an answer, except in the pieces of a body. */
  async answer(request: LocalRequest, signal: AbortSignal): Promise<LocalAnswer> {
    try {
      const { pathname, searchParams } = new URL(request.path, 'http://tab');
      const known = this.#routes.filter(([, path]) => path.test(pathname));
      const route = known.find(([method]) => method === request.method);
      if (route === undefined) throw notHere(request.method, pathname, known);
      const parts = route[1].exec(pathname)!.slice(1);
      const query = Object.fromEntries(searchParams);
      return await route[2]({ ...request, query, parts, signal, turn: turnsOf(signal) });
    } catch (error) {
      const coded = codedOf(error);
      return json(errorBody(coded), coded.status);
    }
  }

  readonly #routes: readonly Route[] = [
    ['POST', /^\/api\/v1\/run$/, (request) => this.#run(request)],
    ['GET', /^\/api\/v1\/model$/, () => json(describeModel(this.connectome))],
    ['GET', /^\/api\/v2\/model$/, () => json(servedModel(this.connectome))],
    ['POST', /^\/api\/v2\/experiments$/, (request) => this.#experiment(request)],
    ['GET', /^\/api\/v2\/neurons$/, ({ query }) => this.#neurons(query)],
    ['GET', /^\/api\/v2\/connections$/, (request) => this.#connections(request)],
    ['GET', /^\/api\/v2\/node-sets$/, () => json(describeNodeSets(this.connectome, publishedNodeSets()))],
    [
      'POST',
      /^\/api\/v2\/sessions$/,
      async ({ body, turn, signal }) => json(await this.#sessions.open(documentOf(body), turn, signal), 201),
    ],
    ['GET', /^\/api\/v2\/sessions\/([\w-]+)$/, ({ parts }) => json(this.#sessions.status(parts[0]!))],
    ['DELETE', /^\/api\/v2\/sessions\/([\w-]+)$/, ({ parts }) => json(this.#sessions.end(parts[0]!))],
    [
      'GET',
      /^\/api\/v2\/sessions\/([\w-]+)\/document$/,
      async ({ parts, turn }) => json(await this.#sessions.document(parts[0]!, turn)),
    ],
    ['POST', /^\/api\/v2\/sessions\/([\w-]+)\/steps$/, (request) => this.#step(request)],
    [
      'POST',
      /^\/api\/v2\/sessions\/([\w-]+)\/branches$/,
      async ({ parts, body, turn }) =>
        json(await this.#sessions.branch(parts[0]!, documentOf(body), turn), 201),
    ],
    ['GET', /^\/runs\/(\w+)\/(\w+)$/, ({ parts }) => this.#storedRun(parts)],
    ['GET', /^\/atlas\/([\w.-]+)$/, ({ parts }) => this.#atlasFile(parts[0]!)],
    ['GET', /^\/atlas\/([\w-]+)\/(neurons|types)\/(\d{1,9})$/, ({ parts }) => this.#card(parts)],
  ];

  #run({ body = '{}', query }: Matched): LocalAnswer {
    const { view = QUERY_FIELDS.view.default } = checkedFields(QUERY_FIELDS, query, QUERY);
    return this.#runOf(experimentOf(checkedFields(FIELDS, parseJson(body), BODY)), view);
  }

  #storedRun([digest, stimulus]: readonly string[]): LocalAnswer {
    if (digest !== this.connectome.digest) throw notFound('There are no runs of that connectome.');
    return this.#runOf(experimentOf(checkedFields(FIELDS, { stimulus }, BODY)), 'full');
  }

  #runOf(experiment: Experiment, view: View): LocalAnswer {
    presetOf(this.connectome.metadata, experiment.stimulus);
    const { runner } = this.computer;
    const { bytes } = runner.body(experiment, view, runner.simulate(experiment));
    return ok(Uint8Array.from(bytes), JSON_TYPE);
  }

  async #experiment({ body: document, query: given, isJob, signal, turn }: Matched): Promise<LocalAnswer> {
    const query = checkedFields(EXPERIMENT_QUERY, given, QUERY);
    const { format = 'json' } = query;
    const isDryRun = query.dry_run === 'true';
    if (isJob && !isDryRun)
      throw new CodedError('JOBS_UNAVAILABLE', 'A brain in this program computes no jobs.');
    if (isDryRun && format !== 'json') {
      throw new CodedError('INVALID_PARAMETER', `format must be json for this request, got ${format}.`, {
        path: '',
      });
    }
    const wanted = answerRequest(query, format, 0);
    const plan = await this.#plan(documentOf(document), format, turn);
    checkRequest(plan, wanted);
    if (isDryRun) return ok(dryRunJson(plan.dryRun(wanted.from)), JSON_TYPE);
    const { threads } = this.trials;
    const progress = { trials: 0, trialsDone: 0 };
    const answer = await answerOfRun(
      plan,
      (task, trial, ofTrial) => this.trials.run(trialTask(task, trial), ofTrial),
      wanted,
      {
        signal,
        inFlight: 2 * threads,
        wiringsAtOnce: () => threads,
        onProgress: (now) => Object.assign(progress, now),
      },
      { turn, pieceBytes: format === 'ndjson' ? 1 : PIECE_BYTES },
    );
    const body =
      format === 'ndjson'
        ? withProgress(answer.pieces, plan.conditions - wanted.from, progress)
        : bytesOf(answer.pieces);
    return ok(body, contentTypeOf(format), headersOf(answer, query, format));
  }

  #plan(value: unknown, format: Format, turn: Turn): Promise<ExperimentPlan> {
    const { connectome } = this;
    const limits = limitsOf(format);
    const channels = connectome.metadata.channels.map(({ id }) => id);
    const document: ExperimentDocument = parseDocument(value, limits, channels);
    return inTurns(
      turn,
      planInParts(connectome, document, new NodeSetResolver(connectome, document), limits),
    );
  }

  #neurons(given: Matched['query']): LocalAnswer {
    const query = checkedFields(NEURON_QUERY, given, QUERY);
    const { format = 'json' } = query;
    return ok(neuronTable(this.connectome, neuronSearchOf(query, format)), contentTypeOf(format));
  }

  async #connections({ query: given, turn }: Matched): Promise<LocalAnswer> {
    const query = checkedFields(CONNECTION_QUERY, given, QUERY);
    const { format = 'json' } = query;
    const search = connectionSearchOf(query, format, FIXED_LIMITS.ids);
    const { bytes: page, next } = await connectionTable(this.connectome, search, turn);
    const further = next === undefined ? {} : linkTo(format, query, { from: String(next) });
    return ok(page, contentTypeOf(format), further);
  }

  /** A step goes on if nobody waits for it any more. As in a service, its answer is there if it is asked for again. */
  async #step({ parts, body, query }: Matched): Promise<LocalAnswer> {
    const { drive } = checkedFields(STEP_QUERY, query, QUERY);
    const turn = turnsOf(NEVER);
    return json(await this.#sessions.step(parts[0]!, documentOf(body), drive === 'true', turn));
  }

  #atlasFile(file: string): LocalAnswer {
    const folder = this.#atlasFolder;
    if (file === `${folder}.json`) return json(atlasOf(this.connectome));
    if (file === folder + ATLAS_IDS) return ok(encoder.encode(encodeIds(this.connectome)), TEXT_TYPE);
    const atlas = (this.#atlas ??= encodeAtlas(this.connectome));
    if (file === `${folder}.bin`) return ok(atlas.slice(), BINARY_TYPE);
    if (file === folder + ATLAS_MAP) return ok(mapOf(atlas), BINARY_TYPE);
    if (file !== folder + ATLAS_START) throw notFound(`There is no atlas ${file}; there is ${folder}.json.`);
    return ok(atlas.slice(0, firstPartLength(atlas.buffer)), BINARY_TYPE);
  }

  #card([folder, of, index]: readonly string[]): LocalAnswer {
    const { connectome } = this;
    const isNeuron = of === 'neurons';
    const count = isNeuron ? connectome.neuronCount : connectome.metadata.types.length;
    if (folder !== this.#atlasFolder || Number(index) >= count) throw notFound('There is no such card.');
    return json((isNeuron ? cardOfNeuron : cardOfType)(connectome, this.#partners, Number(index)));
  }
}

/** The number of rows divides an answer into pages, so it is that of the service. */
function limitsOf(format: Format): LocalLimits {
  const isTable = (TABLE_FORMATS as readonly Format[]).includes(format);
  const tableRows = isTable ? TABLE_ROWS : JSON_ROWS;
  return { ...FIXED_LIMITS, conditions: MAX_CONDITIONS, brainSeconds: Infinity, tableRows };
}

/** @throws CodedError MALFORMED_REQUEST, INVALID_PARAMETER */
function documentOf(body = '{}'): unknown {
  const document = parseJson(body);
  refuseRepeatedMember(body);
  return document;
}

/** Adds lines of progress to NDJSON, and a last line with the failure, as the service does. */
async function* withProgress(
  pieces: AsyncGenerator<AnswerPiece, void, undefined>,
  conditions: number,
  progress: TrialProgress,
): AsyncGenerator<Bytes, void, undefined> {
  let conditionsDone = 0;
  let next = pieces.next();
  try {
    for (;;) {
      const piece = await Promise.race([next, later()]);
      if (piece === undefined) {
        const { trials, trialsDone } = progress;
        const line = { conditions_done: conditionsDone, conditions, trials_done: trialsDone, trials };
        yield Uint8Array.from(progressLine(line));
      } else if (piece.done === true) return;
      else {
        conditionsDone = piece.value.conditions;
        yield piece.value.bytes;
        next = pieces.next();
      }
    }
  } catch (error) {
    yield encoder.encode(`${JSON.stringify(errorBody(codedOf(error)))}\n`);
  } finally {
    await pieces.return();
  }
}

function later(): Promise<undefined> {
  return new Promise((resolve) => setTimeout(resolve, PROGRESS_EVERY_MS, undefined));
}

async function* bytesOf(pieces: AsyncGenerator<AnswerPiece>): AsyncGenerator<Bytes, void, undefined> {
  for await (const piece of pieces) yield piece.bytes;
}

function ok(body: LocalAnswer['body'], type: string, headers = {}): LocalAnswer {
  return { status: 200, headers: { 'content-type': type, ...headers }, body };
}

function json(value: object | string, status = 200): LocalAnswer {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return { ...ok(encoder.encode(text), JSON_TYPE), status };
}

function codedOf(error: unknown): CodedError {
  return error instanceof CodedError ? error : CodedError.fromFailure(failureOf(error));
}

function notHere(method: string, path: string, known: readonly Route[]): CodedError {
  if (known.length === 0) return notFound('There is nothing at this path.');
  const methods = known.map(([each]) => each).join(', ');
  return new CodedError('METHOD_NOT_ALLOWED', `${path} supports ${methods}, got ${method}.`);
}

function notFound(message: string): CodedError {
  return new CodedError('NOT_FOUND', message);
}
