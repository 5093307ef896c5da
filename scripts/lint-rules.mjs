/**
 * Rules of this project, which `.oxlintrc.json` switches on: who may import whom, and how comments begin.
 */
import { dirname, join, relative } from 'node:path';

/**
 * The layers of src/, from what everything stands on to what people call, and the pages. A layer is a folder without the
 * layers inside it. Its files may import from their own layer and from those named here; nothing imports upwards. A path
 * with a file allows that file alone.
 */
const mayImport = {
  connectome: [],
  stimulus: ['connectome/sorted-array'],
  compiler: ['connectome', 'stimulus/philox'],
  simulation: ['connectome', 'stimulus'],
  // One folder a version of the API: what a request means, and the bytes of its answers.
  presets: ['connectome', 'stimulus', 'simulation'],
  experiments: ['connectome', 'stimulus', 'simulation', 'experiments/kinds'],
  // Reports, inputs, axes and edits, one file each. Workers and pages load them: no formats, no Ajv.
  'experiments/kinds': [
    'connectome',
    'stimulus',
    'simulation/network',
    'simulation/simulation',
    'experiments/document/document',
    'experiments/document/fields',
    'experiments/document/kind-schemas',
    'experiments/plan/groups',
    'experiments/plan/sweep',
    'experiments/run/result',
  ],
  // From the tables of an answer to the bytes of CSV, Arrow and Parquet.
  'experiments/formats': ['connectome', 'stimulus/protocol', 'experiments', 'experiments/kinds'],
  // Figures of an answer and their drawing: pages and commands load them.
  'experiments/figures': ['connectome/set-selector', 'experiments', 'experiments/kinds', 'stimulus/protocol'],
  scheduling: ['connectome', 'stimulus', 'simulation', 'presets', 'experiments'],
  // Work of version 2 other than trials: its thread, and the way to it.
  'scheduling/experiment-thread': [
    'connectome',
    'stimulus/protocol',
    'experiments',
    'experiments/formats',
    'scheduling',
  ],
  // Experiments that no request waits for: their chunks, their results, and the workers of these.
  jobs: ['experiments', 'scheduling', 'scheduling/experiment-thread'],
  // Trials that go on step by step.
  sessions: [
    'connectome',
    'stimulus/protocol',
    'experiments',
    'experiments/kinds',
    'experiments/formats',
    'scheduling',
  ],
  'service/config': [],
  'service/http': ['service/config', 'service/limits'],
  'service/health': ['connectome', 'scheduling', 'scheduling/experiment-thread'],
  // From a file to a model that is served: loading, workers, retrying.
  'service/model-host': [
    'connectome',
    'presets',
    'scheduling',
    'scheduling/experiment-thread',
    'service/config',
    'service/limits',
    'service/health',
  ],
  'service/limits': ['scheduling', 'service/config'],
  'service/api/openapi': ['service/config', 'service/http'],
  'service/api/v1': [
    'connectome',
    'simulation',
    'presets',
    'scheduling',
    'service/config',
    'service/http',
    'service/health',
    'service/limits',
    'service/api/atlas',
    'service/api/openapi',
  ],
  'service/api/v2': [
    'connectome',
    'simulation/network',
    'experiments',
    'experiments/kinds',
    'experiments/formats',
    'scheduling',
    'scheduling/experiment-thread',
    'jobs',
    'sessions',
    'service/config',
    'service/http',
    'service/health',
    'service/limits',
    'service/api/openapi',
  ],
  'service/api/atlas': [
    'connectome',
    'scheduling/experiment-thread',
    'service/http',
    'service/limits',
    'service/health',
  ],
  'service/metrics': [
    'jobs',
    'sessions',
    'service/config',
    'service/http',
    'service/health',
    'service/limits',
    'service/model-host',
    'service/api/v1',
    'service/api/v2',
  ],
  'service/pages': ['service/config', 'service/http', 'service/health', 'service/api/atlas'],
  service: [
    'scheduling',
    'jobs',
    'sessions',
    'service/config',
    'service/http',
    'service/health',
    'service/limits',
    'service/model-host',
    'service/api/v1',
    'service/api/v2',
    'service/api/atlas',
    'service/api/openapi',
    'service/metrics',
    'service/pages',
  ],
  // The studies of npm run validate.
  validation: ['connectome', 'stimulus', 'simulation', 'presets', 'experiments/figures'],
  cli: [
    'connectome',
    'stimulus',
    'compiler',
    'simulation',
    'presets',
    'experiments',
    'experiments/kinds',
    'experiments/formats',
    'experiments/figures',
    'scheduling',
    'service',
    'service/config',
    'service/api/openapi',
    'validation',
  ],
  // The pages bundle readers of the service's formats, the tables of fields, figures and the writers of tables.
  'clients/pages': [
    'connectome',
    'simulation/network',
    'presets/fields',
    'presets/drives',
    'experiments/document/document',
    'experiments/document/fields',
    'experiments/kinds/edit-kinds',
    'experiments/kinds/input-kinds',
    'experiments/kinds/report-kinds',
    'experiments/run/result',
    'experiments/formats',
    'experiments/figures',
    'validation/published-rates',
  ],
};
/** Files beside the folders that every layer may import. */
const everyone = [
  'errors',
  'exponential',
  'get-or-insert',
  'gzip',
  'json-text',
  'lua-script',
  'mean-sd',
  'parts',
  'redis-presence',
  'repeated-member',
  // Schemas of documents, answers and files: their types, checks and sentences.
  'schema/allowed-values',
  'schema/check',
  'schema/completed',
  'schema/forms',
  'schema/json-path',
  'schema/json-schema',
  'schema/nearest-names',
  'with-timeout',
];

