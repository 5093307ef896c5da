import { readFileSync } from 'node:fs';

interface Lock {
  readonly packages: Readonly<Record<string, { readonly optionalDependencies?: Record<string, string> }>>;
}

it('package-lock.json holds the optional packages of every platform, or npm ci refuses it', () => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lock;
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter(
      (name) => !packages[`node_modules/${name}`] && !packages[`${path}/node_modules/${name}`],
    ),
  );
  expect(missing).toEqual([]);
});
