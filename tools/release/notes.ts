/** Prints what the changelog says of the version that is released. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sectionOf } from './changelog.ts'

const root = join(import.meta.dirname, '../..')
const { version } = JSON.parse(readFileSync(join(root, 'server/package.json'), 'utf8')) as { version: string }
process.stdout.write(`${sectionOf(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version)}\n`)
