/** npm run mcp lets agents ask experiments: it speaks the Model Context Protocol on standard input and output. */
import type { Brain } from '#client';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { availableParallelism } from 'node:os';
import {
  address,
  defineCommand,
  demand,
  integer,
  runCommand,
  type Terminal,
  text,
} from '../../src/tools/cli/command.js';
import { refuseMissing, servedFile } from '../../src/tools/cli/read-connectome.js';
import { CodedError } from '../../src/engine/errors.js';
import type * as Tab from '../tab/open-brain.js';
import { serverOf } from './server.js';
import { OpenSessions } from './sessions.js';

/** Each thread has a copy of the brain, and a computer of an agent has other work. */
const MAX_USUAL_WORKERS = 4;
const MAX_WORKERS = 64;
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
const MAX_MESSAGE_BYTES = 10_000_000;
/** The built brain of a tab, beside this bundle. A bundler must not follow it. */
const BRAIN = '../pages/tab/brain.js';

const command = defineCommand({
  name: 'mcp',
  summary:
    'Lets agents ask experiments: speaks the Model Context Protocol on standard input and\n' +
    'output. A program that has an agent starts it; docs/guide/agents.md has settings.',
  options: {
    url: address('Ask the service at this URL, instead of computing here.'),
    connectome: text('FILE', 'Connectome to compute with; by default CONNECTOME_FILE.'),
    workers: integer(`Threads that compute; by default the cores, at most ${MAX_USUAL_WORKERS}.`, [
      1,
      MAX_WORKERS,
    ]),
  },
  async run({ url, connectome, workers }, _, { environment, progress }) {
    demand(
      url === undefined || (connectome === undefined && workers === undefined),
      '--url cannot be combined with --connectome or --workers: a service uses its own',
    );
    const tab = (await import(new URL(BRAIN, import.meta.url).href)) as typeof Tab;
    if (url !== undefined) {
      const service = tab.connect(url);
      return serve(service, service.client.address, progress);
    }
    const file = connectome ?? (await servedFile(environment));
    refuseMissing(file);
    const threads = workers ?? Math.min(MAX_USUAL_WORKERS, availableParallelism());
    const stop = new AbortController();
    const opening = tab.openBrain(file, { workers: threads, signal: stop.signal });
    const end = (): void => {
      stop.abort();
      opening.then((opened) => opened.close()).catch(() => undefined);
    };
    // Programs wait only some seconds for the first answer. So requests wait for the brain, and not the protocol.
    const fetchHere: typeof fetch = async (...args) => (await opening).fetch(...args);
    const brain = new tab.Brain('', { fetch: fetchHere, timeoutMs: Infinity }, end);
    return serve(brain, 'The brain', progress, opening);
  },
});

/**
 * Serves until the client closes standard input, a signal comes, or a message is too large.
 * @param place names the brain in errors
 * @returns the exit status
 * @throws CodedError if the brain cannot be opened
 */
async function serve(
  brain: Brain,
  place: string,
  progress: Terminal['progress'],
  opening?: Promise<unknown>,
): Promise<number> {
  const sessions = new OpenSessions(brain);
  const server = serverOf(brain, sessions, place);
  const closed = new Promise<void>((close) => (server.onclose = close));
  let isAsked = false;
  const close = (): void => {
    isAsked = true;
    void server.close();
  };
  // The transport of the SDK does not notice the end of the input.
  process.stdin.once('end', close);
  for (const signal of SIGNALS) process.once(signal, close);
  await server.connect(
    new StdioServerTransport(process.stdin, process.stdout, { maxBufferSize: MAX_MESSAGE_BYTES }),
  );
  try {
    await Promise.race([closed, Promise.resolve(opening).then(() => closed)]);
    if (isAsked) return 0;
    // The transport closes itself only after a message that is too large.
    progress.note(`A message had more than ${MAX_MESSAGE_BYTES / 1e6} MB, so the connection was closed.`);
    return 1;
  } catch (error) {
    // The built brain has a class of errors of its own.
    throw CodedError.fromFailure(error as CodedError);
  } finally {
    await server.close();
    // The transport only pauses the input. If some of it is unread, Node would wait for more.
    process.stdin.destroy();
    await sessions.endAll();
    brain.close();
  }
}

await runCommand(command);
