/**
 * `node server/generate/main.ts`: writes the files of this repository that come from the server's code, so that the contract and the
 * documentation can't drift from it. With `--check` it compares instead, and names what differs.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { configurationMarkdown } from './configuration.ts'
import { withCounts } from './counts.ts'
import { ConfigError } from '#config/file/problem.ts'
import { configurationSchemaJson } from '#config/schema/json.ts'
import { imageModelsMarkdown } from './image-models.ts'
import { allFaultsMarkdown } from '#core/fault/page.ts'
import { consolePlaces } from './console-places.ts'
import { metricsMarkdown } from './metrics.ts'
import { withAlertKinds } from './alert-kinds.ts'
import { withProviders } from './providers.ts'
import { cliMarkdown } from './cli.ts'
import { TOPICS } from '#cli/commands.ts'
import { chartSchemaJson } from './chart-schema.ts'
import { lowerMass, type Mass } from './mass.ts'
import { controlOpenapi, gatewayOpenapi } from './openapi.ts'
import { schemaMarkdown } from './schema-page.ts'
import { schemaOf } from './schema.ts'

const ROOT = join(import.meta.dirname, '../..')
const SCHEMA = 'server/src/stores/postgres/schema.txt'
const MASS = 'server/test/tidy/mass.json'

/** Each by its name from the root of the repository. */
const FILES: Readonly<Record<string, () => string | Promise<string>>> = {
  'contract/control.openapi.json': controlOpenapi,
  'contract/gateway.openapi.json': gatewayOpenapi,
  'contract/torana.schema.json': configurationSchemaJson,
  'deploy/helm/torana/values.schema.json': () =>
    chartSchemaJson(read('deploy/helm/torana/values.schema.json')),
  'docs/alerts.md': () => withAlertKinds(read('docs/alerts.md')),
  'docs/cli.md': () => cliMarkdown(TOPICS),
  'docs/configuration.md': configurationMarkdown,
  'docs/errors.md': allFaultsMarkdown,
  'docs/figures.json': () => withCounts(read('docs/figures.json')),
  'docs/metrics.md': metricsMarkdown,
  'docs/image-models.md': imageModelsMarkdown,
  'docs/inside/schema.md': schemaMarkdown,
  'docs/upstreams.md': () => withProviders(read('docs/upstreams.md')),
  // After the contracts, whose routes it counts.
  [MASS]: () => lowerMass(existsSync(join(ROOT, MASS)) ? (JSON.parse(read(MASS)) as Mass) : {}),
  [SCHEMA]: () => schemaOf(existsSync(join(ROOT, SCHEMA)) ? read(SCHEMA) : ''),
  'console/src/app/places.ts': () => consolePlaces(join(ROOT, 'console/src/pages')),
}

/** What is wrong, each problem once: files that differ, and mistakes in their sources. */
async function generateFiles(isCheck: boolean): Promise<ReadonlySet<string>> {
  const problems = new Set<string>()
  for (const [name, make] of Object.entries(FILES)) {
    try {
      const text = await make()
      const file = join(ROOT, name)
      if (existsSync(file) && readFileSync(file, 'utf8') === text) continue
      if (isCheck) {
        problems.add(
          `${name} is not what the code generates. Run \`npm run generate\` and look at the difference.`,
        )
        continue
      }
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text)
      process.stdout.write(`wrote ${name}\n`)
    } catch (error) {
      // A mistake of the catalog names its place; of any other error the place is in its stack.
      if (error instanceof ConfigError) error.problems.forEach((problem) => problems.add(problem))
      else problems.add(`${name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
    }
  }
  return problems
}

function read(name: string): string {
  return readFileSync(join(ROOT, name), 'utf8')
}

for (const problem of await generateFiles(process.argv.includes('--check'))) {
  process.stderr.write(`${problem}\n`)
  process.exitCode = 1
}
