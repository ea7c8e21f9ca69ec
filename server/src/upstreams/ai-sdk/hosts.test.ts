/** Which host each provider package calls, asked of the packages themselves. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Upstream } from '#core/catalog/catalog.ts'
import { addressOf, HOST_SETTINGS, hostSettingsOf, type HostSetting } from '#core/catalog/upstream-address.ts'
import { callOf, rows, withUpstream } from '#test/support/ai-sdk-calls.ts'
import { imageCallOf } from '#test/support/ai-sdk-images.ts'
import { imageProviders } from './image-providers.ts'
import { providers } from './providers.ts'
import { settingsOf } from '#core/catalog/stored-upstream.ts'

/** Google's library fetches no token when it is given a client that has one. */
const googleAuthOptions = { authClient: { getAccessToken: async () => ({ token: 'a token' }) } }
const PLAIN: Readonly<Record<string, Upstream['settings']>> = {
  'amazon-bedrock': { region: 'eu-central-1', accessKeyId: 'AKIAFAKE', secretAccessKey: 'secret' },
  'google-vertex': { project: 'a-project', location: 'europe-west4', googleAuthOptions },
}
/** A value that every package passes on. */
const CANARY = 'canary-west7'

const names = [...new Set([...Object.keys(providers), ...Object.keys(imageProviders)])]

/** The hosts that the packages of a provider call with these settings. */
async function hostsOf(provider: string, overrides: Partial<Upstream>, model?: string): Promise<string[]> {
  const called: string[] = []
  const fetch = async (input: string | URL | Request): Promise<Response> => {
    called.push(new URL(input instanceof Request ? input.url : input).host)
    throw new Error('the test ends here')
  }
  const upstream = { baseUrl: undefined, ...overrides }
  for (const row of rows.filter((one) => one.provider === provider)) {
    const call = withUpstream(callOf({ ...row, model: model ?? row.model }, ''), upstream)
    const opened = await providers[provider]?.model(call, fetch)
    if (opened !== undefined) await assert.rejects(async () => opened.doEmbed({ values: ['one text'] }))
  }
  if (Object.hasOwn(imageProviders, provider)) {
    const { deployment } = imageCallOf(provider, model ?? 'flux-kontext', '')
    const moved = { ...deployment, upstream: { ...deployment.upstream, ...upstream } }
    const opened = await imageProviders[provider]?.model(moved, fetch)
    const asked = { prompt: 'a bicycle', n: 1, size: undefined, aspectRatio: undefined, seed: undefined }
    const nothing = { files: undefined, mask: undefined, providerOptions: {} }
    if (opened !== undefined) await assert.rejects(async () => opened.doGenerate({ ...asked, ...nothing }))
  }
  return called
}

/** With a key and, where packages sign or fetch tokens, without. */
function credentialsOf(provider: string): readonly (string | undefined)[] {
  return settingsOf(provider).length > 0 ? ['a-key', undefined] : ['a-key']
}

describe('a credential goes to the host that it is bound to', () => {
  for (const provider of names) {
    it(`${provider}: every setting in the host name of its calls is a host setting with a pattern`, async () => {
      const settings = settingsOf(provider)
      for (const apiKey of credentialsOf(provider)) {
        const plain = PLAIN[provider] ?? {}
        const hosts = await hostsOf(provider, { apiKey, settings: plain })
        assert.ok(hosts.length > 0, 'the package called nothing: the test is blind')
        for (const name of settings) {
          if (name === 'modelFamily' || name === 'googleAuthOptions') continue
          const changed = await hostsOf(provider, { apiKey, settings: { ...plain, [name]: CANARY } })
          const isInHost = changed.some((host) => host.includes(CANARY))
          if (isInHost) assert.ok(Object.hasOwn(hostSettingsOf(provider), name), `settings.${name}`)
          else assert.deepEqual(changed, hosts, `settings.${name} changes the host`)
        }
      }
    })

    it(`${provider}: a model's name does not change the host`, async () => {
      const overrides = { apiKey: 'a-key', settings: PLAIN[provider] ?? {} }
      const hosts = new Set(await hostsOf(provider, overrides))
      for (const model of ['@canary.example/x', '../../canary.example', '//canary.example'])
        assert.deepEqual(new Set(await hostsOf(provider, overrides, model)), hosts, model)
    })
  }

  for (const [provider, settings] of Object.entries(HOST_SETTINGS))
    for (const name of Object.keys(settings))
      it(`${provider}: another ${name} is another address, unless a base URL is the address`, () => {
        const upstream = (value: string, baseUrl?: string): Upstream => ({
          name: 'u',
          dialect: 'ai-sdk',
          provider,
          baseUrl,
          apiKey: undefined,
          apiVersion: undefined,
          headers: {},
          settings: { [name]: value },
        })
        assert.notEqual(addressOf(upstream('one')), addressOf(upstream('another')))
        const url = 'https://proxy.example'
        assert.equal(addressOf(upstream('one', url)), addressOf(upstream('another', url)))
      })
})

describe('a value that fits the pattern of a host setting cannot leave the host of its provider', () => {
  const all = Object.entries(HOST_SETTINGS).flatMap(([provider, settings]) =>
    Object.entries<HostSetting>(settings).map(([name, rule]) => ({ provider, name, rule })),
  )
  const ESCAPES = [
    '',
    'attacker.example',
    'attacker.example/x?',
    'eu-central-1.attacker.example',
    'eu-central-1/',
    'eu-central-1#',
    'eu-central-1\n',
    'user@eu-central-1',
    'eu-central-1:443',
    'eu-central-1%2e',
    'EU-CENTRAL-1',
    'eu-central-1。',
  ]
  for (const { provider, name, rule } of all) {
    it(`${provider}.${name} refuses what ends a host name`, () => {
      for (const value of ESCAPES) assert.doesNotMatch(value, rule.pattern)
    })
    it(`${provider}.${name} takes only what is one part of a host name`, () => {
      fc.assert(
        fc.property(fc.stringMatching(rule.pattern), (value) => {
          assert.equal(new URL(`https://a.${value}.b`).hostname, `a.${value}.b`)
        }),
      )
    })
  }

  const REAL: Readonly<Record<string, readonly string[]>> = {
    'amazon-bedrock': [
      'us-east-1',
      'ap-southeast-4',
      'us-gov-west-1',
      'cn-north-1',
      'us-isob-east-1',
      'eusc-de-east-1',
      'mx-central-1',
    ],
    'google-vertex': [
      'global',
      'eu',
      'us',
      'us-central1',
      'europe-west12',
      'northamerica-northeast1',
      'me-central2',
    ],
  }
  for (const { provider, name, rule } of all)
    it(`${provider}.${name} takes the ones that exist`, () => {
      for (const value of REAL[provider] ?? assert.fail(provider)) assert.match(value, rule.pattern)
    })
})
