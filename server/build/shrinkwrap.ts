/** `npm-shrinkwrap.json` of the package: an installation gets the very versions that the checks ran with. */
import { readFileSync } from 'node:fs'

interface LockedPackage {
  readonly version?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly dev?: boolean
  readonly devOptional?: boolean
}

/** The part of the repository's lock file that the dependencies of the package need. */
export function shrinkwrapOf(lockFile: string, manifest: Readonly<Record<string, unknown>>): unknown {
  const { lockfileVersion, packages } = JSON.parse(readFileSync(lockFile, 'utf8')) as {
    lockfileVersion: number
    packages: Record<string, LockedPackage>
  }
  const kept = new Map<string, LockedPackage>()
  const visit = (name: string, from: string): void => {
    const path = pathOf(name, from, packages)
    const locked = packages[path]
    // A dependency for another system may be missing in a lock file.
    if (locked === undefined || kept.has(path)) return
    const { dev: _, devOptional: __, ...rest } = locked
    kept.set(path, rest)
    for (const next of Object.keys({ ...locked.dependencies, ...locked.optionalDependencies }))
      visit(next, path)
  }
  for (const name of Object.keys(manifest['dependencies'] as Record<string, string>)) visit(name, '')
  const { name, version, license, bin, engines, dependencies } = manifest
  const root = { name, version, license, bin, engines, dependencies }
  return {
    name,
    version,
    lockfileVersion,
    requires: true,
    packages: { '': root, ...Object.fromEntries([...kept].sort(([one], [other]) => (one < other ? -1 : 1))) },
  }
}

/** Where Node finds it: next to the importing package, or in a folder above. */
function pathOf(name: string, from: string, packages: Readonly<Record<string, LockedPackage>>): string {
  for (
    let folder = from;
    folder !== '';
    folder = folder.replace(/(?:^|\/)node_modules\/(?:@[^/]+\/)?[^/]+$/, '')
  ) {
    const path = `${folder}/node_modules/${name}`
    if (path in packages) return path
  }
  return `node_modules/${name}`
}
