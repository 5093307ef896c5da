import { request, type Agent } from 'node:http';

export interface Answered {
  /** 0 if there was no answer. */
  readonly status: number;
  readonly body: string;
  /** Error of the connection, if there was no answer. */
  readonly error?: string;
  readonly ms: number;
}

/** Sends one run and returns its answer or error; never throws. Without an agent it uses a new connection. */
export function sendRun(url: string, body: object, agent?: Agent): Promise<Answered> {
  const startedMs = performance.now();
  const elapsed = () => performance.now() - startedMs;
  return new Promise((resolve) => {
    const fail = (error: NodeJS.ErrnoException) =>
      resolve({ status: 0, body: '', error: error.code ?? error.message, ms: elapsed() });
    const sent = request(
      `${url}/api/v1/run?view=drive`,
      { method: 'POST', agent: agent ?? false, headers: { 'content-type': 'application/json' } },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('end', () => resolve({ status: response.statusCode!, body: text, ms: elapsed() }));
        response.on('error', fail);
      },
    );
    sent.on('error', fail);
    sent.end(JSON.stringify(body));
  });
}

/** Clients that each send the next run when the last was answered, until told to stop. */
export class Load {
  readonly answers: Answered[] = [];
  #running = true;
  #seed = 0;
  readonly #clients: Promise<void>[];

  constructor(
    private readonly url: string,
    clients: number,
    private readonly stimuli: readonly string[] = ['loom'],
  ) {
    this.#clients = Array.from({ length: clients }, () => this.#client());
  }

  count(status: number): number {
    return this.answers.filter((answer) => answer.status === status).length;
  }

  async stop(): Promise<Answered[]> {
    this.#running = false;
    await Promise.all(this.#clients);
    return this.answers;
  }

  async #client(): Promise<void> {
    while (this.#running) {
      const stimulus = this.stimuli[this.#seed % this.stimuli.length];
      const answer = await sendRun(this.url, { stimulus, seed: this.#seed++ });
      this.answers.push(answer);
      // A service that refuses at once must not be asked in a tight loop.
      if (answer.status !== 200) await new Promise((next) => setTimeout(next, 10));
    }
  }
}
