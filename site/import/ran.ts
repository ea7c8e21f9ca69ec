/** `npm run lab -- check/docs` reports which pages it ran. A page without that run gets no tick. */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

interface Report {
  readonly pages: Readonly<
    Record<
      string,
      { readonly isGreen: boolean; readonly run: number; readonly notRun: number; readonly sha256: string }
    >
  >
}

/** Sources of pages of which every block ran, as they are now. */
export function pagesThatRan(root: string): ReadonlySet<string> {
  const file = join(root, 'docs-report.json')
  if (!existsSync(file)) return new Set()
  const { pages } = JSON.parse(readFileSync(file, 'utf8')) as Report
  const ran = Object.entries(pages).filter(
    ([source, { isGreen, run, notRun, sha256 }]) =>
      isGreen && run > 0 && notRun === 0 && sha256 === hashOf(join(root, source)),
  )
  return new Set(ran.map(([source]) => source))
}

function hashOf(path: string): string | undefined {
  return existsSync(path) ? createHash('sha256').update(readFileSync(path, 'utf8')).digest('hex') : undefined
}
