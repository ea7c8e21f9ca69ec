/** CPU time of commands: on a shared machine the wall time includes the neighbours. */
import { existsSync, readFileSync } from 'node:fs'

const OWN = '/proc/self/stat'
/** Fields after the name of the program: what ended children used as themselves, and in the kernel. In hundredths of a second. */
const [IN_CHILDREN, IN_KERNEL] = [13, 14]

let counted = 0

/**
 * What the children that ended since the last call used, with all of theirs. 0 where there is no `/proc`. Call it as each one ends; of two
 * that end in the same moment, the first has both.
 */
export function cpuSecondsOfChildren(): number {
  if (!existsSync(OWN)) return 0
  const fields = readFileSync(OWN, 'utf8').split(') ').at(-1)?.split(' ') ?? []
  const all = (Number(fields[IN_CHILDREN]) + Number(fields[IN_KERNEL])) / 100
  const used = all - counted
  counted = all
  return used
}

interface Cost {
  readonly command: { readonly part: string }
  readonly cpuSeconds: number
}

/** A line per part, the dearest first, with their sum. */
export function costTable(ended: readonly Cost[]): string {
  const seconds = new Map<string, number>()
  for (const { command, cpuSeconds } of ended)
    seconds.set(command.part, (seconds.get(command.part) ?? 0) + cpuSeconds)
  const rows = [...seconds].toSorted(([, one], [, other]) => other - one)
  const sum = rows.reduce((all, [, used]) => all + used, 0)
  return ['CPU seconds, without those of PostgreSQL:', ...[...rows, ['all', sum] as const].map(line)].join(
    '\n',
  )
}

function line([part, seconds]: readonly [string, number]): string {
  return `${seconds.toFixed(1).padStart(8)}  ${part}`
}
