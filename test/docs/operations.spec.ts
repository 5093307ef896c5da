/** The tables of docs/operations.md against the parts of the service that they describe. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { historyStepsOf, stateBytes } from '../../src/engine/simulation/cpu/state-bytes.js';
import { membrane } from '../../src/experiments/kinds/reports/membrane.js';
import { BOUGHT_BY_BRAIN_SECOND } from '../../src/experiments/plan/prices.js';
import { assembleApplication } from '../../src/service/application.js';
import { type Environment, MEANINGS, readEnvironment } from '../../src/service/config/environment.js';
import * as limits from '../../src/service/limits/limits.js';
import { Metrics } from '../../src/service/metrics/metrics.js';
import { describeWith } from '../support/requirements.js';

const { Limits } = limits;
const text = readFileSync('docs/operations.md', 'utf8');
const names = Object.keys(MEANINGS) as (keyof Environment)[];

/** Rows of the table whose first column is headed so, cells without their marks of code. */
function table(heading: string): string[][] {
  const lines = text.split('\n');
  const start = lines.findIndex((line) => line.startsWith(`| ${heading} `));
  if (start < 0) throw new Error(`docs/operations.md has no table headed "${heading}"`);
  const length = lines.slice(start).findIndex((line) => !line.startsWith('|'));
  return lines.slice(start + 2, start + length).map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim().replaceAll('`', '')),
  );
}

describe('configuration', () => {
  const rows = table('variable');

  it('lists every variable with its meaning, and no other', () => {
    expect(rows.map(([name, , , meaning]) => [name, meaning])).toEqual(
      names.map((name) => [name, MEANINGS[name]]),
    );
  });

  it('has the defaults', () => {
    const defaults: Record<string, unknown> = { ...readEnvironment({}), WORKERS: 'by cores and memory' };
    expect(rows.map(([name, value]) => [name, value])).toEqual(
      names.map((name) => [name, String(defaults[name])]),
    );
  });

  it('lists the allowed values of the service', () => {
    const free = ['HOST', 'METRICS_HOST', 'CONNECTOME_FILE', 'JOBS_PATH'];
    for (const [name, , allowed] of rows) {
      const read = () => readEnvironment({ [name!]: '!' });
      if (free.includes(name!)) {
        expect([name, allowed]).toEqual([name, '']);
        expect(read).not.toThrow();
      } else {
        expect(read).toThrow(`${name} must be ${allowed}, got `);
      }
    }
  });
});

it('has every limit', () => {
  const environment = readEnvironment({});
  const own = new Limits(environment);
  const set = (name: keyof Environment) => [environment[name], name];
  const fixed = (value: number) => [value, ''];
  expect(table('limit').map(([, value, variable]) => [Number(value), variable])).toEqual([
    fixed(limits.HEADER_LIMIT_BYTES),
    fixed(limits.BODY_LIMIT_BYTES),
    fixed(limits.DOCUMENT_LIMIT_BYTES),
    fixed(limits.REQUEST_TIMEOUT_MS),
    fixed(limits.KEEP_ALIVE_TIMEOUT_MS),
    fixed(limits.UNANSWERED_REQUESTS_LIMIT),
    fixed(limits.ARRIVING_DOCUMENTS_PER_CLIENT),
    fixed(limits.ARRIVING_DOCUMENTS),
    fixed(limits.DROPPED_BODY_BYTES),
    fixed(limits.LEAVING_BYTES_PER_CLIENT),
    fixed(limits.LEAVING_BYTES),
    set('RATE_LIMIT'),
    fixed(limits.MAX_CLIENTS),
    set('QUEUE_LIMIT'),
    set('RUN_TIMEOUT_MS'),
    set('CACHE_BYTES'),
    set('EXPERIMENT_BRAIN_SECONDS'),
    set('EXPERIMENT_BRAIN_SECONDS_PER_MINUTE'),
    set('EXPERIMENTS_AT_ONCE'),
    fixed(own.experimentsPerClient),
    fixed(own.waitingDocuments),
    fixed(own.waitingDocumentsPerClient),
    fixed(limits.EQUAL_EXPERIMENTS),
    fixed(limits.EQUAL_EXPERIMENTS_PER_CLIENT),
    fixed(own.conditions),
    fixed(own.ids),
    fixed(own.selectedNeurons),
    fixed(own.inputEventsPerTrial),
    fixed(own.inputEventsPerBrainSecond),
    fixed(own.synapticEventsPerTrial),
    fixed(own.synapticEventsPerBrainSecond),
    fixed(own.overriddenPairs),
    fixed(own.groupNumbers),
    fixed(own.jsonRows),
    fixed(own.tableRows),
    fixed(own.samples),
    fixed(membrane.mostNeurons),
    fixed(own.sessionsPerClient),
    fixed(own.sessionsPerWorker),
    fixed(own.sessionBytesPerClient),
    fixed(own.sessionBytesPerWorker),
    fixed(own.watchersPerClient),
    fixed(own.watchers),
    fixed(own.sessionIdleMs),
    set('JOBS_AT_ONCE'),
    fixed(own.jobsPerClient),
    fixed(own.conditionsPerJob),
    set('JOB_BRAIN_SECONDS_PER_CLIENT'),
    set('JOBS_KEPT_BYTES'),
    fixed(own.jobResultBytes),
    fixed(own.unfinishedResultBytesPerClient),
    fixed(own.finishedJobs),
    set('JOBS_KEPT_S'),
  ]);
});

