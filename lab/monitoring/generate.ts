/** Writes deploy/monitoring/dashboards; `--check` compares instead and names what differs. Part of `npm run generate`. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dashboardJson } from './dashboard.ts'
import { DASHBOARDS } from './dashboards.ts'

const FOLDER = join(import.meta.dirname, '../../deploy/monitoring/dashboards')
const isCheck = process.argv.includes('--check')
mkdirSync(FOLDER, { recursive: true })
for (const dashboard of DASHBOARDS) {
  const file = join(FOLDER, `${dashboard.uid}.json`)
  const text = dashboardJson(dashboard)
  if (existsSync(file) && readFileSync(file, 'utf8') === text) continue
  if (isCheck) {
    process.stderr.write(`${dashboard.uid}.json is not what the code generates. Run \`npm run generate\`.\n`)
    process.exitCode = 1
  } else writeFileSync(file, text)
}
