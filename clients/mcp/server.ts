/** The protocol: lists the tools, calls them, and turns failures into results that an agent can read. */
import type { Brain } from '#client';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
} from '@modelcontextprotocol/sdk/types.js';
import { readFileSync } from 'node:fs';
import { CodedError, describeValue, type ErrorBody } from '../../src/engine/errors.js';
import { own } from '../../src/engine/own.js';
import { fitted } from './fitted.js';
import type { OpenSessions } from './sessions.js';
import { type Call, type ToolAnswer, toolsOf } from './tools.js';

const INSTRUCTIONS =
  'Simulated experiments on the wiring of a fruit fly brain. Call describe_model first, and tell the user if the wiring ' +
  'is synthetic: single neurons then mean nothing. find_neurons and list_connections give names for selectors. ' +
  'plan_experiment gives the price and shows which neurons are meant; run_experiment then computes. Equal experiments ' +
  'give equal results, so vary the seed or raise trials to see the spread. Refusals name the member, and suggestions.';
/** Longest total wait for a service that asks to wait. */
const WAIT_AT_MOST_S = 60;
const PROGRESS_EVERY_MS = 200;

type Extra = Parameters<Parameters<typeof Server.prototype.setRequestHandler>[1]>[1];

/** @param place names the brain in errors */
export function serverOf(brain: Brain, sessions: OpenSessions, place: string): Server {
  const { name, version } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  ) as { readonly name: string; readonly version: string };
  const server = new Server({ name, version }, { capabilities: { tools: {} }, instructions: INSTRUCTIONS });
  const tools = toolsOf(brain, sessions);
  server.onerror = (error) => process.stderr.write(`${error.message}\n`);
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: Object.entries(tools).map(([name, { description, inputSchema }]) => ({
      name,
      description,
      inputSchema: { ...inputSchema, type: 'object' as const },
      annotations: { readOnlyHint: true, openWorldHint: false },
    })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const { name, arguments: args = {} } = params;
    const tool = own(tools, name);
    if (tool === undefined) {
      const names = Object.keys(tools).join(', ');
      throw new McpError(
        ErrorCode.InvalidParams,
        `There is no tool ${describeValue(name)}; there are ${names}.`,
      );
    }
    try {
      checkDepth(args);
      return resultOf(await tool.answer(args, callOf(extra)));
    } catch (error) {
      extra.signal.throwIfAborted();
      return refusalOf(error, place);
    }
  });
  return server;
}

/** @throws CodedError INVALID_PARAMETER if the arguments cannot become the body of a request */
function checkDepth(args: object): void {
  try {
    JSON.stringify(args);
  } catch (error) {
    throw new CodedError('INVALID_PARAMETER', 'The arguments are nested too deeply.', { cause: error });
  }
}

/** Reports progress seldom, and never twice the same or less: the protocol demands it. */
function callOf({ signal, _meta, sendNotification }: Extra): Call {
  const progressToken = _meta?.progressToken;
  let reported = 0;
  let nextAtMs = 0;
  return {
    signal,
    waitAtMostS: WAIT_AT_MOST_S,
    report(done, all) {
      const nowMs = performance.now();
      if (progressToken === undefined || done <= reported || nowMs < nextAtMs) return;
      reported = done;
      nextAtMs = nowMs + PROGRESS_EVERY_MS;
      const params = { progressToken, progress: done, ...(all !== undefined && { total: all }) };
      // The connection may close meanwhile; nobody misses the progress then.
      sendNotification({ method: 'notifications/progress', params }).catch(() => undefined);
    },
  };
}

function resultOf({ text, content, png }: ToolAnswer): CallToolResult {
  const { content: structured, leftOut } = fitted(content as Readonly<Record<string, unknown>>);
  const isCut = Object.keys(leftOut).length > 0;
  const note = isCut
    ? `\nLeft out of the structured content: ${JSON.stringify(leftOut)}. Ask for less.\n`
    : '';
  return {
    content: [
      { type: 'text', text: text + note },
      ...(png === undefined
        ? []
        : [{ type: 'image' as const, data: Buffer.from(png).toString('base64'), mimeType: 'image/png' }]),
    ],
    structuredContent: { ...structured, ...(isCut && { left_out: leftOut }) },
  };
}

/** A failure in the words of the service, with all that helps to mend the call. */
function refusalOf(error: unknown, place: string): CallToolResult {
  const body = bodyOf(error as Error, place);
  const { code, path, suggestions = [] } = body;
  const lines = [
    body.error,
    `code: ${code}`,
    ...(path === undefined ? [] : [`path: ${path || '(all)'}`]),
    ...(suggestions.length === 0 ? [] : [`suggestions: ${suggestions.join(', ')}`]),
  ];
  return {
    isError: true,
    content: [{ type: 'text', text: lines.join('\n') }],
    structuredContent: { ...body },
  };
}

/** Errors of the service and of the code in this process have the same members, except for `code`. */
function bodyOf(error: Error & Partial<ErrorBody>, place: string): ErrorBody {
  const { name, message, code, path, suggestions = [], cause } = error;
  const position = { ...(path !== undefined && { path }), ...(suggestions.length > 0 && { suggestions }) };
  if (typeof code === 'string') return { error: message, code, ...position };
  if (name === 'ServiceError') return { error: message, code: 'SERVICE_UNREACHABLE' };
  // fetch throws a TypeError with a cause; a TypeError without one is a bug.
  if (
    name === 'TimeoutError' ||
    name === 'InterruptedError' ||
    (name === 'TypeError' && cause !== undefined)
  ) {
    const reason = (cause as Error | undefined)?.message || message;
    return { error: `${place} does not answer: ${reason}.`, code: 'SERVICE_UNREACHABLE' };
  }
  process.stderr.write(`${error.stack ?? String(error)}\n`);
  return { error: `There is a bug: ${message}`, code: 'INTERNAL' };
}
