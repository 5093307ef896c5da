import js from '@eslint/js';
import prettier from 'eslint-config-prettier';
import tseslint from 'typescript-eslint';

/**
 * The layers of src/, from what everything stands on to what people call. A layer is a folder without the layers inside
 * it. Its files may import from their own layer and from those named here; nothing imports upwards. A path with a file
 * allows that file alone.
 */
const mayImport = {
  connectome: [],
  experiment: [],
  compiler: ['connectome', 'experiment/philox'],
  engine: ['connectome', 'experiment'],
  // One folder a version of the API: what a request means, and the bytes of its answers.
  'answers/v1': ['connectome', 'experiment', 'engine'],
  'answers/v2': ['connectome', 'experiment', 'engine'],
  // How a version describes and checks itself over HTTP; workers never load it.
  'answers/v1/api': ['connectome', 'engine', 'answers/v1', 'http', 'openapi'],
  'answers/v2/api': ['connectome', 'experiment', 'engine', 'answers/v2', 'http', 'openapi'],
  // From the tables of an answer to the bytes of CSV, Arrow and Parquet.
  'answers/v2/formats': ['connectome', 'experiment/protocol', 'answers/v2'],
  pool: ['connectome', 'experiment', 'engine', 'answers/v1', 'answers/v2'],
  config: [],
  http: [],
  health: ['connectome', 'pool'],
  // From a file to a model that is served: loading, workers, retrying.
  serving: ['connectome', 'answers/v1', 'pool', 'config', 'health'],
  redis: [],
  'rate-limit': ['config', 'http', 'health', 'redis'],
  // Experiments that nobody waits for: their chunks, their results, who computes them.
  jobs: ['connectome', 'answers/v2', 'pool', 'config', 'health', 'redis'],
  run: ['answers/v1', 'answers/v1/api', 'pool', 'config', 'http', 'health', 'rate-limit'],
  // POST /api/v2/experiments, GET /api/v2/neurons and /api/v2/node-sets.
  experiments: [
    'connectome',
    'answers/v2',
    'answers/v2/api',
    'answers/v2/formats',
    'pool',
    'config',
    'http',
    'health',
    'jobs',
    'rate-limit',
  ],
  atlas: ['connectome', 'http', 'health'],
  model: ['answers/v1/api', 'http', 'health', 'atlas'],
  metrics: ['config', 'http', 'health', 'serving', 'run', 'jobs', 'experiments'],
  openapi: ['config', 'http'],
  // The pages bundle readers of the service's formats, the tables of fields and the writers of tables; of
  // answers/v1/api, atlas and answers/v2/result they take types alone.
  dashboard: [
    'connectome',
    'engine/network',
    'answers/v1/fields',
    'answers/v1/drives',
    'answers/v1/api',
    'answers/v2/document',
    'answers/v2/fields',
    'answers/v2/node-set-list',
    'answers/v2/result',
    'answers/v2/formats',
    'atlas/cell-card',
    // What figures show; how the command line draws them is no part of a page.
    'plot/heat-map',
    'plot/condition-labels',
    'config',
    'http',
  ],
  plot: ['answers/v2/document', 'answers/v2/result'],
  // The studies of npm run validate.
  validation: ['connectome', 'experiment', 'engine', 'answers/v1', 'plot'],
  cli: [
    'connectome',
    'compiler',
    'experiment',
    'engine',
    'answers/v1',
    'answers/v1/api',
    'answers/v2',
    'answers/v2/api',
    'answers/v2/formats',
    'openapi',
    'pool',
    'config',
    'plot',
    'validation',
  ],
};
/** Files beside the folders that every layer may import. */
const everyone = ['errors', 'parts', 'pauses', 'repeated-member', 'within'];

const layers = Object.keys(mayImport);
const layersInside = (layer) => layers.filter((other) => other.startsWith(`${layer}/`));

