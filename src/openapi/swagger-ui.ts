import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { CodedError, describeValue } from '../errors.js';
import { SAME_ORIGIN } from '../http/public-address.js';

type Schemas = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>;

export const DOCS_PATH = 'docs';

/** What the page is made of. The package holds more: its version, maps, a page that asks another host. */
const FILES = [
  '',
  '/',
  '/swagger-ui.css',
  '/swagger-ui-bundle.js',
  '/swagger-ui-standalone-preset.js',
  '/swagger-ui-init.js',
  '/favicon-16x16.png',
  '/favicon-32x32.png',
];

/** The API as a page to read and to try it; its files come from the package, not the web. */
export function serveSwaggerUi(
  app: NestFastifyApplication,
  descriptions: readonly OpenAPIObject[],
  publicUrl: string,
): void {
  // The page is on the origin that it asks; behind a proxy its path may have a prefix.
  const path = publicUrl === '' ? SAME_ORIGIN : new URL(publicUrl).pathname;
  const document = { ...allVersions(descriptions), servers: [{ url: path }] };

  const allowed = new Set(FILES.map((file) => `/${DOCS_PATH}${file}`));
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('onRequest', async ({ url }) => {
      const path = url.split('?', 1)[0]!;
      if (path.startsWith(`/${DOCS_PATH}/`) && !allowed.has(path)) {
        throw new CodedError('NOT_FOUND', `There is nothing at ${describeValue(path)}.`);
      }
    });
  SwaggerModule.setup(DOCS_PATH, app, document, {
    customSiteTitle: `${document.info.title} API`,
    // The document has its own address; no second copy under another.
    raw: false,
    swaggerOptions: { validatorUrl: 'none', tryItOutEnabled: true, displayRequestDuration: true },
  });
}

/**
 * All versions on one page: their paths differ. A schema that several have is shown as in the last one.
 * @param descriptions from the oldest version to the newest
 */
function allVersions(descriptions: readonly OpenAPIObject[]): OpenAPIObject {
  const [first] = descriptions;
  const versions = descriptions.map(({ info }) => info);
  const tags = descriptions.flatMap((description) => description.tags ?? []);
  return {
    ...first!,
    info: {
      ...first!.info,
      version: versions.map(({ version }) => version).join(', '),
      description: versions.map(({ version, description }) => `# ${version}\n\n${description}`).join('\n\n'),
    },
    tags: tags.filter(({ name }, at) => tags.findIndex((other) => other.name === name) === at),
    paths: Object.assign({}, ...descriptions.map(({ paths }) => paths)) as OpenAPIObject['paths'],
    components: {
      schemas: Object.assign({}, ...descriptions.map(({ components }) => components?.schemas)) as Schemas,
    },
  };
}
