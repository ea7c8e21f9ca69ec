import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { parseEnv } from 'node:util'
import OpenAI from 'openai'
import { GATEWAY_KEY, gatewayEnvironment } from '../../server/test/support/gateway.ts'
import { runTorana, startTorana, temporaryFolder } from '../../server/test/support/process.ts'
import { startFakeProvider } from '../../lab/fake-provider/server.ts'

const configurations = join(import.meta.dirname, 'configurations')

/** What the operator would set: the values of the secrets file, and a fitting one for each other variable. */
function environmentFor(yaml: string, secrets: string): Record<string, string> {
  const names = [...yaml.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name)
  const fitting = (name: string) =>
    name.endsWith('_API_BASE')
      ? 'https://upstream.example.com/v1'
      : name.endsWith('_DIMENSIONS')
        ? '1024'
        : `${name}-0123456789abcdef`
  return {
    ...Object.fromEntries(names.map((name) => [name, fitting(name)])),
    ...(parseEnv(secrets) as Record<string, string>),
  }
}

/** Runs the command as a user does. */
async function importing(folder: string, config: string): Promise<Record<string, string>> {
  const [output, secretsFile] = [join(folder, 'torana.yaml'), join(folder, '.env')]
  const options = ['--output', output, '--secrets-file', secretsFile]
  const command = runTorana({ folder, args: ['import', 'litellm', join(configurations, config), ...options] })
  assert.deepEqual([await command.exit, command.stdout()], [0, ''], command.stderr())
  const [yaml, secrets] = [readFileSync(output, 'utf8'), readFileSync(secretsFile, 'utf8')]
  assert.equal(statSync(secretsFile).mode & 0o777, 0o600)
  for (const secret of Object.values(parseEnv(secrets)))
    assert.ok(!(yaml + command.stderr()).includes(secret ?? ''))
  return environmentFor(yaml, secrets)
}

const CARRIED: readonly (readonly [string, string])[] = [
  ['platform.yaml', '3 models, 5 deployments, 1 key'],
  ['self-hosted.yaml', '6 models, 7 deployments, 0 keys'],
  ['clouds.yaml', '12 models, 12 deployments, 1 key'],
]
for (const [config, counts] of CARRIED) {
  test(`what is made of ${config} passes the check`, async () => {
    const folder = temporaryFolder()
    const env = await importing(folder, config)
    const check = runTorana({ folder, args: ['check'], env })
    assert.equal(await check.exit, 0, check.stderr())
    assert.ok(check.stdout().startsWith(`torana.yaml: ${counts}.`), check.stdout())
    assert.doesNotMatch(check.stderr(), /no model is deployed on it/)
  })
}

test('after the move, the master key opens every model under its old name, and a made-up key opens none', async () => {
  const provider = await startFakeProvider()
  after(() => provider.close())
  const folder = temporaryFolder()
  const env = await importing(folder, 'gateway.yaml')
  const torana = await startTorana({
    folder,
    env: gatewayEnvironment(folder, { ...env, HOUSE_API_BASE: `${provider.url}/plain/v1` }),
  })

  const statusOf = async (key: string, model: string, path = '/v1/embeddings'): Promise<number> => {
    const answer = await fetch(`${torana.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, input: 'a' }),
    })
    await answer.arrayBuffer()
    return answer.status
  }
  const opened = async (key: string) =>
    Promise.all(['house-w16', 'search-embed', 'other-w16'].map((model) => statusOf(key, model)))

  const masterKey = 'sk-litellm-master-0123456789abcdef'
  assert.deepEqual(await opened(masterKey), [200, 200, 200])
  assert.deepEqual(await opened('sk-nobody-has-this-one-anymore'), [401, 401, 401])
  // LiteLLM's base URL often has no /v1.
  assert.equal(await statusOf(masterKey, 'house-w16', '/embeddings'), 200)

  const client = new OpenAI({ apiKey: masterKey, baseURL: `${torana.url}/v1` })
  const { data } = await client.embeddings.create({ model: 'search-embed', input: ['cat', 'kitten'] })
  assert.deepEqual(
    data.map(({ embedding }) => embedding.length),
    [16, 16],
  )
  assert.equal(await statusOf(GATEWAY_KEY, 'house-w16'), 200)
})
