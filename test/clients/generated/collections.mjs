/**
 * Runs the Postman collections that generate.mjs made, in order. Prints the operations with the statuses of their
 * answers. What a person would do by hand is done here: the experiment becomes a job, and the names of the job and the
 * session are filled in. Deletions come last. Events are left out, because newman waits for the end of an answer.
 */
import { readFileSync } from 'node:fs';
import newman from 'newman';

const FILLED_IN = ['job', 'session'];
const KEEP_NAMES = `const body = pm.response.json();
if (body.jobID) pm.collectionVariables.set('job', body.jobID);
if (body.session && !pm.collectionVariables.get('session')) pm.collectionVariables.set('session', body.session);`;

const requestsOf = (items) => items.flatMap((each) => (each.item ? requestsOf(each.item) : [each]));
const operationOf = ({ request: { method, url } }) =>
  `${method.toLowerCase()} /${url.path.map((part) => part.replace(/^:(.+)/, '{$1}')).join('/')}`;

function prepared(collection) {
  const requests = requestsOf(collection.item).filter((item) => !operationOf(item).endsWith('/events'));
  for (const item of requests) {
    const { request } = item;
    for (const variable of request.url.variable)
      if (FILLED_IN.includes(variable.key)) variable.value = `{{${variable.key}}}`;
    const prefer = request.header.find(({ key }) => key === 'Prefer');
    if (prefer) Object.assign(prefer, { disabled: false, value: 'respond-async' });
    item.name = operationOf(item);
    if (request.method === 'POST') {
      item.event = [{ listen: 'test', script: { exec: KEEP_NAMES.split('\n') } }];
    }
  }
  const isLast = ({ request }) => Number(request.method === 'DELETE');
  return { ...collection, item: requests.sort((a, b) => isLast(a) - isLast(b)) };
}

const answers = {};
for (const version of ['v1', 'v2']) {
  const file = new URL(`dist/${version}/postman.json`, import.meta.url);
  const collection = prepared(JSON.parse(readFileSync(file, 'utf8')));
  const summary = await new Promise((resolve, reject) => {
    newman.run({ collection, reporters: [] }, (error, done) => (error ? reject(error) : resolve(done)));
  });
  if (summary.run.failures.length > 0) throw new Error(JSON.stringify(summary.run.failures[0].error));
  answers[version] = summary.run.executions.map(({ item, response }) => [item.name, response?.code]);
}
console.log(JSON.stringify(answers));
