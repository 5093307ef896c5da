/**
 * Rules of this project, which `.oxlintrc.json` switches on: allowed imports, openings of comments, and lookup of
 * names.
 */
import { dirname, join, relative } from 'node:path';

/**
 * The doors of src/ in the order of reading, and the rooms of each. A door imports only from the doors before it. A
 * room imports from the rooms of its door that its row names; the row '' is for loose files. All of engine imports its
 * loose files.
 */
const doors = {
  engine: {
    '': ['schema'],
    schema: [],
    connectome: ['schema'],
    stimulus: ['connectome'],
    simulation: ['connectome', 'stimulus'],
  },
  experiments: {
    presets: [],
    // Workers and pages load kinds, so they know no formats and no Ajv.
    kinds: [],
    document: ['kinds'],
    plan: ['kinds', 'document'],
    run: ['kinds', 'document', 'plan'],
    figures: ['kinds', 'document'],
    formats: ['kinds', 'document', 'plan', 'run', 'figures'],
    sessions: ['kinds', 'document', 'plan', 'run', 'formats'],
  },
  workers: {
    pool: [],
    gpu: ['pool'],
    queue: ['pool', 'gpu'],
    thread: ['pool', 'queue'],
    figures: ['pool'],
  },
  service: {
    redis: [],
    config: ['redis'],
    limits: ['redis', 'config'],
    jobs: ['redis'],
    http: ['config', 'limits'],
    health: [],
    sessions: ['limits', 'health'],
    'model-host': ['config', 'limits', 'health'],
    'api/openapi': ['config', 'http', 'health'],
    'api/atlas': ['http', 'limits', 'health'],
    'api/v1': ['config', 'http', 'health', 'limits', 'api/atlas', 'api/openapi'],
    'api/v2': ['config', 'http', 'health', 'limits', 'jobs', 'sessions', 'api/openapi'],
    metrics: ['config', 'http', 'health', 'limits', 'jobs', 'sessions', 'model-host', 'api/v1', 'api/v2'],
    pages: ['config', 'http', 'health', 'api/atlas', 'api/v2'],
    '': [
      'config',
      'http',
      'health',
      'limits',
      'jobs',
      'sessions',
      'model-host',
      'api/v1',
      'api/v2',
      'api/atlas',
      'api/openapi',
      'metrics',
      'pages',
    ],
  },
  tools: {
    compiler: [],
    statistics: ['compiler'],
    studies: [],
    golden: [],
    cli: ['compiler', 'statistics', 'studies', 'golden'],
  },
};

/** Rooms and files that the pages bundle: formats of the service, tables of fields, figures, writers of tables. */
const bundled = [
  'engine/get-or-insert',
  'engine/mapped',
  'engine/own',
  'engine/connectome',
  'engine/schema',
  'engine/simulation/network',
  'experiments/presets/fields',
  'experiments/presets/drives',
  'experiments/presets/lesion-document',
  'experiments/kinds',
  'experiments/document/document',
  'experiments/document/lesson',
  'experiments/document/result',
  'experiments/formats',
  'experiments/figures',
];

/** The doors that clients import from. */
const doorsOfClients = {
  'clients/tab/': ['engine', 'experiments'],
  'clients/mcp/': ['engine', 'experiments', 'tools'],
};

