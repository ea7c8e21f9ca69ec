import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { STAYS_A_DEPENDENCY } from './manifest.ts'

export interface BuiltFile {
  /** Path below the folder of the bundle. */
  readonly name: string
  /** The source files of it. */
  readonly modules: readonly string[]
}

export interface BundleOptions {
  readonly server: string
  readonly out: string
  /** Paths below `src`, without `.ts`. */
  readonly entries: readonly string[]
}

/** Optional packages of libraries. The last contains a bare database: the package has a prepared one. */
const NOT_THERE = ['pg-native', 'pg-cloudflare', 'supports-color', '@electric-sql/pglite-prepopulatedfs']

/** Lazily imported modules stay files of their own: a start reads only what it runs. */
export async function bundle({ server, out, entries }: BundleOptions): Promise<readonly BuiltFile[]> {
  const build = await rolldown({
    cwd: server,
    input: Object.fromEntries(entries.map((entry) => [entry, join(server, 'src', `${entry}.ts`)])),
    platform: 'node',
    external: [...STAYS_A_DEPENDENCY, ...NOT_THERE].map((name) => new RegExp(`^${name}(?:/|$)`)),
    onLog(level, log, next) {
      // A missing module would only be noticed by a user.
      if (log.code === 'UNRESOLVED_IMPORT') throw new Error(log.message)
      if (level !== 'warn') next(level, log)
    },
  })
  const { output } = await build.write({
    dir: out,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    // Names are kept, so that a stack trace in a report is readable.
    minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
    comments: { legal: false, jsdoc: false, annotation: false },
  })
  return output.flatMap((file) =>
    file.type === 'chunk' ? [{ name: file.fileName, modules: file.moduleIds }] : [],
  )
}
