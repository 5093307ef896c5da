import { createApplication } from './application.js';
import { readEnvironment } from './config/environment.js';
import { CodedError } from './errors.js';

try {
  const environment = readEnvironment(process.env);
  const app = await createApplication(environment);
  await app.listen(environment.PORT, environment.HOST);
} catch (error) {
  console.error(error instanceof CodedError ? error.message : error);
  process.exitCode = error instanceof CodedError ? error.exitCode : 1;
}
