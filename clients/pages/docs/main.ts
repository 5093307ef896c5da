/** Shows the descriptions of all versions as one page, by Swagger UI. */
import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js';
import { Notices } from '../notices.js';
import { byId } from '../dom.js';
import { asFailure, fetchJson } from '../service/client.js';
import { SERVICE_URL } from '../service/transport.js';
import { onThemeChange, readTheme } from '../theme.js';
import { keepAccessible } from './accessible.js';
import { merged, type OpenApi } from './merged.js';

const ADDRESSES = ['/api/v1/openapi', '/api/v2/openapi'];

const notices = new Notices('page');
await show();

async function show(): Promise<void> {
  try {
    const descriptions = await Promise.all(ADDRESSES.map((address) => fetchJson<OpenApi>(address)));
    SwaggerUI({
      dom_id: '#operations',
      // That of the page: only a proxy before it knows the address below which both are.
      spec: { ...merged(descriptions), servers: [{ url: SERVICE_URL }] },
      tryItOutEnabled: true,
      displayRequestDuration: true,
      validatorUrl: 'none',
      // Its colours are too pale to read.
      syntaxHighlight: { activated: false },
      // There is one server, so nothing is to be chosen.
      plugins: [{ wrapComponents: { ServersContainer: () => () => null } }],
    });
    keepAccessible(byId('operations'));
    notices.status('');
  } catch (error) {
    notices.failure(asFailure(error), () => void show(), true);
  }
}

function paint(): void {
  document.documentElement.classList.toggle('dark-mode', readTheme().dark);
}
paint();
onThemeChange(paint);
