/**
 * `server/test/tidy/mass.json`: how much there is of the product, as a ceiling. `npm run generate` lowers a number when there is clearly less,
 * and never raises one: who adds raises it by hand, with the reason in the commit.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { COMMANDS } from '#cli/commands.ts'

const ROOT = join(import.meta.dirname, '../..')

/** How far a number may stand above the code before it is lowered, as a share: otherwise each small change would also change the file. */
const SLACK = 0.005

/** Numbers by their place: `server/src/core`, `tables`. */
export type Mass = Readonly<Record<string, number>>

/** Lines of each room without its tests, then what operators and readers meet. */
export function measureMass(): Mass {
  return {
    ...linesIn('server/src', 'ts'),
    ...linesIn('console/src', '{ts,tsx}'),
    'files of server/src': sourceFiles('server/src', 'ts').length,
    tables: count('server/src/stores/postgres/migrations/*.sql', /^CREATE (?:UNLOGGED )?TABLE \w+ \(/gm),
    // Calls of `every` and `everyMs`, without where they are defined.
    timers: count(
      'server/src/**/*.ts',
      /(?<!function |\.|\w)every(?:Ms)?\(/g,
      /\.test\.ts$|worker\/every\.ts$/,
    ),
    'routes of control': operationsIn('contract/control.openapi.json'),
    'routes of gateway': operationsIn('contract/gateway.openapi.json'),
    settings: settingsIn(JSON.parse(read('contract/torana.schema.json'))),
    commands: COMMANDS.length,
    'pages of docs': globSync('docs/{,recipes/}*.md', { cwd: ROOT }).length,
    decisions: globSync('docs/decisions/*.md', { cwd: ROOT }).length,
  }
}

/** The ceilings, lowered to what there is where that is clearly less. A new room begins with what it holds. */
export function lowerMass(ceilings: Mass, measured: Mass = measureMass()): string {
  const lowered = Object.entries(measured).map(([name, number]) => {
    const ceiling = ceilings[name] ?? number
    return [name, ceiling - number > number * SLACK ? number : ceiling] as const
  })
  return `${JSON.stringify(Object.fromEntries(lowered), undefined, 2)}\n`
}

/** What rose above its ceiling, as sentences. */
export function tellGrowth(ceilings: Mass, measured: Mass = measureMass()): readonly string[] {
  return Object.entries(measured).flatMap(([name, number]) => {
    const ceiling = ceilings[name] ?? 0
    return number <= ceiling
      ? []
      : [
          `${name}: ${number}, at most ${ceiling} in server/test/tidy/mass.json. Remove as much as you add, or raise the number and give the reason in the commit.`,
        ]
  })
}

function linesIn(folder: string, endings: string): Mass {
  const lines: Record<string, number> = {}
  for (const path of sourceFiles(folder, endings)) {
    const [room = ''] = path.slice(folder.length + 1).split('/')
    const name = room.includes('.') ? folder : `${folder}/${room}`
    lines[name] = (lines[name] ?? 0) + read(path).split('\n').length - 1
  }
  return lines
}

function sourceFiles(folder: string, endings: string): readonly string[] {
  return globSync(`${folder}/**/*.${endings}`, { cwd: ROOT })
    .filter((path) => !/\.test\.tsx?$|\.d\.ts$/.test(path))
    .toSorted()
}

function count(files: string, pattern: RegExp, without = /^$/): number {
  return globSync(files, { cwd: ROOT })
    .filter((path) => !without.test(path))
    .reduce((sum, path) => sum + read(path).matchAll(pattern).toArray().length, 0)
}

function operationsIn(contract: string): number {
  const { paths } = JSON.parse(read(contract)) as { readonly paths: Readonly<Record<string, object>> }
  return Object.values(paths).reduce((sum, operations) => sum + Object.keys(operations).length, 0)
}

/** Fields of torana.yaml, with those inside of fields. */
function settingsIn(schema: unknown): number {
  if (typeof schema !== 'object' || schema === null) return 0
  const { properties = {} } = schema as { readonly properties?: object }
  return Object.values(schema).reduce<number>(
    (sum, inner) => sum + settingsIn(inner),
    Object.keys(properties).length,
  )
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}
