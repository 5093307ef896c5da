/** The pages of the guide as the site has them. */
import { execFileSync } from 'node:child_process';

export interface GuidePage {
  /** Path of the Markdown. */
  readonly source: string;
  readonly file: string;
  readonly title: string;
  readonly body: string;
  /** The documents that have a button. */
  readonly documents: readonly string[];
}

const PRINTED = `
  const { guideSite } = await import('./scripts/site-guide.mjs');
  process.stdout.write(JSON.stringify(guideSite().pages));
`;

export function guidePages(): GuidePage[] {
  const args = ['--input-type=module', '--eval', PRINTED];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 2 ** 26 }));
}
