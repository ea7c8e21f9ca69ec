/**
 * What a browser loads, gzipped: the shell, and each page with all that only it needs. `npm run console:sizes` reads Vite's
 * manifest, prints a table and fails above the bounds.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

interface Chunk {
  readonly file: string
  readonly src?: string
  readonly isEntry?: boolean
  readonly imports?: readonly string[]
  readonly dynamicImports?: readonly string[]
  readonly css?: readonly string[]
}

const DIST = join(import.meta.dirname, 'dist')
/** What every page needs: libraries, frame, styles. */
const SHELL_MAX_KB = 230
/** The shell and one page. */
const FIRST_LOAD_MAX_KB = 300
/** What one page adds. */
const ROUTE_MAX_KB = 80
const KB = 1000

const manifest = JSON.parse(readFileSync(join(DIST, '.vite/manifest.json'), 'utf8')) as Record<string, Chunk>

/** A chunk with everything that it imports at once, styles included. */
function closure(name: string, found = new Set<string>()): Set<string> {
  const chunk = manifest[name]
  if (chunk === undefined || found.has(chunk.file)) return found
  found.add(chunk.file)
  for (const style of chunk.css ?? []) found.add(style)
  for (const one of chunk.imports ?? []) closure(one, found)
  return found
}

const sizes = new Map<string, number>()

function gzipped(file: string): number {
  let bytes = sizes.get(file)
  if (bytes === undefined) {
    bytes = gzipSync(readFileSync(join(DIST, file)), { level: 9 }).length
    sizes.set(file, bytes)
  }
  return bytes
}

function sum(files: Iterable<string>): number {
  let bytes = 0
  for (const file of files) bytes += gzipped(file)
  return bytes / KB
}

const names = Object.keys(manifest)
const entry = names.find((name) => manifest[name]?.isEntry === true)
const app = names.find((name) => name.endsWith('src/app/app.tsx'))
if (entry === undefined || app === undefined)
  throw new Error('the manifest names no entry: is the console built?')
const shell = closure(app, closure(entry))
const pages = names.filter((name) => /src\/pages\/.*-page\.tsx$/.test(name))
if (pages.length < 10)
  throw new Error(`the manifest names ${pages.length} pages: the check would pass vacuously`)

const shellKb = sum(shell)
let failed = shellKb > SHELL_MAX_KB ? 1 : 0
console.log(`${'shell'.padEnd(44)} ${shellKb.toFixed(1).padStart(8)} KB${failed > 0 ? '  too much' : ''}`)
for (const page of pages.sort()) {
  const addsKb = sum([...closure(page)].filter((file) => !shell.has(file)))
  const firstKb = shellKb + addsKb
  const isOver = addsKb > ROUTE_MAX_KB || firstKb > FIRST_LOAD_MAX_KB
  if (isOver) failed += 1
  console.log(
    `${page.replace(/^.*src\/pages\//, '').padEnd(44)} ${`+${addsKb.toFixed(1)}`.padStart(8)} KB ${firstKb.toFixed(1).padStart(8)} KB${isOver ? '  too much' : ''}`,
  )
}

// What scripts ask for is watched by the tests in a browser; the page itself names nobody.
const others = readFileSync(join(DIST, 'index.html'), 'utf8').match(/https?:\/\/[\w./-]+/g) ?? []
if (others.length > 0) {
  console.error(`index.html names other hosts: ${others.join(', ')}`)
  failed += 1
}
if (failed > 0) process.exitCode = 1
