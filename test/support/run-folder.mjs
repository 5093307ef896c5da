/**
 * One folder for all temporary files of a test run, removed when jest exits: also after a failure, and also the files
 * of a process that was killed. Workers, and the processes that tests start, inherit TMPDIR, so tests only have to
 * create their files below os.tmpdir().
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folder = mkdtempSync(join(tmpdir(), 'nes-tests-'));
process.env.TMPDIR = folder;
// A process that was just ended may still write a file: rmSync tries again.
process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
