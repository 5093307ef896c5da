import js from '@eslint/js';
import prettier from 'eslint-config-prettier';
import tseslint from 'typescript-eslint';

/**
 * The layers of src/, from what people call to what everything stands on. A file may import from its own
 * folder, from the folders it names here, and from what `everyone` may import; nothing imports upwards.
 */
const everyone = ['errors'];
const mayImport = {
  connectome: [],
  experiment: ['connectome'],
  compiler: ['connectome', 'experiment/philox'],
  engine: ['experiment', 'connectome'],
  pool: ['engine', 'experiment', 'connectome'],
  config: [],
  health: ['pool', 'connectome', 'engine', 'config', 'http'],
  metrics: ['pool', 'health', 'config', 'run', 'http'],
  atlas: ['connectome', 'health', 'http', 'pool', 'config'],
  model: ['connectome', 'engine', 'health', 'http', 'pool', 'config', 'atlas'],
  run: ['connectome', 'engine', 'pool', 'health', 'http', 'config'],
  openapi: ['http', 'run', 'model', 'config', 'health'],
  // Its page bundles what reads the service's formats; of model and run it takes types alone.
  dashboard: ['http', 'config', 'connectome', 'engine/network', 'model', 'run'],
  http: ['config'],
  plot: [],
  cli: ['compiler', 'connectome', 'experiment', 'engine', 'pool', 'config', 'openapi', 'plot'],
};
const folders = Object.keys(mayImport);

const layerRules = folders.map((folder) => ({
  files: [`src/${folder}/**/*.ts`],
  ignores: ['src/**/*.spec.ts'],
  rules: {
    'no-restricted-imports': [
      'error',
      {
        patterns: [
          ...folders
            .filter(
              (other) => other !== folder && !mayImport[folder].some((to) => to.split('/')[0] === other),
            )
            .map((other) => ({
              regex: `^(\\.\\./)+${other}/`,
              message: `src/${folder} may import only from: ${[...mayImport[folder], ...everyone].join(', ')}.`,
            })),
          ...mayImport[folder]
            .filter((to) => to.includes('/'))
            .map((to) => ({
              regex: `^(\\.\\./)+${to.split('/')[0]}/(?!${to.split('/')[1]}\\.js$)`,
              message: `Of src/${to.split('/')[0]}, src/${folder} may import only ${to}.`,
            })),
          ...(folder === 'pool' ? [] : [{ regex: '^piscina$', message: 'Only src/pool knows Piscina.' }]),
          ...(folder === 'engine'
            ? []
            : [{ regex: '^(gpu\\.js|webgpu)$', message: 'Only src/engine/backends/gpu knows GPU.js.' }]),
          ...(folder === 'engine' || folder === 'experiment'
            ? [
                {
                  regex: '^(@nestjs/|node:fs|node:process|fastify)',
                  message: `src/${folder} knows no Nest, no file system, no environment.`,
                },
              ]
            : []),
        ],
      },
    ],
  },
}));

export default tseslint.config(
  {
    ignores: [
      'dist/',
      'node_modules/',
      'src/engine/kernel/',
      'src/experiment/kernel/',
      'coverage/',
      'clients/**/dist/',
      'clients/typescript/src/api.ts',
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
          message: "A platform's exp is not the same everywhere: use src/engine/exponential.ts.",
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
        setTimeout: 'readonly',
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
  prettier,
);
