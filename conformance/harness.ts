/** What the matrices have in common: whom and what the command line chose, and a few programs side by side. */

/** Two programs at a time: the gateway and the fake provider need the cores as well. */
const programsAtOnce = 2

/** A key of the right form that nobody issued. */
export const wrongKey = 'not-a-key-of-this-gateway-at-all'

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

/** Runs a command to its exit code. */
export async function asProgram(main: () => Promise<number>): Promise<void> {
  try {
    process.exitCode = await main()
  } catch (error) {
    console.error(error instanceof Error ? `conformance: ${error.message}` : error)
    process.exitCode = 1
  }
}
