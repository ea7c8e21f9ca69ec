/** Paths of the program's files other than modules, in the repository and in the built package alike. */
import { globSync, readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { commitOfCheckout } from './checkout.ts'

/** Modules that start in a separate thread or process. The build makes an entry of each. */
export const WORKERS = [
  'config/load-worker',
  'runtime/file-scan-worker',
  'runtime/image-codec-worker',
  'runtime/json-worker',
  'runtime/tokenizer-worker',
  'runtime/ledger-file-worker',
  'stores/postgres/pglite-worker',
  'upstreams/ai-sdk/worker',
  'upstreams/demo/edit-worker',
  'upstreams/demo/model-worker',
] as const

export type WorkerName = (typeof WORKERS)[number]

/** The fields read from `package.json`. */
export interface Manifest {
  readonly version: string
  /** Commit of the source: written by the build, or that of the checkout. */
  readonly commit?: string
  readonly dependencies: Readonly<Record<string, string>>
}

const MANIFEST = findPackageJSON(import.meta.url)
if (MANIFEST === undefined) throw new Error('the program lies in no package')
const PACKAGE = dirname(MANIFEST)

/** A build keeps the folders of `src` in `dist`, so that files other than modules have the same place in both. */
const IS_SOURCE = import.meta.url.endsWith('.ts')
const CODE = join(PACKAGE, IS_SOURCE ? 'src' : 'dist')

/** Facts and prices of models. */
export const CATALOG_FOLDER: string = join(PACKAGE, 'catalog')
/** SQL files that create the tables. */
export const MIGRATIONS_FOLDER: string = join(CODE, 'stores/postgres/migrations')
/** What migrations make, as `npm run generate` found it. */
export const SCHEMA_FILE: string = join(CODE, 'stores/postgres/schema.txt')
/** The console's pages, built by `npm run console:build`. */
export const CONSOLE_FOLDER: string = join(PACKAGE, IS_SOURCE ? '../console/dist' : 'console')

/** The OpenAPI document of a listener, as `npm run generate` writes it. */
export function readOpenapi(listener: 'gateway' | 'control'): string {
  return readFileSync(join(PACKAGE, IS_SOURCE ? '..' : '.', 'contract', `${listener}.openapi.json`), 'utf8')
}

/** What the build prepared for every start. Undefined in the repository, where it is computed each time. */
export const PREPARED: { readonly facts: string; readonly postgres: string } | undefined = IS_SOURCE
  ? undefined
  : { facts: join(PACKAGE, 'prepared/facts'), postgres: join(PACKAGE, 'prepared/postgres') }

export function workerModule(name: WorkerName): URL {
  return pathToFileURL(join(CODE, `${name}.${IS_SOURCE ? 'ts' : 'js'}`))
}

/** One of the images of the space guard's probes. */
export function probeImage(name: string): Buffer {
  return readFileSync(join(CODE, 'worker/spaces/probe-images', name))
}

/** A script that Redis runs. */
export function redisScript(name: 'spent' | 'take'): string {
  return readFileSync(join(CODE, `stores/redis/${name}.lua`), 'utf8')
}

export function readManifest(): Manifest {
  const manifest = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as Manifest
  return IS_SOURCE ? { ...manifest, commit: commitOfCheckout(join(PACKAGE, '..')) } : manifest
}

/** Newest day on which a price of the built-in catalog was read. */
export function catalogDate(): string {
  const days = globSync('*.yaml', { cwd: CATALOG_FOLDER }).flatMap((name) =>
    Array.from(
      readFileSync(join(CATALOG_FOLDER, name), 'utf8').matchAll(/\basOf: (\d{4}-\d{2}-\d{2})/g),
      ([, day = '']) => day,
    ),
  )
  return days.sort().at(-1) ?? ''
}