/** The relative imports that reach a layer, without those of the layers inside it and of the `files` that are allowed. */
function importsOf(layer, files) {
  const inside = layersInside(layer).map((other) => `(?!${other.slice(layer.length + 1)}/)`);
  const allowed = files.map((file) => `(?!${file}\\.js$)`);
  return `^(\\.\\./)+${layer}/${inside.join('')}${allowed.join('')}`;
}

const layerRules = layers.map((layer) => {
  const [folders, files] = [
    mayImport[layer].filter((to) => layers.includes(to)),
    mayImport[layer].filter((to) => !layers.includes(to)),
  ];
  const allowed = [...mayImport[layer], ...everyone].join(', ');
  const message = `src/${layer} may import only from: ${allowed}.`;
  const refused = layers
    .filter((other) => other !== layer && !folders.includes(other))
    .map((other) => ({
      regex: importsOf(
        other,
        files
          .filter((file) => file.startsWith(`${other}/`) && !layers.includes(file))
          .map((file) => file.slice(other.length + 1)),
      ),
      message,
    }));
  return {
    files: [`src/${layer}/**/*.ts`],
    ignores: ['src/**/*.spec.ts', ...layersInside(layer).map((other) => `src/${other}/**`)],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            ...refused,
            ...layersInside(layer).map((other) => ({
              regex: `^\\./${other.slice(layer.length + 1)}/`,
              message,
            })),
            ...(layer === 'pool' ? [] : [{ regex: '^piscina$', message: 'Only src/pool knows Piscina.' }]),
            ...(layer === 'engine'
              ? []
              : [{ regex: '^(gpu\\.js|webgpu)$', message: 'Only src/engine/backends/gpu knows GPU.js.' }]),
            ...(layer === 'engine' || layer === 'experiment'
              ? [
                  {
                    regex: '^(@nestjs/|node:fs|node:process|fastify)',
                    message: `src/${layer} knows no Nest, no file system, no environment.`,
                  },
                ]
              : []),
          ],
        },
      ],
    },
  };
});

export default tseslint.config(
  {
    ignores: [
      'dist/',
      'node_modules/',
      'src/engine/kernel/',
      'src/experiment/kernel/',
      'coverage/',
      'clients/**/dist/',
      'clients/typescript/src/api*.ts',
    ],
  },
  js.configs.recommended,
  ...tseslint.configs.recommended,
  {
    files: ['**/*.ts'],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      'no-restricted-properties': [
        'error',
        {
          object: 'Math',
          property: 'random',
          message: 'Every result is a function of the request: use src/experiment/philox.ts.',
        },
        {
          object: 'Math',
          property: 'exp',
          message: "A platform's exp is not the same everywhere: use src/answers/v1/exponential.ts.",
        },
      ],
    },
  },
  {
    // Nest reads constructor parameter types at run time; a type-only import would erase them.
    files: ['src/**/*.ts'],
    rules: { '@typescript-eslint/consistent-type-imports': 'off' },
  },
  {
    files: ['**/*.mjs'],
    languageOptions: {
      globals: {
        WebAssembly: 'readonly',
        process: 'readonly',
        performance: 'readonly',
        console: 'readonly',
        URL: 'readonly',
        Buffer: 'readonly',
        fetch: 'readonly',
        AbortController: 'readonly',
        setTimeout: 'readonly',
      },
    },
  },
  {
    files: ['clients/*/example/*.js'],
    languageOptions: {
      globals: {
        document: 'readonly',
        fetch: 'readonly',
        innerHeight: 'readonly',
        innerWidth: 'readonly',
        location: 'readonly',
        URLSearchParams: 'readonly',
      },
    },
  },
  {
    // Tests may compare with a platform's exp; they still may not draw from an unseeded generator.
    files: ['test/**/*.ts', '**/*.spec.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'Math', property: 'random', message: 'Tests draw from a printed seed.' },
      ],
    },
  },
  ...layerRules,
  {
    // Packages for other projects. The page draws the fly as well.
    files: ['clients/*/src/**/*.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        { patterns: [{ regex: '^\\.\\./', message: 'A client imports nothing from outside its package.' }] },
      ],
    },
  },
  prettier,
);
