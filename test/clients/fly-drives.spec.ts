/** Drives that the fly computes from the channels of frames, against those of the service. */
import { drivesFrom } from '../../clients/fly/src/drive-formulas.js';
import { drivesOf, WINDOW_MS } from '../../clients/fly/src/run-drives.js';
import { DRIVES, readDrives } from '../../src/experiments/presets/drives.js';
import { CHANNEL_IDS } from '../../src/experiments/presets/populations.js';
import { PHILOX_STREAM, PhiloxSequence } from '../../src/engine/stimulus/philox.js';
import { startReadyService, type Service } from '../support/service.js';

const only = (formula: string) => drivesFrom([{ id: 'it', formula }]);

describe('formulas of drives', () => {
  it('equal those of the service, at any rates', () => {
    const seed = 20261122;
    const random = new PhiloxSequence(seed, 0, PHILOX_STREAM.shuffle);
    const drivesAt = drivesFrom(DRIVES);
    const apart: unknown[] = [];
    for (let i = 0; i < 500; i++) {
      const rates = Object.fromEntries(
        CHANNEL_IDS.map((id) => [id, random.nextBelow(2) * (random.nextBelow(20_000) / 100)]),
      );
      const drives = drivesAt(rates);
      for (const [id, expected] of Object.entries(readDrives(rates))) {
        // One unit of the last decimal: two roundings of almost the same number.
        if (!(Math.abs(drives[id]! - expected) < 1.01e-4)) apart.push({ seed, id, rates, expected });
      }
    }
    expect(apart).toEqual([]);
  });

  it('are computed as arithmetic is', () => {
    for (const [formula, expected] of [
      ['1 - exp(-channels.a / 4)', 0.6321],
      ['2 + 3 * 4 - 6 / 4 / 3', 13.5],
      ['(2 + 3) * -(4 - 6)', 10],
      ['8 / 2 * 4 - 1 - 2', 13],
      ['exp(0)*channels.b', 0.25],
    ] as const) {
      expect([formula, only(formula)({ a: 4, b: 0.25 })['it']]).toEqual([formula, expected]);
    }
  });

  it.each([
    ['1 +', 'its end'],
    ['(1 - 2', 'its end'],
    ['1 2', '"2"'],
    ['1 + )', '")"'],
    ['alert(1)', '"alert(1)"'],
    ['exp 1', '"1"'],
    ['channels.a ^ 2', '"^ 2"'],
    ['', 'its end'],
  ])('that cannot be read are refused: %s', (formula, found) => {
    expect(() => only(formula)).toThrow(`The formula of drive "it" cannot be read at ${found}: ${formula}`);
  });

  it('name missing channels', () => {
    expect(() => only('drive.walk * 2')).toThrow(
      'The formula of drive "it" refers to drive "walk", which is missing.',
    );
    expect(() => only('channels.gone')({ a: 1 })).toThrow(
      'Drive "it" reads channel "gone", which is missing.',
    );
  });

  it('that go round in a circle are refused', () => {
    const circle = [
      { id: 'a', formula: '1 - drive.b' },
      { id: 'b', formula: '2 * drive.a' },
    ];
    expect(() => drivesFrom(circle)).toThrow('The formula of drive "a" refers to itself.');
  });
});

describe('drives over a run', () => {
  const model = { drives: [{ id: 'double', formula: '2 * channels.a' }] };

  it('read the mean rates of the last 20 ms', () => {
    expect(WINDOW_MS).toBe(20);
    const rates = [100, 0, 0, 40, 0, 20];
    const frames = rates.map((a, i) => ({ t: 5 * i, channels: { a } }));
    // Means over four frames, silent before the first: 25, 25, 25, 35, 10, 15.
    expect(drivesOf({ duration_ms: 30, frames }, model)).toEqual([
      { fromMs: 0, drive: { double: 50 } },
      { fromMs: 5, drive: { double: 50 } },
      { fromMs: 10, drive: { double: 50 } },
      { fromMs: 15, drive: { double: 70 } },
      { fromMs: 20, drive: { double: 20 } },
      { fromMs: 25, drive: { double: 30 } },
      { fromMs: 30, drive: {} },
    ]);
  });

  it('are those of any frames, also of a single one', () => {
    const frames = [
      { t: 0, channels: { a: 8 } },
      { t: 30, channels: { a: 16 } },
    ];
    // The last 10 ms of the window that ends at 40 lie in the second frame.
    expect(drivesOf({ duration_ms: 40, frames }, model)).toEqual([
      { fromMs: 0, drive: { double: 16 } },
      { fromMs: 30, drive: { double: 24 } },
      { fromMs: 40, drive: {} },
    ]);
  });
});

describe('a run of the service', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startReadyService();
  });
  afterAll(() => service.stop());

  it('has the drives that its model says, and frames from which they can be computed', async () => {
    const run = await (await service.post({ stimulus: 'loom', duration_ms: 100, seed: 3 })).json();
    const model = await (await service.get('/api/v1/model')).json();
    expect(drivesFrom(model.drives)(run.channels)).toEqual(run.drive);
    expect(Object.values<number>(run.drive).some((drive) => drive > 0.3)).toBe(true);

    const moments = drivesOf(run, model);
    expect(moments.map(({ fromMs }) => fromMs)).toEqual([
      ...run.frames.map(({ t }: { t: number }) => t),
      100,
    ]);
    // A run of 20 ms would be one window: its drives are those at the end of the window.
    const start = run.frames.slice(0, 4);
    const means = Object.keys(run.channels).map((id) => [
      id,
      start.reduce(
        (sum: number, { channels }: { channels: Record<string, number> }) => sum + channels[id]!,
        0,
      ) / 4,
    ]);
    expect(moments[3]!.drive).toEqual(drivesFrom(model.drives)(Object.fromEntries(means)));
  });
});
