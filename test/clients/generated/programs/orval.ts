import {
  dismissJob,
  endSession,
  getJob,
  getJobResults,
  openSession,
  runOpenExperiment,
  stepSession,
} from '../dist/v2/orval/api.js';
import { type Answers, ASYNC, DOCUMENT, SESSION, STEP, untilDone } from './document.js';

/** The body of an answer that has several media types, which this client leaves to the caller. */
function streamOf(answer: object): Response {
  if ('stream' in answer) return answer.stream as Response;
  throw new Error('The answer is no stream.');
}

export async function ask(): Promise<Answers> {
  const answer = streamOf(await runOpenExperiment(DOCUMENT));
  const begun = streamOf(await runOpenExperiment(DOCUMENT, undefined, { headers: ASYNC }));
  const { jobID: job } = (await begun.json()) as { jobID: string };
  await untilDone(async () => {
    const { status, data } = await getJob(job);
    if (status !== 200) throw new Error(`The answer is ${status}.`);
    return data.status;
  });
  const results = streamOf(await getJobResults(job));
  const after = await dismissJob(job);
  const opened = await openSession(SESSION);
  if (after.status !== 200 || opened.status !== 201) throw new Error('The answer has another status.');
  const stepped = await stepSession(opened.data.session, STEP);
  if (stepped.status !== 200) throw new Error('The answer has another status.');
  await endSession(opened.data.session);
  return {
    experiment: JSON.stringify(await answer.json()),
    job: JSON.stringify(await results.json()),
    statusAfter: after.data.status,
    tMs: stepped.data.t_ms,
    table: await streamOf(await runOpenExperiment(DOCUMENT, { format: 'csv' })).text(),
  };
}
