/** Shared by the matrices: the clients and rows that the command line chose, a few programs in parallel, the result. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Program } from './clients.ts'
import { cacheFolder } from './folders.ts'
import { missingFor } from './install.ts'
import type { Matrix } from './matrix.ts'

/** Two programs at a time: the gateway and the fake provider need the cores as well. */
const programsAtOnce = 2

/** A key of the right form that was never issued. */
export const wrongKey = 'not-a-key-of-this-gateway-at-all'

/** For `parseArgs`. */
export const commonOptions = {
  clients: { type: 'string' },
  scenarios: { type: 'string' },
  quick: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

/** Those that `--clients` names, else with `--quick` the quick ones, else all. */
export function chosenClients<Item extends { readonly name: string }>(
  all: readonly Item[],
  quickNames: readonly string[],
  { clients, quick }: { readonly clients?: string | undefined; readonly quick: boolean },
): readonly Item[] {
  return chosen(all, clients?.split(',') ?? (quick ? quickNames : undefined), 'clients')
}

/** Leaves out clients whose tools this machine lacks, unless the command line named them, and says so. */
export function runnable<Item extends Program>(
  all: readonly Item[],
  named: string | undefined,
): readonly Item[] {
  if (named !== undefined) return all
  return all.filter(({ name, toolchain }) => {
    const missing = missingFor(toolchain)
    if (missing !== undefined) console.error(`${name} is left out: ${missing}.`)
    return missing === undefined
  })
}

/** A name stands also for all that are called `name/…`. */
export function chosen<Item extends { readonly name: string }>(
  all: readonly Item[],
  names: readonly string[] | undefined,
  option: string,
): readonly Item[] {
  if (names === undefined) return all
  const isNamed = (item: Item, name: string): boolean =>
    item.name === name || item.name.startsWith(`${name}/`)
  const unknown = names.find((name) => !all.some((item) => isNamed(item, name)))
  if (unknown === undefined) return all.filter((item) => names.some((name) => isNamed(item, name)))
  throw new Error(`--${option}: there is no ${unknown}. There are: ${all.map(({ name }) => name).join(', ')}`)
}

export async function inLanes<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const queue = [...items]
  const lane = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) await work(next)
  }
  await Promise.all(Array.from({ length: programsAtOnce }, lane))
}

/** Prints the result, and writes it to the cache folder under a name, if there is one. Returns the exit code. */
export function finish(matrix: Matrix, fileName: string | undefined): number {
  if (fileName !== undefined) writeFileSync(join(cacheFolder, fileName), matrix.markdown)
  console.log(matrix.text)
  console.log(matrix.summary)
  return matrix.failed === 0 ? 0 : 1
}

/** Runs a command to its exit code. */
export async function asProgram(main: () => Promise<number>): Promise<void> {
  try {
    process.exitCode = await main()
  } catch (error) {
    console.error(error instanceof Error ? `conformance: ${error.message}` : error)
    process.exitCode = 1
  }
}
