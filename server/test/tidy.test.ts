/** Properties of the code itself: which layer may import which, what the pure middle may name, how long files and functions may be. */
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { circlesOf } from './support/circles.ts'

/** Each layer lists what it may import besides itself. Absence is a ban. `node:` and `npm` count as layers. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  core: [],
  ports: ['core'],
  request: ['core', 'ports'],
  worker: ['core', 'ports', 'request'],
  upstreams: ['core', 'ports', 'thread', 'package', 'node:', 'npm'],
  stores: ['core', 'ports', 'package', 'node:', 'npm'],
  runtime: ['core', 'ports', 'thread', 'package', 'node:', 'npm'],
  thread: ['core', 'ports', 'node:'],
  package: ['node:'],
  telemetry: ['core', 'ports', 'node:', 'npm'],
  http: ['core', 'ports', 'request', 'node:', 'npm'],
  config: ['core', 'thread', 'package', 'node:', 'npm'],
  cli: ['*'],
  node: ['*'],
  control: ['core', 'ports', 'request', 'http', 'stores', 'node:', 'npm'],
  main: ['*'],
}

/**
 * Layers whose classes a layer may name as types besides: where a class is the only implementation, an interface in `ports/` would
 * repeat every signature. Its value stays out of reach: only `node/` makes one.
 */
const MAY_NAME: Record<string, readonly string[]> = {
  request: ['stores', 'runtime', 'telemetry'],
  worker: ['stores', 'runtime', 'telemetry'],
  control: ['stores', 'runtime', 'telemetry'],
}

/** Layers whose folders must not know one another; `openai` may be named as a base. */
const SEPARATE = new Set(['stores', 'upstreams'])
const BASES = new Set(['openai', 'connect'])

/** Layers with a room for each kind of request. The two rooms never know one another, not even across layers. */
const WITH_ROOMS = new Set(['request', 'http', 'worker'])
const ROOMS = ['embeddings', 'images'] as const

/** The pure middle knows no time, no chance and no machine. */
const IMPURE =
  /\b(Date\.now|new Date|Math\.random|performance|crypto|Buffer|process|setTimeout|setInterval|fetch)\b/
const FILE_LINES_MAX = 350
const FUNCTION_LINES_MAX = 100
const LEFTOVERS = new RegExp(['FIX', 'ME|TO', 'DO|X', 'XX'].join(''))

const REPOSITORY = join(import.meta.dirname, '../..')

interface Source {
  readonly path: string
  readonly text: string
}

/** Each line of a failure names the file, the rule, and where the code belongs. */
function assertTidy(errors: readonly string[]): void {
  assert.ok(errors.length === 0, `\n${errors.join('\n')}\n`)
}

/** The first folder of a path in `server/src`. `main.ts` is a layer of its own; no other file stands beside it. */
function layerOf(path: string): string {
  const [first = ''] = path.split('/')
  return first === 'main.ts' ? 'main' : first
}

/** `upstreams/openai/x.ts` → `openai`; files of the layer itself belong to no folder. */
function folderOf(path: string): string | undefined {
  const parts = path.split('/')
  return parts.length > 2 ? parts[1] : undefined
}

function roomOf(path: string): (typeof ROOMS)[number] | undefined {
  const folders = dirname(path).split('/')
  return WITH_ROOMS.has(folders[0] ?? '') ? ROOMS.find((room) => folders.includes(room)) : undefined
}

function importsIn({ text }: Source): readonly string[] {
  return Array.from(
    text.matchAll(/(?:\bfrom\s+|\bimport\s*\(?\s*)'([^']+)'/g),
    ([, specifier = '']) => specifier,
  )
}