it('has the memory of a session, also with the longest refractory period', () => {
  const bytes = (refractorySteps: number) => {
    const state = stateBytes(139_255, 0, historyStepsOf({ refractorySteps }));
    return (Math.round((2 * state) / 1e5) * 1e5).toLocaleString('en');
  };
  expect(table('part of a session')[0]).toEqual(['a whole brain', bytes(22)]);
  expect(text).toContain(`four times as large: ${bytes(500)} bytes.`);
});

it('has the prices', () => {
  expect(table('work').map(([name, bought]) => [name, Number(bought)])).toEqual(
    Object.entries(BOUGHT_BY_BRAIN_SECOND),
  );
});

describe('metrics and alerts', () => {
  let exposed: { name: string; labels: readonly string[] }[];
  const { groups } = parse(readFileSync('docker/alerts.yml', 'utf8')) as {
    groups: { rules: { alert: string; expr: string; labels: { severity: string } }[] }[];
  };
  const rules = groups.flatMap((group) => group.rules);

  beforeAll(async () => {
    const app = await assembleApplication(readEnvironment({}));
    const all = app.get(Metrics).registry.getMetricsAsArray() as unknown as {
      name: string;
      labelNames: string[];
    }[];
    exposed = all.map(({ name, labelNames }) => ({ name, labels: labelNames }));
    await app.close();
  });

  it('lists every metric with its labels, and no other', () => {
    const own = exposed.filter(({ name }) => name.startsWith('nes_'));
    expect(table('metric').map(([name, labels]) => `${name} ${labels}`)).toEqual(
      own.map(({ name, labels }) => `${name} ${labels.join(', ')}`).sort(),
    );
    const others = [...text.matchAll(/`((?:process|nodejs)_\w+)`/g)].map(([, name]) => name!);
    expect(others.length).toBeGreaterThan(1);
    expect(others.filter((name) => !exposed.some((metric) => metric.name === name))).toEqual([]);
  });

  it('lists every alert with its severity', () => {
    expect(table('alert').map(([name, severity]) => [name, severity])).toEqual(
      rules.map(({ alert, labels }) => [alert, labels.severity]),
    );
  });

  it('alerts on metrics and labels that are there', () => {
    for (const { alert, expr } of rules) {
      const used = [...expr.matchAll(/\b(nes_\w+|process_\w+|nodejs_\w+)(?:\{([^}]*)\})?/g)];
      if (alert !== 'ServiceDown') expect(used.length).toBeGreaterThan(0);
      for (const [, name, matchers = ''] of used) {
        const metric = exposed.find((each) => each.name === name!.replace(/_bucket$/, ''));
        expect([alert, name, metric !== undefined]).toEqual([alert, name, true]);
        const labels = [...matchers.matchAll(/(\w+)\s*[=!]/g)].map(([, label]) => label!);
        expect(labels.filter((label) => !metric!.labels.includes(label))).toEqual([]);
      }
    }
  });
});

describeWith(['promtool'], 'promtool', () => {
  const promtool = (...args: string[]) =>
    execFileSync('promtool', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

  it('takes configuration and rules for valid', () => {
    expect(promtool('check', 'config', 'docker/prometheus.yml')).toContain('rules found');
  });

  it('finds each alert raised by its cause, and none by a service that is well', () => {
    expect(promtool('test', 'rules', join('test', 'docs', 'alerts.test.yml'))).toContain('SUCCESS');
  });
});
