/** Sessions as tests step them, on the small brain. */
import type { Service } from './service.js';

export const PATH = '/api/v2/sessions';
export const JSON_TYPE = { 'content-type': 'application/json' };
export const SPIKES = { node_set: '@all', type: 'spikes' };
export const DOCUMENT = {
  inputs: {
    sugar: { node_set: 'S_sugar', rate_hz: 100 },
    loom: { node_set: 'S_loom', rate_hz: 0 },
    noise: { node_set: '@all', module: 'background', rate_hz: 3, event_mv: 30 },
  },
  seed: 7,
  reports: { spikes: SPIKES },
};

interface Table {
  readonly t_ms: readonly number[];
  readonly root_id: readonly string[];
}

export function rowsOf({ t_ms: times, root_id: ids }: Table): string[] {
  return times.map((tMs, row) => `${tMs} ${ids[row]}`);
}

/** A session as a test goes on with it. */
export class SteppedSession {
  readonly rows: string[] = [];
  tMs = 0;

  private constructor(
    private readonly service: Service,
    readonly path: string,
  ) {}

  static async open(service: Service, document: object): Promise<SteppedSession> {
    return SteppedSession.#of(service, await service.post(document, PATH, JSON_TYPE));
  }

  static async #of(service: Service, answer: Awaited<ReturnType<Service['post']>>): Promise<SteppedSession> {
    const body = await answer.json();
    expect({ status: answer.status, error: body.error }).toEqual({ status: 201, error: undefined });
    expect(answer.headers.get('location')).toBe(`${PATH}/${body.session}`);
    const client = new SteppedSession(service, `${PATH}/${body.session}`);
    client.tMs = body.t_ms;
    return client;
  }

  ask(step: object, query = '') {
    return this.service.post(step, `${this.path}/steps${query}`, JSON_TYPE);
  }

  async step(durationMs: number, changes: object = {}, query = '') {
    const answer = await this.ask({ t_ms: this.tMs, duration_ms: durationMs, ...changes }, query);
    const body = await answer.json();
    expect({ status: answer.status, body }).toMatchObject({
      status: 200,
      body: { t_ms: this.tMs + durationMs },
    });
    this.tMs = body.t_ms;
    expect(body.reports.spikes.truncated).toBeUndefined();
    this.rows.push(...rowsOf(body.reports.spikes));
    return body;
  }

  async branch(changes: object = {}): Promise<SteppedSession> {
    return SteppedSession.#of(
      this.service,
      await this.service.post(changes, `${this.path}/branches`, JSON_TYPE),
    );
  }

  async document() {
    return (await this.service.get(`${this.path}/document`)).json();
  }

  async replay(): Promise<string[]> {
    const answer = await this.service.post(await this.document(), '/api/v2/experiments', JSON_TYPE);
    const body = await answer.json();
    expect({ status: answer.status, error: body.error }).toEqual({ status: 200, error: undefined });
    return rowsOf(body.conditions[0].reports.spikes);
  }

  end() {
    return this.service.delete(this.path);
  }
}
