/** Tables of the last run of each part, and the page of the lab book that shows them. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { measuredCommit, measuredDay } from '../../book/publish.ts'
import { loadText, print, writeResults } from '../../report.ts'
import { REPOSITORY } from '../../torana.ts'

const PAGE = join(REPOSITORY, 'lab/notes/drift.md')

type Part = 'drift' | 'batches' | 'noise' | 'tokens'

const TITLES: Readonly<Record<Part, string>> = {
  drift:
    'Vectors of the new space that left with status 200 under the old name, from the change on. *In large calls only*: requests with 32 texts of 32 tokens, and a change that shows in calls with as many. *In texts like one probe text only*: the same requests, of which one text has the length of a probe text, and a change that shows in such texts. *After the probe*: asked for after the upstream had answered the first probe that met the change. *After the notice*: received after the first answer that was withheld. Refusals go on for 6.5 s.',
  batches:
    'Batches of 1,500 lines, whose first deployment changes when a random part of the lines is done. *Large*: in calls with at least 16 inputs only.',
  noise:
    'Simulated days of 4,320 short probes, 96 of all texts at their interval and 1,000 in the calls of traffic, and changes on the same deployments. *Second*: the reference is that of an exact deployment.',
  tokens: 'Tokens of probes in the ledger, at 10 requests per second.',
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
