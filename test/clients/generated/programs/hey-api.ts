import {
  dismissJob,
  endSession,
  getJob,
  getJobResults,
  openSession,
  runOpenExperiment,
  stepSession,
} from '../dist/v2/hey-api/index.js';
import { type Answers, ASYNC, DOCUMENT, given, SESSION, STEP, untilDone } from './document.js';

export async function ask(): Promise<Answers> {
  const { data: answer } = await runOpenExperiment({ body: DOCUMENT });
  const { data: begun } = await runOpenExperiment({ body: DOCUMENT, headers: ASYNC });
  const path = { job: (begun as { jobID: string }).jobID };
  await untilDone(async () => given((await getJob({ path })).data).status);
  const { data: results } = await getJobResults({ path });
  const { data: after } = await dismissJob({ path });
  const { session } = given((await openSession({ body: SESSION })).data);
  const { data: stepped } = await stepSession({ path: { session }, body: STEP });
  await endSession({ path: { session } });
  const { data: table } = await runOpenExperiment({ body: DOCUMENT, query: { format: 'csv' } });
  return {
    experiment: JSON.stringify(answer),
    job: JSON.stringify(results),
    statusAfter: given(after).status,
    tMs: given(stepped).t_ms,
    table: String(table),
  };
}
