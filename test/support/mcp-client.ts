/** A client of the Model Context Protocol that knows only its messages, each a line of JSON. It starts the built server. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { until } from './service-process.js';

export const MCP_SERVER = resolve('dist/mcp/mcp.js');

export interface McpMessage {
  readonly jsonrpc: '2.0';
  readonly id?: number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string };
}

/** The result of a call of a tool. */
export interface CallResult {
  readonly isError?: boolean;
  readonly content: readonly { readonly type: string; readonly text?: string; readonly data?: string }[];
  readonly structuredContent: Readonly<Record<string, unknown>>;
}

export class McpClient {
  /** Lines of standard output so far. */
  readonly lines: string[] = [];
  stderr = '';
  readonly ended: Promise<readonly [code: number | null, signal: NodeJS.Signals | null]>;
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  #rest = '';
  #asked = 0;

  constructor(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
    const env = { ...process.env, ...environment };
    this.#child = spawn(process.execPath, [MCP_SERVER, ...args], { env, stdio: 'pipe' });
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const lines = (this.#rest + text).split('\n');
      this.#rest = lines.pop()!;
      this.lines.push(...lines);
    });
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    this.#child.stdin.on('error', () => undefined);
    this.ended = once(this.#child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
  }

  get pid(): number {
    return this.#child.pid!;
  }

  get messages(): McpMessage[] {
    return this.lines.map((line) => JSON.parse(line) as McpMessage);
  }

  write(text: string): void {
    this.#child.stdin.write(text);
  }

  notify(method: string, params: object = {}): void {
    this.write(`${JSON.stringify({ jsonrpc: '2.0', method, params })}\n`);
  }

  /** @returns the id of the request */
  begin(method: string, params: object = {}): number {
    const id = ++this.#asked;
    this.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return id;
  }

  answerTo(id: number): McpMessage | undefined {
    return this.messages.find((message) => message.id === id);
  }

  async request(method: string, params: object = {}): Promise<McpMessage> {
    const id = this.begin(method, params);
    await until(() => this.answerTo(id) !== undefined || this.#child.exitCode !== null);
    return this.answerTo(id)!;
  }

  async initialize(): Promise<McpMessage> {
    const clientInfo = { name: 'hand-written', version: '1' };
    const answer = await this.request('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo,
    });
    this.notify('notifications/initialized');
    return answer;
  }

  async call(name: string, args: object = {}): Promise<CallResult> {
    const { result, error } = await this.request('tools/call', { name, arguments: args });
    if (error !== undefined) throw new Error(error.message);
    return result as unknown as CallResult;
  }

  /** Closes standard input, as a client does that is done. */
  close(): McpClient['ended'] {
    this.#child.stdin.end();
    return this.ended;
  }

  kill(signal: NodeJS.Signals): McpClient['ended'] {
    this.#child.kill(signal);
    return this.ended;
  }
}
