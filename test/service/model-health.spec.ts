import { copyFileSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ModelHealth } from '../../src/service/health/model-health.js';
import { smallConnectomeFile } from '../support/small-connectome.js';
import { until } from '../support/service-process.js';
import { startService, untilState, type Service } from '../support/service.js';

describe('while the model is not there', () => {
  let service: Service;
  const path = join(mkdtempSync(join(tmpdir(), 'model-health-')), 'late.connectome');

  beforeAll(async () => {
    service = await startService({ CONNECTOME_FILE: path, RATE_LIMIT: '30' });
  });
  afterAll(() => service.stop());
  const channelsDescribed = async (): Promise<object | undefined> =>
    (await (await service.get('/api/v1/openapi')).json()).components.schemas.ChannelRates.required;

  it.each(['/api/v1/model', '/readyz'])('%s answers 503 with Retry-After', async (url) => {
    await untilState(service, 'failed');
    const response = await service.get(url);
    expect(response.status).toBe(503);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    const body = await response.json();
    expect(body).toEqual({ error: expect.stringContaining('keeps trying'), code: 'MODEL_FAILED' });
    expect(body.error).not.toContain(path);
  });

  it('runs answer 503 as well, after their mistakes', async () => {
    expect((await service.post({})).status).toBe(503);
    expect((await service.post({ seed: -1 })).status).toBe(400);
  });

  it('the process is alive and describes itself', async () => {
    expect((await service.get('/livez')).status).toBe(200);
    // Its channels are not known.
    expect(await channelsDescribed()).toBeUndefined();
  });

  it('a broken file keeps it failed, a whole one brings it up without a restart', async () => {
    writeFileSync(path, 'no connectome');
    expect((await service.post({})).status).toBe(503);
    const whole = readFileSync(smallConnectomeFile());
    writeFileSync(path, Buffer.concat([whole.subarray(0, -1), Buffer.of(whole.at(-1)! ^ 1)]));
    // Now every length is right, and one bit is wrong.
    const health = service.app.get(ModelHealth);
    await until(() => health.state.name === 'failed' && health.state.error.message.includes('digest'));
    expect(await (await service.get('/readyz')).json()).toMatchObject({
      code: 'MODEL_FAILED',
      error: expect.stringContaining('CONNECTOME_INVALID'),
    });
    copyFileSync(smallConnectomeFile(), path);
    await untilState(service, 'ready');
    const run = await service.post({});
    expect(run.status).toBe(200);
    expect(await channelsDescribed()).toEqual(Object.keys((await run.json()).channels));
    expect((await service.get('/readyz')).status).toBe(200);
  });
});

it('answers at once and says that it is loading', async () => {
  const service = await startService();
  const response = await service.get('/api/v1/model');
  expect(response.status).toBe(503);
  expect(await response.json()).toMatchObject({ code: 'MODEL_LOADING' });
  await untilState(service, 'ready');
  expect((await service.get('/api/v1/model')).status).toBe(200);
  await service.stop();
});

it('stops while it still loads', async () => {
  const service = await startService();
  await service.stop();
});
