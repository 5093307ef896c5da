/**
 * npm run refresh: compiles the default brain and regenerates every file of the repository that is made from it and
 * from the code: golden answers, examples, OpenAPI descriptions, docs/errors.md, the typed client. git diff then
 * shows the effects of a change. Pictures and measurements have commands of their own.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { withDefaultService } from './default-service.mjs';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

npm('run', '-s', 'build');
npm(
  'run',
  '-s',
  'model:compile',
  '--',
  '--statistics',
  'data/cell-types',
  '--out',
  'data/default.connectome',
);
await withDefaultService((url) => {
  npm('run', '-s', 'golden:bodies', '--', url);
  npm('run', '-s', 'openapi:examples', '--', url);
});
// The descriptions contain the examples, and the client is generated from the descriptions.
npm('run', '-s', 'openapi');
npm('run', '-s', 'errors');
npm('--prefix', 'clients/typescript', 'run', '-s', 'generate');
// The page of the API shows the descriptions, and the client is built in.
npm('run', '-s', 'build');

function npm(...args) {
  console.log(`npm ${args.join(' ')}`);
  const { status, error } = spawnSync(process.execPath, [process.env.npm_execpath, ...args], {
    stdio: 'inherit',
  });
  if (error) throw error;
  if (status !== 0) throw new Error(`npm ${args.join(' ')} ended with ${status}`);
}
