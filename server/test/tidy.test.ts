/** Properties of the code itself: who may import whom, what the pure middle may name, how large a file may grow. */
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Each layer lists what it may import besides itself. Absence is a ban. `node:` and `npm` count as layers. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  core: [],
  ports: ['core'],
  request: ['core', 'ports'],
  worker: ['core', 'ports', 'request'],
  upstreams: ['core', 'ports', 'node:', 'npm'],
  stores: ['core', 'ports', 'node:', 'npm'],
  runtime: ['core', 'ports', 'node:', 'npm'],
  telemetry: ['core', 'ports', 'node:', 'npm'],
  http: ['core', 'ports', 'request', 'node:', 'npm'],
  config: ['core', 'node:', 'npm'],
  cli: ['*'],
  compose: ['*'],
  main: ['*'],
}

/** Layers whose folders must not know one another; `openai` may be named as a base. */
const SEPARATE = new Set(['stores', 'upstreams'])
const BASES = new Set(['openai', 'connect'])

/** The pure middle knows no time, no chance and no machine. */
const IMPURE =
  /\b(Date\.now|new Date|Math\.random|performance|crypto|Buffer|process|setTimeout|setInterval|fetch)\b/
const FILE_LINES_MAX = 400
const LEFTOVERS = new RegExp(['FIX', 'ME|TO', 'DO|X', 'XX'].join(''))

interface Source {
  readonly path: string
  readonly text: string
}

function layerOf(path: string): string {
  const [first = ''] = path.split('/')
  return first.endsWith('.ts') ? 'main' : first
}

/** `upstreams/openai/x.ts` → `openai`; files of the layer itself belong to no folder. */
function folderOf(path: string): string | undefined {
  const parts = path.split('/')
  return parts.length > 2 ? parts[1] : undefined
}

function targetOf(specifier: string, from: string): { readonly layer: string; readonly path: string } {
  if (specifier.startsWith('node:')) return { layer: 'node:', path: specifier }
  if (specifier === '#main') return { layer: 'main', path: 'main.ts' }
  if (specifier.startsWith('#')) return { layer: layerOf(specifier.slice(1)), path: specifier.slice(1) }
  if (specifier.startsWith('.')) {
    const path = join(from, '..', specifier)
    return { layer: path.startsWith('..') ? 'outside' : layerOf(path), path }
  }
  return { layer: 'npm', path: specifier }
}

export function findUntidy(sources: readonly Source[]): string[] {
  const errors: string[] = []
  for (const { path, text } of sources) {
    const layer = layerOf(path)
    const isTest = path.endsWith('.test.ts')
    const allowed = MAY_IMPORT[layer]
    if (!allowed) errors.push(`${path}: ${layer} is no layer of the house`)
    if (LEFTOVERS.test(text)) errors.push(`${path}: holds a leftover mark`)
    if (isTest) continue
    if (text.split('\n').length > FILE_LINES_MAX) errors.push(`${path}: longer than ${FILE_LINES_MAX} lines`)
    if (layer === 'core') {
      const code = text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$|'[^'\n]*'|`[^`]*`/gm, '')
      const impure = IMPURE.exec(code)
      if (impure) errors.push(`${path}: core may not name ${impure[0]}`)
    }
    for (const [, specifier = ''] of text.matchAll(/(?:\bfrom\s+|\bimport\s*\(?\s*)'([^']+)'/g)) {
      const target = targetOf(specifier, path)
      if (target.layer !== layer && !allowed?.includes('*') && !allowed?.includes(target.layer)) {
        errors.push(`${path}: ${layer} may not import ${specifier}`)
      }
      if (specifier.includes('import-litellm')) errors.push(`${path}: the server knows no importer`)
      const folder = folderOf(target.path)
      const own = folderOf(path)
      if (
        SEPARATE.has(layer) &&
        target.layer === layer &&
        own &&
        folder &&
        folder !== own &&
        !BASES.has(folder)
      ) {
        errors.push(`${path}: ${own} may not know its sibling ${folder}`)
      }
    }
  }
  return errors
}

/** `tools/` are the oracle of the tests, so they share nothing with what they judge. */
function findToolsUntidy(sources: readonly Source[]): string[] {
  return sources
    .filter(({ text }) => /from '[^']*(\.\.\/server\/|#)/.test(text))
    .map(({ path }) => `${path}: may not import files of the server`)
}

function sourcesIn(folder: string): Source[] {
  const root = join(import.meta.dirname, '..', folder)
  return globSync('**/*.ts', { cwd: root, exclude: (name) => name === 'node_modules' }).map((path) => ({
    path,
    text: readFileSync(join(root, path), 'utf8'),
  }))
}

test('every import of the server points the way the house allows', () => {
  const sources = sourcesIn('src')
  assert.ok(sources.length > 50, 'found too few sources: the check would pass vacuously')
  assert.deepEqual(findUntidy(sources), [])
})

test('the tools know nothing of the server', () => {
  const sources = sourcesIn('../tools')
  assert.ok(sources.length > 5, 'found too few sources: the check would pass vacuously')
  assert.deepEqual(findToolsUntidy(sources), [])
})

test('the importer knows the server by torana/config only', () => {
  const sources = sourcesIn('../import-litellm/src')
  assert.ok(sources.length > 5, 'found too few sources: the check would pass vacuously')
  assert.deepEqual(findToolsUntidy(sources), [])
})

test('tidy itself notices each kind of violation', () => {
  const planted: Source[] = [
    {
      path: 'core/plan.ts',
      text: "import { readFileSync } from 'node:fs'\nimport type { Redis } from '#stores/redis.ts'\n",
    },
    { path: 'core/time.ts', text: 'export const now = (): number => Date.now()\n' },
    { path: 'request/embed.ts', text: "import { x } from '../upstreams/http.ts'\n" },
    { path: 'stores/redis/limits.ts', text: "import { y } from '../postgres/ledger.ts'\n" },
    { path: 'upstreams/azure/embedding.ts', text: "import { z } from '../ai-sdk/embedding.ts'\n" },
    { path: 'helpers/misc.ts', text: '' },
    { path: 'http/long.ts', text: '\n'.repeat(FILE_LINES_MAX + 1) },
    { path: 'cli/torana.ts', text: "const lazy = await import('torana-import-litellm')\n" },
    { path: 'config/load.ts', text: "const lazy = await import('#request/embeddings/embed.ts')\n" },
  ]
  for (const source of planted) assert.notDeepEqual(findUntidy([source]), [], source.path)
  assert.equal(findUntidy(planted).length, 10)
  assert.equal(
    findToolsUntidy([{ path: 'fake/x.ts', text: "import { a } from '../../server/src/core/key.ts'" }]).length,
    1,
  )
  const allowed = {
    path: 'upstreams/azure/embedding.ts',
    text: "import { z } from '../openai/embedding.ts'\n",
  }
  assert.deepEqual(findUntidy([allowed]), [])
})
