import { Api } from '../dist/v2/swagger-typescript-api/api.js';
import { type Answers, ASYNC, DOCUMENT, SESSION, STEP, untilDone } from './document.js';

export async function ask(): Promise<Answers> {
  const { api } = new Api();
  const { data: answer } = await api.runOpenExperiment({}, DOCUMENT);
  const begun = await api.runOpenExperiment({}, DOCUMENT, { headers: ASYNC });
  const { jobID: job } = begun.data as unknown as { jobID: string };
  await untilDone(async () => (await api.getJob(job)).data.status);
  const { data: results } = await api.getJobResults(job);
  const { data: after } = await api.dismissJob(job);
  const { session } = (await api.openSession(SESSION)).data;
  const { data: stepped } = await api.stepSession(session, STEP);
  await api.endSession(session);
  const table: { data: unknown } = await api.runOpenExperiment({ format: 'csv' }, DOCUMENT, {
    format: 'text',
  });
  return {
    experiment: JSON.stringify(answer),
    job: JSON.stringify(results),
    statusAfter: after.status,
    tMs: stepped.t_ms,
    table: String(table.data),
  };
}
