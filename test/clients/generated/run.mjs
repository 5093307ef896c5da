/**
 * Prints the answers that each compiled program got.
 *
 *     node run.mjs URL_OF_THE_SERVICE
 */
const [service] = process.argv.slice(2);
const answers = {};
for (const tool of ['openapi-typescript', 'hey-api', 'orval', 'swagger-typescript-api']) {
  const { ask } = await import(`./dist/js/programs/${tool}.js`);
  answers[tool] = await ask(service);
}
console.log(JSON.stringify(answers));
