/** Tables of the last run of each part, and the page of the lab book that shows them. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { measuredCommit, measuredDay } from '../../book/publish.ts'
import { loadText, print, writeResults } from '../../report.ts'
import { REPOSITORY } from '../../torana.ts'

const PAGE = join(REPOSITORY, 'lab/notes/drift.md')

type Part = 'drift' | 'noise' | 'tokens'

const TITLES: Readonly<Record<Part, string>> = {
  drift:
    'Vectors of the new space that left with status 200 under the old name, from the change on. Rides come every 20 s. *After the ride*: asked for after the upstream had answered the first ride that met the change. *After the notice*: received after the first answer that was withheld. Refusals go on for 6.5 s.',
  noise:
    'Simulated days of 4,320 rides and 96 probes, and changes on the same deployments. *Second*: the reference is that of an exact deployment.',
  tokens: 'Tokens of rides in the ledger, at 10 requests per second.',
}

interface Kept {
  readonly at: string
  readonly commit: string
  readonly load: string
  readonly tables: readonly string[][][]
}

export function keepTables(part: Part, tables: readonly string[][][]): void {
  for (const table of tables) print(table)
  writeResults(`drift-${part}-tables`, { commit: measuredCommit(), load: loadText(), tables })
}

export function writeNotes(): void {
  const sections = (Object.keys(TITLES) as Part[]).flatMap((part) => {
    const file = join(REPOSITORY, `lab/bench/results/drift-${part}-tables.json`)
    if (!existsSync(file)) return []
    const { at, commit, load, tables } = JSON.parse(readFileSync(file, 'utf8')) as Kept
    const about = `Measured ${at.slice(0, 10)} at ${commit}, ${load}.`
    return [
      `## ${part[0]?.toUpperCase()}${part.slice(1)}\n\n${TITLES[part]} ${about}`,
      ...tables.map(markdown),
    ]
  })
  const head = `# Drift\n\n\`npm run lab -- check/drift --write\`, ${measuredDay()}.`
  writeFileSync(PAGE, `${[head, ...sections].join('\n\n')}\n`)
}

function markdown([titles = [], ...rows]: readonly string[][]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [line(titles), line(titles.map(() => '---')), ...rows.map(line)].join('\n')
}
