/** The workflows of arazzo.json, run by a program that knows nothing else of the service. */
import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { connectomeFile } from '../support/connectomes.js';
import { DOCUMENT_OF_V2 } from '../support/contract.js';
import { startReadyService } from '../support/service.js';

interface Step {
  readonly stepId: string;
  readonly response: { readonly statusCode: number; readonly body: Record<string, unknown> };
}
interface Run {
  readonly files: Record<
    string,
    { readonly executedWorkflows: readonly { workflowId: string; executedSteps: readonly Step[] }[] }
  >;
}

/** Runs a command of Redocly in a folder. Rejects with the output if it fails. */
async function redocly(folder: string, ...args: string[]): Promise<string> {
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const program = [resolve('node_modules/@redocly/cli/bin/cli.js'), ...args];
  const options = { cwd: folder, env, maxBuffer: 2 ** 26 };
  const { stdout } = await promisify(execFile)(process.execPath, program, options).catch(
    ({ stdout: printed, message }: Error & { stdout?: string }) => {
      throw new Error(printed || message);
    },
  );
  return stdout;
}

/**
 * A folder with the workflows and the description beside them, without the schemas of answers: Redocly expands each of
 * them at each step, which takes half a minute. The tests of the routes check the bodies.
 */
function folderOfWorkflows(): string {
  const folder = mkdtempSync(join(tmpdir(), 'arazzo-'));
  copyFileSync('arazzo.json', join(folder, 'arazzo.json'));
  const withoutSchemas = (key: string, value: unknown) =>
    key === 'responses'
      ? (JSON.parse(JSON.stringify(value, (name, each) => (name === 'schema' ? {} : each))) as unknown)
      : value;
  writeFileSync(join(folder, 'openapi-v2.json'), JSON.stringify(DOCUMENT_OF_V2, withoutSchemas));
  return folder;
}

describe('arazzo.json', () => {
  it('is valid, without a warning', async () => {
    const printed = await redocly(resolve('.'), 'lint', 'arazzo.json', '--format=json');
    expect(JSON.parse(printed).totals).toMatchObject({ errors: 0, warnings: 0 });
  });

  it('runs an experiment, a job and a session', async () => {
    const service = await startReadyService({ CONNECTOME_FILE: await connectomeFile('default') });
    const folder = folderOfWorkflows();
    try {
      await redocly(folder, 'respect', 'arazzo.json', '-S', `service=${service.url}`, '-J', 'run.json');
    } finally {
      await service.stop();
    }
    const { files } = JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8')) as Run;
    const [experiment, job, session] = files['arazzo.json']!.executedWorkflows;
    const stepsOf = (workflow: typeof job) => [
      ...new Set(workflow!.executedSteps.map(({ stepId }) => stepId)),
    ];
    expect(stepsOf(experiment)).toEqual(['run']);
    expect(stepsOf(job)).toEqual(['begin', 'poll', 'results', 'delete']);
    expect(stepsOf(session)).toEqual(['open', 'step', 'branch', 'document', 'end', 'endBranch']);
    const bodyOf = (workflow: typeof job, name: string) =>
      workflow!.executedSteps.findLast(({ stepId }) => stepId === name)!.response.body;
    expect(bodyOf(job, 'results')).toEqual(bodyOf(experiment, 'run'));
    expect(bodyOf(session, 'document')).toMatchObject({ duration_ms: 20, trials: 1 });
  });
});