/** Packages that one folder alone knows. */
const packages = [
  { name: /^piscina$/, knownIn: ['src/scheduling/'] },
  { name: /^#client$/, knownIn: ['src/cli/', 'clients/pages/'] },
  { name: /^(gpu\.js|webgpu)$/, knownIn: ['src/simulation/gpu/'] },
];
/** Code that runs in workers, commands and tests alike: no Nest, no file system, no environment. */
const pure = {
  folders: ['src/simulation/', 'src/stimulus/'],
  packages: /^(@nestjs\/|node:fs|node:process|fastify)/,
};

const root = dirname(import.meta.dirname);
const startsWithOneOf = (path, folders) => folders.some((folder) => path.startsWith(folder));
/** @returns the deepest layer that a file is in, by its path from the root and without its extension */
function layerOf(path) {
  const inside = path.replace(/^src\//, '');
  return Object.keys(mayImport)
    .filter((layer) => inside.startsWith(`${layer}/`))
    .sort((a, b) => b.length - a.length)[0];
}

/** Rejects an import that the tables above do not allow. */
const layers = {
  create(context) {
    const from = relative(root, context.filename).replaceAll('\\', '/');
    const layer = layerOf(from);
    const check = ({ source }) => {
      const name = source?.value;
      if (typeof name !== 'string') return;
      const report = (message) => context.report({ node: source, message });
      const known = packages.find((each) => each.name.test(name));
      if (known && !startsWithOneOf(from, known.knownIn))
        report(`Only ${known.knownIn.join()} knows ${name}.`);
      if (pure.packages.test(name) && startsWithOneOf(from, pure.folders))
        report(`src/${layer} knows no Nest, no file system, no environment.`);
      if (!name.startsWith('.') || layer === undefined) return;
      const to = join(dirname(from), name).replaceAll('\\', '/').replace(/\.js$/, '');
      const other = layerOf(to);
      const inSource = to.replace(/^src\//, '');
      if (other === layer || (to.startsWith('src/') ? everyone.includes(inSource) : other === undefined))
        return;
      const allowed = mayImport[layer];
      if (!allowed.includes(other) && !allowed.includes(inSource))
        report(`${layer} may import only from: ${[...allowed, ...everyone].join(', ')}.`);
    };
    return {
      ImportDeclaration: check,
      ImportExpression: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
    };
  },
};

/** Openings that make a reader wait for the noun: say what the thing is, or what it does. */
const RIDDLE = /^[*\s]*(What|Of|Whoever|Whether|Whose|So long|Nobody|Nothing)\b/;

/** Rejects comments that do not begin with a noun or a verb. */
const commentOpenings = {
  create: (context) => ({
    Program() {
      const { sourceCode } = context;
      const comments = sourceCode.getAllComments();
      comments.forEach((comment, at) => {
        const [, opening] = RIDDLE.exec(comment.value) ?? [];
        const before = comments[at - 1];
        // The second line of a comment of two lines begins in the middle of a sentence.
        const goesOn = comment.type === 'Line' && before?.loc.end.line === comment.loc.start.line - 1;
        if (opening !== undefined && !goesOn)
          context.report({
            node: comment,
            message: `A comment begins with a noun or a verb, not with "${opening}".`,
          });
      });
    },
  }),
};

export default { meta: { name: 'project' }, rules: { layers, 'comment-openings': commentOpenings } };
