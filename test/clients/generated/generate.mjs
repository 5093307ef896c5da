/**
 * Makes the clients and the Postman collections of the two descriptions, in one process.
 *
 *     node generate.mjs URL_OF_THE_SERVICE
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createClient } from '@hey-api/openapi-ts';
import postman from 'openapi-to-postmanv2';
import openapiTypescript, { astToString } from 'openapi-typescript';
import { generate as orval } from 'orval';
import { generateApi } from 'swagger-typescript-api';

const [service] = process.argv.slice(2);
const out = new URL('dist/', import.meta.url).pathname;
rmSync(out, { recursive: true, force: true });

/** Collections as the import of Postman makes them, without the optional parameters. */
function collectionOf(data) {
  const options = { parametersResolution: 'Example', enableOptionalParameters: false };
  return new Promise((resolve, reject) => {
    postman.convertV2({ type: 'string', data }, options, (error, { result, reason, output }) => {
      if (error || !result) reject(error ?? new Error(reason));
      else resolve(output[0].data);
    });
  });
}

for (const version of ['v1', 'v2']) {
  const folder = `${out}${version}`;
  mkdirSync(folder, { recursive: true });
  const document = await (await fetch(`${service}/api/${version}/openapi`)).text();
  const file = `${folder}/openapi.json`;
  writeFileSync(file, document);
  writeFileSync(`${folder}/openapi-typescript.ts`, astToString(await openapiTypescript(document)));
  await createClient({
    input: file,
    output: `${folder}/hey-api`,
    plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
    logs: { level: 'silent' },
  });
  await orval({
    input: { target: file },
    output: {
      target: `${folder}/orval/api.ts`,
      client: 'fetch',
      baseUrl: { getBaseUrlFromSpecification: true },
    },
  });
  await generateApi({
    input: file,
    output: `${folder}/swagger-typescript-api`,
    fileName: 'api.ts',
    silent: true,
  });
  writeFileSync(`${folder}/postman.json`, JSON.stringify(await collectionOf(document)));
}