/** Without those of `import type { … }`. `import { type A }` is an import of a value: it loads the file. */
function valuesIn({ path, text }: Source): ReadonlySet<string> {
  return new Set(importsIn({ path, text: text.replaceAll(/^import type \{[^}]*\} from '[^']+'/gm, '') }))
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

/** Tables of Parquet, which threads of a node use too. */
function isFileFormat(specifier: string, layer: string): boolean {
  return layer === 'runtime' && /^torana-bulk\/table(?:-reader)?$/.test(specifier)
}

/** Layers that a lower one reaches through a port. */
const OUTSIDE = new Set([
  'node:',
  'npm',
  'stores',
  'upstreams',
  'runtime',
  'thread',
  'package',
  'telemetry',
  'config',
])

function remedyFor(target: string): string {
  return OUTSIDE.has(target)
    ? 'what it needs from outside is opened in node/ and handed in: request, worker and control `import type` the class of a store, and anything else is a type in ports/'
    : 'what both need belongs in a layer that both may import, such as core/ (a rule) or ports/ (a type)'
}

function findUntidy(sources: readonly Source[]): string[] {
  const errors: string[] = []
  for (const source of sources) {
    const { path, text } = source
    const layer = layerOf(path)
    const isTest = path.endsWith('.test.ts')
    const allowed = MAY_IMPORT[layer]
    if (!allowed)
      errors.push(
        `${path}: ${layer} is no layer of the house: ARCHITECTURE.md lists the rooms and what belongs in each`,
      )
    if (LEFTOVERS.test(text)) errors.push(`${path}: holds a leftover mark: finish it, or delete the note`)
    if (isTest) continue
    const lines = text.split('\n').length - 1
    if (lines > FILE_LINES_MAX)
      errors.push(
        `${path}: longer than ${FILE_LINES_MAX} lines: give a part with a name of its own a file beside it`,
      )
    for (const { line, length } of longFunctionsIn(text))
      errors.push(
        `${path}: a function of ${length} lines, at line ${line}: at most ${FUNCTION_LINES_MAX}, so name its steps as functions`,
      )
    if (layer === 'core') {
      const code = text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$|'[^'\n]*'|`[^`]*`/gm, '')
      const impure = IMPURE.exec(code)
      if (impure)
        errors.push(
          `${path}: core may not name ${impure[0]}: take the value as an argument; a caller has it from a port`,
        )
    }
    const values = valuesIn(source)
    for (const specifier of importsIn(source)) {
      const target = targetOf(specifier, path)
      const isNamed = !values.has(specifier) && MAY_NAME[layer]?.includes(target.layer)
      const isAllowed = allowed?.includes('*') || allowed?.includes(target.layer) || isNamed
      if (target.layer !== layer && !isAllowed) {
        errors.push(`${path}: ${layer} may not import ${specifier}: ${remedyFor(target.layer)}`)
      }
      if (/^torana-(?:bulk|import)\b/.test(specifier) && layer !== 'cli' && !isFileFormat(specifier, layer))
        errors.push(`${path}: only cli may import ${specifier}: a command belongs in cli/commands/`)
      const [own, folder] = [folderOf(path), folderOf(target.path)]
      const areSiblings = target.layer === layer && own && folder && folder !== own
      if (SEPARATE.has(layer) && areSiblings && !BASES.has(folder)) {
        errors.push(
          `${path}: ${own} may not know its sibling ${folder}: what both need belongs in ${layer}/ itself, or in core/`,
        )
      }
      const [room, other] = [roomOf(path), roomOf(target.path)]
      if (room && other && room !== other)
        errors.push(
          `${path}: ${room} may not know ${other}: what both need belongs in ${layer}/, outside of both`,
        )
    }
  }
  return errors
}

/** The line that opens the body of a function or a block of statements. Object literals, classes and types don't match. */
const OPENING = /(?:\)|=>|\b(?:else|try|finally|do|static))\s*\{$|\)\s*:\s*[^=]*\{$|^\s*\} \{$/

/** In formatted code a body ends at the first brace that stands as far to the left as the line that opened it. */
function longFunctionsIn(text: string): readonly { readonly line: number; readonly length: number }[] {
  const lines = text.split('\n')
  const long: { readonly line: number; readonly length: number }[] = []
  for (let first = 0; first < lines.length; first += 1) {
    const opening = lines[first] ?? ''
    if (!OPENING.test(opening)) continue
    const closing = `${/^\s*/.exec(opening)?.[0]}}`
    const last = lines.findIndex((line, at) => at > first && line.startsWith(closing))
    const length = last - first + 1
    if (length <= FUNCTION_LINES_MAX) continue
    long.push({ line: first + 1, length })
    // Blocks inside are part of it.
    first = last
  }
  return long
}

/** Folders of `lab/` that are oracles of the tests, or make files for people: they share nothing with what they judge. */
const ORACLES = [
  'client-types',
  'demo-traffic',
  'fake-provider',
  'folders',
  'model-server',
  'monitoring',
  'release',
  'tests',
]

/** Files that may not import the server. */
function findToolsUntidy(sources: readonly Source[]): string[] {
  return sources
    .filter(({ text }) => /from '[^']*(\.\.\/server\/|#)/.test(text))
    .map(({ path }) => `${path}: may not import files of the server: it judges them, so it has its own code`)
}

/** What each folder of the console may import: a folder of `console/src`, or a file of `app`. Absence is a ban. */
const CONSOLE_MAY_IMPORT: Record<string, readonly string[]> = {
  app: ['api', 'time', 'ui', 'words'],
  api: ['app/base.ts', 'words'],
  ui: ['words', 'app/format.ts', 'app/language.ts'],
  charts: ['time', 'ui', 'words', 'app/format.ts', 'app/theme.ts'],
  parts: ['app', 'api', 'time', 'ui', 'charts', 'words', 'workers'],
  pages: ['app', 'api', 'time', 'ui', 'charts', 'parts', 'words', 'workers'],
  time: ['app/format.ts', 'app/stored.ts'],
  words: ['app/format.ts', 'app/language.ts'],
  workers: ['charts/vectors/ramp.ts'],
  'main.tsx': ['app', 'words'],
}
const PAGE_LINES_MAX = 300
/** What says how people get to a page. It is part of the first load, so it names its page and does not load it. */
const PLACE = /^pages\/[^/]+\/place\.ts$/
const PLACE_MAY_IMPORT = new Set(['app/place.ts', 'app/search.ts'])
/** The page's own place reads its address: `place.useSearch()` has the types of its readers. */
const UNTYPED_ADDRESS =
  /\bstrict: false\b|import \{[^}]*\buse(?:Search|Params)\b[^}]*\} from '@tanstack\/react-router'/

/** `useWrite` is the only way to write. What it can't do stands here, with the reason. */
const OWN_WRITES: Readonly<Record<string, string>> = {
  'api/write.ts': 'is the way itself',
  'api/queries/people.ts': 'asks about an invitation by POST, so that its token is in no address',
  'api/queries/playground-embeddings.ts': 'runs a model: the answer is handed on unread, with its headers',
  'api/queries/routing.ts':
    'asks by POST what a set of changes would do: it is too long for an address, and nothing is saved',
  'api/image-calls.ts': 'runs a model: the answer is a stream',
  'api/batch-file.ts': 'counts texts by a dry run, and sends a file in parts before the batch is written',
  'api/try-call.ts': 'sends what a person typed in the API reference, and shows the answer as it is',
  'pages/embeddings/samples.ts': 'is code for people to copy',
}
const WRITES = [
  /\bclient\.(?:POST|PUT|PATCH|DELETE|request)\b/,
  /\buseMutation\b/,
  /\bfetch\([^]*?method:\s*["'`](?:POST|PUT|PATCH|DELETE)/,
  // A write whose failure no one sees.
  /\bvoid (?:\w+\.)?send\(/,
]

function findConsoleUntidy(sources: readonly Source[]): string[] {
  const errors: string[] = []
  for (const { path, text } of sources) {
    const [folder = '', place = ''] = path.split('/')
    const allowed = CONSOLE_MAY_IMPORT[folder]
    if (!allowed)
      errors.push(
        `${path}: ${folder} is no folder of the console: console/README.md says what belongs in each`,
      )
    if (LEFTOVERS.test(text)) errors.push(`${path}: holds a leftover mark: finish it, or delete the note`)
    if (OWN_WRITES[path] === undefined && WRITES.some((one) => one.test(text)))
      errors.push(
        `${path}: writes without useWrite: send it with api/write.ts; what that can't do is a row of OWN_WRITES, with the reason`,
      )
    if (/\.test\.tsx?$/.test(path) || path.endsWith('.d.ts')) continue
    const [lines, most] = [text.split('\n').length - 1, folder === 'pages' ? PAGE_LINES_MAX : FILE_LINES_MAX]
    if (lines > most) errors.push(`${path}: longer than ${most} lines: give a part of it a file beside it`)
    if (UNTYPED_ADDRESS.test(text))
      errors.push(`${path}: reads an address without its types: use place.useSearch() of its place.ts`)
    if (PLACE.test(path) && /from '[^']*\.tsx'/.test(text))
      errors.push(`${path}: a place loads no component: name it in lazyRouteComponent`)
    for (const specifier of importsIn({ path, text })) {
      if (!specifier.startsWith('.')) continue
      const target = join(path, '..', specifier)
      if (target.startsWith('..'))
        errors.push(
          `${path}: the console may not import ${specifier}: it is a client, with the types of api/control.d.ts`,
        )
      const [other = '', otherPlace = ''] = target.split('/')
      const isAllowed =
        other === folder ||
        allowed?.some((one) => one === other || one === target) ||
        (path === 'app/places.ts' && PLACE.test(target))
      if (!isAllowed)
        errors.push(
          `${path}: ${folder} may not import ${target}: what pages share belongs in parts/, what all share in ui/ or app/`,
        )
      if (PLACE.test(path) && other !== 'pages' && !PLACE_MAY_IMPORT.has(target))
        errors.push(
          `${path}: a place may not import ${target}: it is part of the first load, so only ${[...PLACE_MAY_IMPORT].join(' and ')}`,
        )
      if (folder === 'pages' && other === 'pages' && place !== otherPlace)
        errors.push(`${path}: no page knows another: what both need belongs in parts/`)
    }
  }
  return errors
}

/** The file of the repository that an import names; undefined: a package. */
function fileOf(specifier: string, from: string): string | undefined {
  if (specifier === '#main') return 'server/src/main.ts'
  if (specifier.startsWith('#test/')) return `server/${specifier.slice(1)}`
  if (specifier.startsWith('#')) return `server/src/${specifier.slice(1)}`
  return specifier.startsWith('.') ? join(from, '..', specifier) : undefined
}

/** Files that name pages for the router, which loads one when it is opened: such an import is no dependency. */
const NAMES_PAGES = /^console\/src\/pages\/(?:[^/]+\/place|settings\/sections)\.ts$/

/** Circles of files, and, with `dirname` for `nodeOf`, of folders. Imports of types count like all others. */
function findCircles(sources: readonly Source[], nodeOf = (path: string): string => path): string[] {
  const known = new Set(sources.map(({ path }) => path))
  const graph = new Map<string, Set<string>>()
  for (const source of sources) {
    const node = nodeOf(source.path)
    const targets = graph.get(node) ?? new Set()
    graph.set(node, targets)
    const { path } = source
    const text = NAMES_PAGES.test(path) ? source.text.replaceAll(/\bimport\('[^']+'\)/g, '') : source.text
    for (const specifier of importsIn({ path, text })) {
      const file = fileOf(specifier, path)
      if (file !== undefined && known.has(file) && nodeOf(file) !== node) targets.add(nodeOf(file))
    }
  }
  return circlesOf(graph).map((circle) => circle.join(' ⇄ '))
}

function circleText(circle: string): string {
  return `${circle}: a circle of imports; what they share belongs in a file that imports none of them`
}

const FOREIGN = new Set(['node_modules', '.cache', '.torana', 'dist'])

/** Paths are relative to the folder. */
function sourcesIn(folder: string): Source[] {
  const root = join(REPOSITORY, folder)
  return globSync('**/*.{ts,tsx}', { cwd: root, exclude: (name) => FOREIGN.has(name) }).map((path) => ({
    path,
    text: readFileSync(join(root, path), 'utf8'),
  }))
}

test('every import of the server points the way the house allows, and no file or function is too long', () => {
  const sources = sourcesIn('server/src')
  assert.ok(sources.length > 50, 'found too few sources: the check would pass vacuously')
  assertTidy(findUntidy(sources))
})

test('every import of the console points the way its folders allow', () => {
  const sources = sourcesIn('console/src')
  assert.ok(sources.length > 50, 'found too few sources: the check would pass vacuously')
  assertTidy(findConsoleUntidy(sources))
})

test('tidy itself notices a page that knows another, a place that loads its page, a part that knows the API, and a long page', () => {
  const planted = [
    { path: 'pages/keys/keys-page.tsx', text: "import { a } from '../models/models-page.tsx'\n" },
    { path: 'ui/button.tsx', text: "import { client } from '../api/client.ts'\n" },
    { path: 'pages/audit/audit-page.tsx', text: '\n'.repeat(PAGE_LINES_MAX + 1) },
    { path: 'helpers/misc.ts', text: '' },
    { path: 'app/shell.tsx', text: "import { keys } from '../pages/keys/place.ts'\n" },
    { path: 'pages/keys/place.ts', text: "import { KeysPage } from './keys-page.tsx'\n" },
    { path: 'pages/usage/place.ts', text: "import { SHOWS } from '../../parts/usage/usage-groups.ts'\n" },
    { path: 'pages/usage/usage-page.tsx', text: "import { useSearch } from '@tanstack/react-router'\n" },
    { path: 'pages/budgets/x.ts', text: "await client.PATCH('/api/v1/projects/{project}', init)\n" },
    { path: 'pages/usage/x.ts', text: 'const save = useMutation({ mutationFn })\n' },
    { path: 'pages/images/x.ts', text: "await fetch(url, {\n  method: 'POST',\n  body,\n})\n" },
    { path: 'pages/audit/x.tsx', text: 'onClick={() => void revoke.send({ params })}\n' },
    { path: 'app/session.ts', text: "import { may } from '../../../server/src/core/access/permission.ts'\n" },
  ]
  const errors = findConsoleUntidy(planted)
  for (const error of [
    /no page knows another/,
    /ui may not import api/,
    /longer than 300/,
    /no folder of the console/,
    /the console may not import/,
    /app may not import pages/,
    /a place loads no component/,
    /a place may not import parts/,
    /without its types/,
    /budgets.*without useWrite/,
    /usage.*without useWrite/,
    /images.*without useWrite/,
    /audit\/x.*without useWrite/,
  ])
    assert.ok(
      errors.some((one) => error.test(one)),
      String(error),
    )
})

test('the oracles know nothing of the server', () => {
  const sources = ORACLES.flatMap((folder) => sourcesIn(`lab/${folder}`))
  assert.ok(sources.length > 5, 'found too few sources: the check would pass vacuously')
  assertTidy(findToolsUntidy(sources))
})

/** `bulk/` speaks HTTP: no file of the server, nor any other workspace. */
function findBulkUntidy(sources: readonly Source[]): string[] {
  return sources.flatMap((source) =>
    importsIn(source)
      .filter(
        (specifier) => /^(?:#|torana\b)/.test(specifier) || fileOf(specifier, source.path)?.startsWith('..'),
      )
      .map(
        (specifier) =>
          `${source.path}: bulk may not import ${specifier}: it speaks HTTP, and has its own code`,
      ),
  )
}

test('bulk imports only itself, packages and Node', () => {
  const sources = sourcesIn('bulk')
  assert.ok(sources.length > 10, 'found too few sources: the check would pass vacuously')
  assertTidy(findBulkUntidy(sources))
  const text = [
    "import { LineSplitter } from '#core/files/lines.ts'",
    "import { builtInFacts } from 'torana/config'",
    "import { dollars } from '../../server/src/core/price.ts'",
    "import { parquetRead } from 'hyparquet'",
    "import { nanoUsdOf } from './money.ts'",
  ].join('\n')
  assert.equal(findBulkUntidy([{ path: 'src/planted.ts', text }]).length, 3)
})

/** What the console may import of `bulk/`: readers and writers that need no disk. */
const FOR_BROWSERS =
  /^torana-bulk\/(?:bytes|corpus|csv|format|json-lines|jsonl|parquet|problem|request-line|results|vectors)$/
const NEEDS_NODE = /\b(?:Buffer|process)\b/

/** Files of `bulk/` that a browser would load, by what the console imports, and what none of them may have. */
function findUnfitForBrowsers(
  console: readonly Source[],
  bulk: readonly Source[],
  exported: Record<string, string>,
): string[] {
  const errors: string[] = []
  const waiting: string[] = []
  for (const { path, text } of console) {
    if (/\.test\.tsx?$/.test(path)) continue
    for (const specifier of importsIn({ path, text })) {
      if (!specifier.startsWith('torana')) continue
      if (FOR_BROWSERS.test(specifier))
        waiting.push(exported[specifier.replace('torana-bulk', '.')]?.slice(2) ?? '')
      else
        errors.push(`${path}: the console may not import ${specifier}: ${FOR_BROWSERS.source} need no disk`)
    }
  }
  const seen = new Set<string>()
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const source = bulk.find((one) => one.path === path)
    if (seen.has(path) || source === undefined) continue
    seen.add(path)
    const code = source.text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
    if (NEEDS_NODE.test(code) || importsIn(source).some((one) => one.startsWith('node:')))
      errors.push(`bulk/${path}: a browser loads it, so it may name neither Buffer nor process nor node:`)
    for (const specifier of importsIn(source))
      if (specifier.startsWith('.')) waiting.push(join(path, '..', specifier))
  }
  if (seen.size < 8) errors.push('found too few files that browsers load: the check would pass vacuously')
  return errors
}

test('what the console takes from bulk runs in a browser', () => {
  const { exports: exported } = JSON.parse(readFileSync(join(REPOSITORY, 'bulk/package.json'), 'utf8')) as {
    exports: Record<string, string>
  }
  const [console, bulk] = [sourcesIn('console/src'), sourcesIn('bulk')]
  assertTidy(findUnfitForBrowsers(console, bulk, exported))
  const planted = { path: 'workers/x.ts', text: "import { runCorpus } from 'torana-bulk/run'\n" }
  assert.match(
    String(findUnfitForBrowsers([...console, planted], bulk, exported)),
    /may not import torana-bulk\/run/,
  )
  const needy = bulk.map((one) => (one.path === 'src/bytes.ts' ? { ...one, text: 'Buffer.alloc(1)' } : one))
  assert.match(String(findUnfitForBrowsers(console, needy, exported)), /src\/bytes\.ts: a browser loads it/)
})

test('the importer knows the server by torana/config only', () => {
  const sources = sourcesIn('import-litellm/src')
  assert.ok(sources.length > 5, 'found too few sources: the check would pass vacuously')
  assertTidy(findToolsUntidy(sources))
})

/** Paths of the repository, or below `server/src`, that a page names. `x` is any file; `dist` and caches come later. */
function pathsIn(page: string): string[] {
  const found = page.matchAll(/`([a-z][\w-]*\/[\w./-]*)`/g)
  return [...found].map(([, path = '']) => path).filter((path) => !/\/x\.|\/\.|^dist\//.test(path))
}

function isThere(path: string): boolean {
  return ['.', 'server/src', 'server'].some((folder) => existsSync(join(REPOSITORY, folder, path)))
}

test('every path that the pages for developers name is there', () => {
  // Two are generated from the folders and tables themselves.
  const written = globSync('docs/inside/*.md', { cwd: REPOSITORY }).filter(
    (page) => !/(?:folders|schema)\.md$/.test(page),
  )
  for (const page of ['ARCHITECTURE.md', 'CONTRIBUTING.md', ...written]) {
    const paths = pathsIn(readFileSync(join(REPOSITORY, page), 'utf8'))
    assert.ok(paths.length > 5, `${page} names too few paths: the check would pass vacuously`)
    assertTidy(
      paths.filter((path) => !isThere(path)).map((path) => `${page} names ${path}, which does not exist`),
    )
  }
  assert.deepEqual(
    pathsIn('see `core/gone.ts`').filter((path) => !isThere(path)),
    ['core/gone.ts'],
  )
})

test('every npm script is on the page of commands, and no other is', () => {
  const { scripts } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>
  }
  const page = readFileSync(join(REPOSITORY, 'docs/inside/commands.md'), 'utf8')
  const named = [...page.matchAll(/`npm (?:run )?([a-z][a-z\d:-]*)/g)].map(([, name = '']) => name)
  const known = Object.keys(scripts)
  assertTidy([
    ...known
      .filter((name) => !named.includes(name))
      .map((name) => `docs/inside/commands.md lacks npm run ${name}`),
    ...[...new Set(named)]
      .filter((name) => !known.includes(name))
      .map((name) => `docs/inside/commands.md names npm run ${name}, which package.json does not have`),
  ])
})

test('no files import one another in a circle, types included', () => {
  const sources = sourcesIn('.')
  for (const folder of ['server/src/', 'server/test/', 'lab/', 'bulk/', 'import-litellm/'])
    assert.ok(
      sources.some(({ path }) => path.startsWith(folder)),
      `found no source in ${folder}`,
    )
  assertTidy(findCircles(sources).map(circleText))
})

test('no folders of the server import one another in a circle', () => {
  const sources = sourcesIn('.').filter(
    ({ path }) => path.startsWith('server/src/') && !path.endsWith('.test.ts'),
  )
  assertTidy(findCircles(sources, dirname).map(circleText))
})

/** Files of a feature: routes, queries, rules, and what it takes from the node; a topic may come first. */
const FEATURE_FILE = /^(?:[a-z-]+-)?(?:routes|queries|rules|open)(?:\.test)?\.ts$/
/** Files of the control plane that may use the database. */
const QUERIES_FILE = /^control\/(?:[a-z-]+\/(?:[a-z-]+-)?queries|shared\/(?:node|rows))\.ts$/
/** What opens the control plane. */
const MAY_OPEN_CONTROL = /^(?:control|node)\//
const CLASS = /^\s*(?:export )?(?:default )?(?:abstract )?class\b/m

/** A feature of the control plane is a folder that knows no other; `node/` opens parts and holds no class. */
function findFeatureUntidy(sources: readonly Source[]): string[] {
  return sources.flatMap((source) => {
    const { path, text } = source
    const errors: string[] = []
    const [layer = '', feature = '', file] = path.split('/')
    const isTest = path.endsWith('.test.ts')
    const isFeature = layer === 'control' && file !== undefined
    if (layer === 'node' && CLASS.test(text))
      errors.push(`${path}: node opens parts, and holds no class: it belongs in worker/, stores/ or runtime/`)
    if (isFeature && feature !== 'shared' && !FEATURE_FILE.test(path.split('/').slice(2).join('/')))
      errors.push(
        `${path}: no kind of file that a feature has: routes.ts, queries.ts, rules.ts, open.ts, or a topic before them (history-queries.ts)`,
      )
    if (isTest) return errors
    for (const specifier of importsIn(source)) {
      const target = targetOf(specifier, path)
      const [, other = '', otherFile] = target.path.split('/')
      if (target.layer === 'control' && !MAY_OPEN_CONTROL.test(path))
        errors.push(`${path}: only node may import control: what both need belongs in core/`)
      if (layer === 'control' && target.layer === 'stores' && !QUERIES_FILE.test(path))
        errors.push(`${path}: only queries may import ${specifier}: SQL belongs in queries.ts of its feature`)
      const isOfFeature = target.layer === 'control' && otherFile !== undefined && other !== 'shared'
      if (isFeature && isOfFeature && other !== feature)
        errors.push(
          `${path}: ${feature} may not know ${other}: what both need belongs in control/shared/, a rule in core/`,
        )
    }
    return errors
  })
}

test('a feature of the control plane knows no other, and opening a node holds no rule', () => {
  const sources = sourcesIn('server/src')
  assertTidy(findFeatureUntidy(sources))
})

for (const [path, text, error] of [
  ['node/ledger.ts', 'const a = 1\nexport class Membership {}\n', /holds no class/],
  ['node/prices.ts', 'class StoredPrices {}\n', /holds no class/],
  ['control/keys/shapes.ts', '', /no kind of file/],
  ['control/keys/parts/routes.ts', '', /no kind of file/],
  ['control/keys/shapes.test.ts', '', /no kind of file/],
  ['control/keys/routes.ts', "import { a } from '../usage/queries.ts'\n", /keys may not know usage/],
  ['control/keys/open.ts', "import type { A } from '#control/usage/open.ts'\n", /keys may not know usage/],
  ['control/shared/rows.ts', "import { a } from '#control/usage/rules.ts'\n", /shared may not know usage/],
  ['control/keys/routes.ts', "import { a } from '#stores/postgres/database.ts'\n", /only queries/],
  ['control/shared/page.ts', "import { a } from '#stores/postgres/database.ts'\n", /only queries/],
  ['control/api.ts', "import { a } from '#stores/postgres/database.ts'\n", /only queries/],
  ['worker/webhooks.ts', "import { a } from '#control/usage/rules.ts'\n", /may import control/],
  ['main.ts', "import { a } from '#control/server.ts'\n", /may import control/],
  ['cli/serve/serve.ts', "const lazy = await import('#control/server.ts')\n", /may import control/],
] as const)
  test(`tidy itself notices what is wrong with ${path}: ${error.source}`, () => {
    const found = findFeatureUntidy([{ path, text }])
    assert.equal(found.length, 1, found.join('\n'))
    assert.match(found[0] ?? '', error)
  })

test('tidy lets features use what they share, and queries the database', () => {
  const allowed = [
    ['control/keys/history-queries.ts', "import { a } from '#stores/postgres/database.ts'\n"],
    ['control/shared/rows.ts', "import { a } from '#stores/postgres/database.ts'\n"],
    ['control/shared/member-queries.ts', "import { a } from '#stores/postgres/database.ts'\n"],
    ['control/keys/routes.ts', "import { a } from '../shared/route.ts'\nimport { b } from './queries.ts'\n"],
    ['control/keys/routes.test.ts', "import { a } from '#stores/postgres/database.ts'\n"],
    ['control/api.ts', "import { a } from './keys/routes.ts'\n"],
    ['node/control.ts', "import { a } from '#control/keys/open.ts'\n/** Of this class. */\n"],
  ] as const
  const sources = allowed.map(([path, text]) => ({ path, text }))
  assertTidy(findFeatureUntidy(sources))
})

/** Fields that a node may lack: each would need an `if` wherever it is used. */
function optionalFields(text: string): string[] {
  return Array.from(
    text.matchAll(/^ {2}readonly (\w+)(?:\?:|: [^=\n]*\| undefined$)/gm),
    ([, name = '']) => name,
  )
}

test('a node lacks no store, and the control plane no part of a node', () => {
  for (const file of ['node/stores.ts', 'control/shared/node.ts', 'control/dependencies.ts']) {
    const text = readFileSync(join(REPOSITORY, 'server/src', file), 'utf8')
    assert.ok(
      (text.match(/^ {2}readonly /gm) ?? []).length > 0,
      `${file} has no fields: the check would pass vacuously`,
    )
    assertTidy(
      optionalFields(text).map(
        (field) => `${file}: ${field} may be missing: give a node that lacks it one that does nothing`,
      ),
    )
  }
  const planted =
    '  readonly history?: History\n  readonly prices: Prices | undefined\n  readonly find: () => Key | undefined\n'
  assert.deepEqual(optionalFields(planted), ['history', 'prices'])
})

/** Each with what is reported of it. */
const planted: readonly (readonly [source: Source, ...errors: RegExp[]])[] = [
  [
    {
      path: 'core/plan.ts',
      text: "import { readFileSync } from 'node:fs'\nimport type { Redis } from '#stores/redis.ts'\n",
    },
    /core may not import node:fs/,
    /core may not import #stores/,
  ],
  [
    {
      path: 'http/gateway/batches.ts',
      text: "import { runCorpus } from 'torana-bulk/run'\nconst lazy = await import('torana-import-litellm')\n",
    },
    /only cli may import torana-bulk/,
    /only cli may import torana-import-litellm/,
  ],
  [{ path: 'core/time.ts', text: 'export const now = (): number => Date.now()\n' }, /may not name Date.now/],
  [
    { path: 'request/embed.ts', text: "import { x } from '../upstreams/http.ts'\n" },
    /request may not import/,
  ],
  [
    {
      path: 'request/store.ts',
      text: "import type { A } from '#stores/postgres/a.ts'\nimport { A } from '#stores/postgres/a.ts'\n",
    },
    /request may not import #stores/,
    /request may not import #stores/,
  ],
  [
    {
      path: 'worker/store.ts',
      text: "import { type B } from '#stores/postgres/b.ts'\nconst lazy = await import('#runtime/c.ts')\n",
    },
    /worker may not import #stores/,
    /worker may not import #runtime/,
  ],
  [
    { path: 'control/keys/queries.ts', text: "import { d } from '#runtime/d.ts'\n" },
    /control may not import #runtime/,
  ],
  [
    { path: 'http/gate/x.ts', text: "import type { E } from '#stores/postgres/e.ts'\n" },
    /http may not import #stores/,
  ],
  [{ path: 'stores/redis/limits.ts', text: "import { y } from '../postgres/ledger.ts'\n" }, /its sibling/],
  [{ path: 'upstreams/azure/x.ts', text: "import { z } from '../ai-sdk/embedding.ts'\n" }, /its sibling/],
  [{ path: 'helpers/misc.ts', text: '' }, /helpers is no layer/],
  [{ path: 'sharing.ts', text: '' }, /sharing.ts is no layer/],
  [{ path: 'http/long.ts', text: '\n'.repeat(FILE_LINES_MAX + 1) }, /longer than/],
  [
    { path: 'config/load.ts', text: "const lazy = await import('#request/embeddings/embed.ts')\n" },
    /config may not import/,
  ],
  [
    { path: 'request/images/run.ts', text: "import type { A } from '../embeddings/admit.ts'\n" },
    /images may not know embeddings/,
  ],
  [
    { path: 'http/gateway/embeddings/answer.ts', text: "import { b } from '#request/images/image.ts'\n" },
    /embeddings may not know images/,
  ],
  [
    { path: 'worker/images/jobs.ts', text: "import { c } from '../embeddings/probes.ts'\n" },
    /images may not know embeddings/,
  ],
]

for (const [source, ...errors] of planted)
  test(`tidy itself notices what is wrong with ${source.path}`, () => {
    const found = findUntidy([source])
    assert.equal(found.length, errors.length, found.join('\n'))
    for (const [index, error] of errors.entries()) assert.match(found[index] ?? '', error)
  })

test('tidy lets request, worker and control name the type of a store', () => {
  const text =
    "import type { A } from '#stores/postgres/a.ts'\nimport type {\n  B,\n  C,\n} from '#runtime/b.ts'\n"
  for (const path of ['request/x.ts', 'worker/x.ts', 'control/shared/node.ts'])
    assert.deepEqual(findUntidy([{ path, text }]), [])
})

const statements = (count: number): string => '  call()\n'.repeat(count)

for (const [kind, open, close] of [
  ['function', 'export async function long(): Promise<void> {', '}'],
  ['function over several lines', 'function long(\n  a: string,\n): Map<string, { b: string }> {', '}'],
  ['function that returns an object type', 'function long(): {\n  readonly a: string\n} {', '}'],
  ['method', 'class A {\n  async #long({ a }: B): Promise<C> {', '  }\n}'],
  ['constructor', 'class A {\n  constructor(a: string) {', '  }\n}'],
  ['arrow function', 'const long = async (a: string) => {', '}'],
  ['callback', "test('long', () => {", '})'],
  ['block of statements', 'for (const a of b) {', '}'],
] as const)
  test(`tidy itself notices a long ${kind}`, () => {
    const source = (count: number): Source => ({
      path: 'worker/long.ts',
      text: `${open}\n${statements(count)}${close}\n`,
    })
    assert.deepEqual(findUntidy([source(FUNCTION_LINES_MAX - 2)]), [])
    const [error, ...others] = findUntidy([source(FUNCTION_LINES_MAX - 1)])
    assert.match(error ?? '', /^worker\/long\.ts: a function of 101 lines/)
    assert.deepEqual(others, [])
  })

for (const [kind, open, close] of [
  ['table of data', 'const long = {', '}'],
  ['table in a call', 'export const long = Object.freeze({', '})'],
  ['class', 'export class Long extends Base {', '}'],
  ['interface', 'export interface Long extends Base {', '}'],
] as const)
  test(`tidy lets a long ${kind} be`, () => {
    const text = `${open}\n${'  one: 1,\n'.repeat(FUNCTION_LINES_MAX)}${close}\n`
    assert.deepEqual(findUntidy([{ path: 'worker/long.ts', text }]), [])
  })

test('tidy itself notices tools that import the server, and lets a dialect build on its base', () => {
  const tool = { path: 'fake/x.ts', text: "import { a } from '#core/keys/key.ts'" }
  assert.equal(findToolsUntidy([tool]).length, 1)
  const dialect = { path: 'upstreams/azure/x.ts', text: "import { z } from '../openai/embedding.ts'\n" }
  assert.deepEqual(findUntidy([dialect]), [])
})

test('tidy itself notices circles of files and folders, also of types alone', () => {
  const [a, b, c, d] = [
    { path: 'server/src/core/a.ts', text: "import type { B } from './room/b.ts'\n" },
    { path: 'server/src/core/room/b.ts', text: "import { type C } from '#core/room/c.ts'\n" },
    { path: 'server/src/core/room/c.ts', text: "import {\n  a,\n} from '../a.ts'\n" },
    { path: 'lab/bench/d.ts', text: "import { a } from '../../server/src/core/a.ts'\n" },
  ] as const
  assert.deepEqual(findCircles([a, b, c, d]), [
    'server/src/core/a.ts ⇄ server/src/core/room/b.ts ⇄ server/src/core/room/c.ts',
  ])
  assert.deepEqual(findCircles([a, b, c, d], dirname), ['server/src/core ⇄ server/src/core/room'])
  assert.deepEqual(findCircles([a, b, d]), [])
  const itself = { path: 'lab/e.ts', text: "import type { F } from './f.ts'\nexport const e = 1\n" }
  const other = { path: 'lab/f.ts', text: "export type { F } from './e.ts'\n" }
  assert.deepEqual(findCircles([itself, a, b, other]), ['lab/e.ts ⇄ lab/f.ts'])
})
