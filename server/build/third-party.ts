/** The licences of the libraries in the bundle, as they require. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

interface Library {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly text: string
}

const LICENCE_FILE = /^(?:licen[cs]e|copying|notice)/i

/** The licence of each package that contains a module, once. */
export function thirdPartyNotice(modules: readonly string[]): string {
  const folders = new Set(modules.flatMap((module) => packageFolderOf(module) ?? []))
  const libraries = Array.from(folders, libraryIn).sort((one, other) => (one.name < other.name ? -1 : 1))
  const different = new Map(libraries.map((library) => [`${library.name} ${library.version}`, library]))
  const parts = Array.from(different, ([title, { license, text }]) => `## ${title}\n\n${license}\n\n${text}`)
  return `# Libraries inside this package\n\nTorana's own code is under Apache-2.0, see LICENSE. These are bundled with it.\n\n${parts.join('\n\n')}\n`
}

/** One file of each library of the console, and of their dependencies. Their code is in its scripts. */
export function consoleModules(repository: string): readonly string[] {
  const found = new Set<string>()
  const visit = (from: string): void => {
    const { dependencies = {} } = readManifest(from)
    for (const name of Object.keys(dependencies)) {
      const folder = installed(name, from)
      if (folder === undefined) throw new Error(`${name}, of ${from}, is not installed`)
      if (found.has(folder)) continue
      found.add(folder)
      visit(folder)
    }
  }
  visit(join(repository, 'console'))
  return Array.from(found, (folder) => join(folder, 'package.json'))
}

function installed(name: string, from: string): string | undefined {
  const folder = join(from, 'node_modules', name)
  if (existsSync(join(folder, 'package.json'))) return folder
  const above = dirname(from)
  return above === from ? undefined : installed(name, above)
}

/** `…/node_modules/@scope/name/dist/x.js` → `…/node_modules/@scope/name`; undefined for code of our own. */
function packageFolderOf(module: string): string | undefined {
  return /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(module)?.[0]
}

function libraryIn(folder: string): Library {
  const { name = '', version = '', license } = readManifest(folder)
  const files = readdirSync(folder).filter((file) => LICENCE_FILE.test(file))
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8').trim())
  return { name, version, license: license ?? 'see the text below', text: texts.join('\n\n') }
}

function readManifest(folder: string): {
  readonly name?: string
  readonly version?: string
  readonly license?: string
  readonly dependencies?: Readonly<Record<string, string>>
} {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as ReturnType<typeof readManifest>
}
