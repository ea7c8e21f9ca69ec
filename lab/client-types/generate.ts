/**
 * Writes the types of the console's client from the contract, or with `--check` says whether they are as the contract has them.
 * A workspace of its own, because the generator needs the compiler API that TypeScript 7 does not ship.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import openapiTypescript, { astToString } from 'openapi-typescript'

const REPOSITORY = join(import.meta.dirname, '../..')
const CONTRACT = join(REPOSITORY, 'contract/control.openapi.json')
const TYPES = join(REPOSITORY, 'console/src/api/control.d.ts')

const contract = JSON.parse(readFileSync(CONTRACT, 'utf8')) as Parameters<typeof openapiTypescript>[0]
/** Methods and parameters that a path does not have: their absence says the same. */
const ABSENT =
  /^ {8}(?:(?:get|put|post|delete|options|head|patch|trace)\?: never;|parameters: \{\n(?: {12}\w+\?: never;\n)+ {8}\};)\n/gm
const written = astToString(await openapiTypescript(contract)).replaceAll(ABSENT, '')
const types = `/** Made from contract/control.openapi.json by \`npm run console:types\`. */\n${written}`

if (!process.argv.includes('--check')) {
  writeFileSync(TYPES, types)
} else if (types !== currentTypes()) {
  console.error('console/src/api/control.d.ts is not what the contract says: run `npm run console:types`.')
  process.exitCode = 1
}

function currentTypes(): string {
  try {
    return readFileSync(TYPES, 'utf8')
  } catch {
    return ''
  }
}
