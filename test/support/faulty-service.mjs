/** The built service, only that its workers fail when a test tells them to. */
import { createApplication } from '../../dist/application.js';
import { readEnvironment } from '../../dist/config/environment.js';
import { endOnSignals } from '../../dist/shutdown.js';

const environment = readEnvironment(process.env);
const app = await createApplication(environment, {
  workerFile: new URL('./faulty.worker.mjs', import.meta.url),
});
endOnSignals(app, environment.SHUTDOWN_MS);
await app.listen(environment.PORT, environment.HOST);
