/**
 * npm run bench:ci: runs continuous integration beside one busy loop for each core, so on a machine of half the speed.
 * No test may depend on the speed of the machine. It takes about twice as long as .ci/run alone.
 */
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';

for (let core = 0; core < availableParallelism(); core++) new Worker('for (;;);', { eval: true });
const ci = spawn('bash', ['.ci/run'], { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => ci.kill(signal));
ci.once('exit', (status) => process.exit(status ?? 1));