/** Packages that only one folder may import. */
const packages = [
  { name: /^piscina$/, knownIn: ['src/workers/'] },
  { name: /^#client$/, knownIn: ['src/tools/cli/', 'clients/pages/', 'clients/tab/', 'clients/mcp/'] },
  { name: /^@modelcontextprotocol\//, knownIn: ['clients/mcp/'] },
  { name: /^(gpu\.js|webgpu)$/, knownIn: ['src/engine/simulation/gpu/'] },
  { name: /^(@nestjs\/|fastify)/, knownIn: ['src/service/', 'src/workers/', 'src/tools/'] },
];

const root = dirname(import.meta.dirname);
const startsWithOneOf = (path, folders) => folders.some((folder) => path.startsWith(folder));

/** @returns the door and the room of a file in src/, by its path from the root without its extension */
function placeOf(path) {
  const [src, door, ...inside] = path.split('/');
  if (src !== 'src' || inside.length === 0) return undefined;
  const rooms = Object.keys(doors[door] ?? {});
  const room = rooms.find((each) => each !== '' && inside.join('/').startsWith(`${each}/`));
  return { door, room: room ?? '' };
}

/** @returns the reason if a file must not import another; undefined if it may */
function refusalOf(from, to) {
  const other = placeOf(to);
  if (from.startsWith('clients/pages/')) {
    const isBundled = bundled.some((each) => `${to}/`.startsWith(`src/${each}/`));
    return other === undefined || isBundled ? undefined : `Pages bundle only: ${bundled.join(', ')}.`;
  }
  const client = Object.keys(doorsOfClients).find((each) => from.startsWith(each));
  if (client !== undefined && other !== undefined && !doorsOfClients[client].includes(other.door))
    return `${client} imports only from ${doorsOfClients[client].join(', ')}.`;
  const own = placeOf(from);
  if (own === undefined || other === undefined) return undefined;
  const order = Object.keys(doors);
  if (own.door !== other.door) {
    const before = order.slice(0, order.indexOf(own.door));
    return before.includes(other.door)
      ? undefined
      : `${own.door} imports only from ${before.join(', ') || 'itself'}.`;
  }
  const allowed = doors[own.door][own.room];
  if (own.room === other.room || allowed?.includes(other.room)) return undefined;
  if (other.room === '' && own.door === 'engine') return undefined;
  return `${own.door}/${own.room} imports from its door only: ${allowed?.join(', ') || 'itself'}.`;
}

/** Rejects an import that the tables above do not allow. */
const layers = {
  create(context) {
    const from = relative(root, context.filename).replaceAll('\\', '/');
    const check = ({ source }) => {
      const name = source?.value;
      if (typeof name !== 'string') return;
      const report = (message) => context.report({ node: source, message });
      const known = packages.find((each) => each.name.test(name));
      if (known && !startsWithOneOf(from, known.knownIn))
        report(`Only ${known.knownIn.join()} knows ${name}.`);
      if (!name.startsWith('.')) return;
      const refusal = refusalOf(from, join(dirname(from), name).replaceAll('\\', '/').replace(/\.js$/, ''));
      if (refusal !== undefined) report(refusal);
    };
    return {
      ImportDeclaration: check,
      ImportExpression: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
    };
  },
};

/** Openings that make a reader wait for the noun: name the thing, or its action. */
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

/** Keys that hold a name, which a client may have chosen. */
const isName = ({ type, name }) =>
  type === 'Identifier' && /^(name|report|input|parameter)$|(Name|Set)$/.test(name);

/** Rejects looking a name up in an object that may lack it: every object inherits `constructor` and others. */
const ownMembers = {
  create(context) {
    const isLookup = ({ type, computed, property }) =>
      type === 'MemberExpression' && computed && isName(property);
    const report = (node) =>
      context.report({
        node,
        message: 'An object may inherit a member of this name: use src/engine/own.ts.',
      });
    return {
      LogicalExpression: ({ left, operator }) => operator === '??' && isLookup(left) && report(left),
      MemberExpression: ({ object, optional }) => optional && isLookup(object) && report(object),
      CallExpression: ({ callee, optional }) => optional && isLookup(callee) && report(callee),
      BinaryExpression({ left, operator, right }) {
        const isCompared =
          /^[!=]==$/.test(operator) && right.type === 'Identifier' && right.name === 'undefined';
        if (operator === 'in' ? isName(left) : isCompared && isLookup(left)) report(left);
      },
      VariableDeclarator: ({ id, init }) =>
        id.type === 'Identifier' && init && isLookup(init) && report(init),
    };
  },
};

export default {
  meta: { name: 'project' },
  rules: { layers, 'comment-openings': commentOpenings, 'own-members': ownMembers },
};
