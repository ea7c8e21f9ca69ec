/** Writes docs/inside/folders.md; `--check` compares instead. A folder without its sentence fails both. Part of `npm run generate`. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { folderPage, foldersOf, problemsOf } from './folders.ts'

const ROOT = join(import.meta.dirname, '../..')
const PAGE = 'docs/inside/folders.md'

const folders = foldersOf(ROOT)
const problems = problemsOf(folders)
const file = join(ROOT, PAGE)
const text = folderPage(folders)
const isFresh = existsSync(file) && readFileSync(file, 'utf8') === text
if (problems.length === 0 && !isFresh) {
  if (process.argv.includes('--check'))
    problems.push(`${PAGE} is not what the folders say. Run \`npm run generate\`.`)
  else {
    writeFileSync(file, text)
    process.stdout.write(`wrote ${PAGE}\n`)
  }
}
if (problems.length > 0) {
  process.stderr.write(`${problems.join('\n')}\n`)
  process.exitCode = 1
}
