import createClient from 'openapi-fetch';
import type { paths } from '../dist/v2/openapi-typescript.js';
import { type Answers, ASYNC, DOCUMENT, given, SESSION, STEP, untilDone } from './document.js';

export async function ask(baseUrl: string): Promise<Answers> {
  const client = createClient<paths>({ baseUrl });
  const { data: answer } = await client.POST('/api/v2/experiments', { body: DOCUMENT });
  const begun = await client.POST('/api/v2/experiments', { body: DOCUMENT, headers: ASYNC });
  const params = { path: { job: (begun.data as { jobID: string }).jobID } };
  await untilDone(async () => given((await client.GET('/api/v2/experiments/{job}', { params })).data).status);
  const { data: results } = await client.GET('/api/v2/experiments/{job}/results', { params });
  const { data: after } = await client.DELETE('/api/v2/experiments/{job}', { params });
  const opened = await client.POST('/api/v2/sessions', { body: SESSION });
  const ofSession = { path: { session: given(opened.data).session } };
  const stepped = await client.POST('/api/v2/sessions/{session}/steps', { params: ofSession, body: STEP });
  await client.DELETE('/api/v2/sessions/{session}', { params: ofSession });
  const { data: table } = await client.POST('/api/v2/experiments', {
    body: DOCUMENT,
    params: { query: { format: 'csv' } },
    parseAs: 'text',
  });
  return {
    experiment: JSON.stringify(answer),
    job: JSON.stringify(results),
    statusAfter: given(after).status,
    tMs: given(stepped.data).t_ms,
    table: String(table),
  };
}
