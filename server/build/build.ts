/**
 * `npm run build`: creates the npm package in `dist/torana`, from which `npm pack` and the container image are made. The program and
 * its libraries become a few JavaScript files; libraries with binaries or large data stay dependencies.
 */
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { commitOfCheckout } from '#package/checkout.ts'
import { WORKERS } from '#package/files.ts'
import { bundle, type BuiltFile } from './bundle.ts'
import { prepare } from './prepare.ts'
import { manifestOf, readServerManifest } from './manifest.ts'
import { shrinkwrapOf } from './shrinkwrap.ts'
import { consoleModules, thirdPartyNotice } from './third-party.ts'

const REPOSITORY = join(import.meta.dirname, '../..')
const SERVER = join(REPOSITORY, 'server')
const CONSOLE = join(REPOSITORY, 'console/dist')
const CONTRACT = join(REPOSITORY, 'contract')
const OUT = join(REPOSITORY, 'dist/torana')

/** Modules that are started from outside the bundle. The bundle keeps their paths below `src`. */
const ENTRIES = ['cli/torana', ...WORKERS]

/** Files that the program reads besides its code, by their paths below `src`. */
const BESIDE_CODE = [
  'stores/postgres/migrations/*.sql',
  'stores/postgres/schema.txt',
  'stores/redis/*.lua',
  'worker/spaces/probe-images/*.{jpg,png}',
]

const server = readServerManifest(SERVER)
rmSync(OUT, { recursive: true, force: true })
const built = await bundle({ server: SERVER, out: join(OUT, 'dist'), entries: ENTRIES })
for (const file of globSync(BESIDE_CODE, { cwd: join(SERVER, 'src') }))
  copy(join(SERVER, 'src', file), join(OUT, 'dist', file))
await prepare(join(OUT, 'prepared'))
copy(join(SERVER, 'catalog'), join(OUT, 'catalog'))
for (const file of globSync('*.openapi.json', { cwd: CONTRACT }))
  copy(join(CONTRACT, file), join(OUT, 'contract', file))
copy(CONSOLE, join(OUT, 'console'))
rmSync(join(OUT, 'console/.vite'), { recursive: true, force: true })
copy(join(REPOSITORY, 'LICENSE'), join(OUT, 'LICENSE'))
copy(join(SERVER, 'README.md'), join(OUT, 'README.md'))
write('bin/torana.js', startingFrom(built))
const manifest = { ...manifestOf(server), commit: commitOfCheckout(REPOSITORY) }
write('package.json', jsonOf(manifest))
write('npm-shrinkwrap.json', jsonOf(shrinkwrapOf(join(REPOSITORY, 'package-lock.json'), manifest)))
const modules = [...built.flatMap(({ modules: inside }) => inside), ...consoleModules(REPOSITORY)]
write('THIRD-PARTY.md', thirdPartyNotice(modules))
process.stdout.write(`built ${server.name} ${server.version} in ${OUT}\n`)

/** The program's start file of the repository, with the path of the built program. */
function startingFrom(files: readonly BuiltFile[]): string {
  const start = readFileSync(join(SERVER, 'bin/torana.js'), 'utf8')
  const [source, target] = ['../src/cli/torana.ts', '../dist/cli/torana.js']
  if (!start.includes(source) || !files.some(({ name }) => name === 'cli/torana.js'))
    throw new Error(`bin/torana.js starts ${source} no more: name in build.ts what it starts`)
  return start.replace(source, target)
}

function jsonOf(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`
}

function write(name: string, text: string): void {
  const file = join(OUT, name)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text, { mode: name.startsWith('bin/') ? 0o755 : 0o644 })
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true })
  cpSync(from, to, { recursive: true })
}
