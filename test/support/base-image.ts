import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { ContainerEngine } from './containers.js';

const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';

/**
 * Debian with Node, as the Dockerfile's base image has them. It is made here, because there may be no registry to pull
 * from, and stays in podman's storage: the next test of the same versions uses it again.
 *
 * @returns the name of the image
 */
export async function baseImage(engine: ContainerEngine): Promise<string> {
  const [, version, suite] = /^ARG NODE_IMAGE=node:(\d+)-(\w+)-slim$/m.exec(
    readFileSync('docker/Dockerfile', 'utf8'),
  )!;
  const node = nodeOfVersion(version!, engine.folder);
  const npm = dirname(dirname(realpathSync(output('sh', ['-c', 'command -v npm']))));
  const certificates = [process.env['NODE_EXTRA_CA_CERTS'], process.env['SSL_CERT_FILE'], CERTIFICATES].find(
    (file) => file !== undefined && existsSync(file),
  )!;
  const registry = output('npm', ['config', 'get', 'registry']);
  const digest = createHash('sha256');
  for (const part of [
    suite!,
    output(node, ['--version']),
    registry,
    readFileSync(join(npm, 'package.json')),
    readFileSync(certificates),
    readFileSync(resolve('test/support/base-image.ts')),
  ]) {
    digest.update(part).update('\0');
  }
  const image = `localhost/nes-test-base:${digest.digest('hex').slice(0, 16)}`;
  if ((await engine.status('image', 'exists', image)) === 0) return image;

  const root = join(engine.folder, 'base');
  execFileSync(
    'debootstrap',
    ['--variant=minbase', '--include=ca-certificates', suite!, root, debianMirror()],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  copyFileSync(node, join(root, 'usr/local/bin/node'));
  cpSync(npm, join(root, 'usr/local/lib/node_modules/npm'), { recursive: true, verbatimSymlinks: true });
  for (const name of ['npm', 'npx']) {
    execFileSync('ln', [
      '-s',
      `../lib/node_modules/npm/bin/${name}-cli.js`,
      join(root, 'usr/local/bin', name),
    ]);
  }
  // Registry of npm that this machine uses, and the certificates that it trusts.
  mkdirSync(join(root, 'usr/local/etc'), { recursive: true });
  writeFileSync(join(root, 'usr/local/etc/npmrc'), `registry=${registry}\ncafile=${CERTIFICATES}\n`);
  copyFileSync(certificates, join(root, CERTIFICATES));
  execFileSync('chroot', [root, 'groupadd', '--gid', '1000', 'node']);
  execFileSync('chroot', [root, 'useradd', '--uid', '1000', '--gid', 'node', '--create-home', 'node']);
  await engine.import(root, image);
  return image;
}

/** An executable of that version of Node: the one that runs this test, or one of npm's. */
function nodeOfVersion(version: string, folder: string): string {
  if (process.versions.node.split('.')[0] === version) return process.execPath;
  const name = `node-${process.platform}-${process.arch}`;
  const prefix = join(folder, 'node');
  execFileSync('npm', ['install', '--silent', '--no-save', '--prefix', prefix, `${name}@${version}`], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  return join(prefix, 'node_modules', name, 'bin/node');
}

/** Mirror from which this machine gets its own packages of Debian. */
function debianMirror(): string {
  const filters = ['Created-By: Packages', 'Origin: Debian', 'Label: Debian'];
  return output('apt-get', ['indextargets', '--format', '$(REPO_URI)', ...filters]).split('\n')[0]!;
}

function output(program: string, args: readonly string[]): string {
  return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}
