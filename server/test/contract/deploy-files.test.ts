/** Files of deploy/ against their sources: each number and name in them is decided elsewhere. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { defaultLimits } from '#core/settings.ts'

const ROOT = join(import.meta.dirname, '../../..')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

test('compose starts only with passwords that an operator chose', () => {
  const variables = [...read('deploy/compose/compose.yaml').matchAll(/\$\{(\w+)(:[?-])?/g)]
  const secrets = Map.groupBy(
    variables.filter(([, name = '']) => /PASSWORD|SECRET|^TORANA_KEY$/.test(name)),
    ([, name = '']) => name,
  )
  assert.deepEqual([...secrets.keys()].sort(), [
    'GRAFANA_PASSWORD',
    'POSTGRES_PASSWORD',
    'S3_SECRET_KEY',
    'TORANA_KEY',
    'TORANA_SECRET',
  ])
  const example = read('deploy/compose/example.env')
  for (const [name, uses] of secrets) {
    assert.ok(
      uses.some(([, , operator]) => operator === ':?'),
      `${name} may be empty`,
    )
    assert.match(example, new RegExp(`^${name}=$`, 'm'))
  }
})

test('compose and chart wait for the end of a drain before they kill a node', () => {
  const { services } = parse(read('deploy/compose/compose.yaml')) as {
    readonly services: { readonly torana: { readonly stop_grace_period: string } }
  }
  const drainSeconds = defaultLimits.drainMs / 1000
  assert.ok(Number.parseInt(services.torana.stop_grace_period, 10) >= drainSeconds + 5)
  const { stop } = parse(read('deploy/helm/torana/values.yaml')) as {
    readonly stop: { readonly drainSeconds: number }
  }
  assert.ok(stop.drainSeconds >= drainSeconds)
})

test('the chart asks for the image that the release pushes', () => {
  const { jobs } = parse(read('.github/workflows/image.yml')) as {
    readonly jobs: { readonly image: { readonly env: { readonly IMAGE: string } } }
  }
  const source = /image\.source="https:\/\/github\.com\/([^"]+)"/.exec(read('deploy/docker/Dockerfile'))?.[1]
  const { image } = parse(read('deploy/helm/torana/values.yaml')) as {
    readonly image: { readonly repository: string }
  }
  assert.equal(image.repository, jobs.image.env.IMAGE.replace(/\$\{\{ github\.repository \}\}/, source ?? ''))
})
