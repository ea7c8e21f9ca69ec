/** Upstreams from which every client must get the right vectors. */
import { clients, type Client } from './clients.ts'
import {
  answers,
  nativeWidth,
  openaiPlayed,
  ownModel,
  smallModel,
  smallWidth,
  type Case,
  type Row,
} from './rows.ts'

type Capabilities = Readonly<Record<string, unknown>>

function upstream(
  traits: string,
  capabilities: Capabilities = {},
  inputs?: Parameters<typeof answers>[2],
): Row {
  return answers(traits, ownModel(openaiPlayed(traits, capabilities)), inputs)
}

function failover(name: string, traits: string): Row {
  return answers(name, ownModel(openaiPlayed(traits), openaiPlayed('plain')))
}

/** The upstream fails once for each client; the client's own default retries bring it through. */
const recovers: Row = {
  name: 'recovers',
  models: Object.fromEntries(
    clients.map(({ name }) => [`recovers-${name}`, ownModel(openaiPlayed(`fails-first-1+key-${name}`))]),
  ),
  cases: ({ name, retries }) =>
    retries
      ? [
          {
            name: 'recovers',
            model: `recovers-${name}`,
            inputs: 'two',
            retries: true,
            expected: { kind: 'vectors', nativeWidth, width: nativeWidth },
          },
        ]
      : [],
}

/** Beside lists of texts, clients send single texts and token arrays. */
function form(
  name: string,
  model: string,
  asked: Partial<Case>,
  fits: (client: Client) => boolean = anyClient,
): Row {
  const expected = { kind: 'vectors', nativeWidth, width: nativeWidth } as const
  return {
    name,
    models: {},
    cases: (client) => (fits(client) ? [{ inputs: 'few', ...asked, name, model, expected }] : []),
  }
}

const anyClient = (): boolean => true
const takesTokens = (client: Client): boolean => client.takesTokens

export const succeeding: readonly Row[] = [
  upstream('plain'),
  form('single-text', 'plain', { single: true }),
  form('single-text-as-float', 'float-only', { single: true }),
  form('token-arrays', 'plain', { inputs: 'tokens' }, takesTokens),
  form('single-token-array', 'plain', { inputs: 'tokens', single: true }, takesTokens),
  form('token-arrays-as-texts', 'refuses-token-arrays', { inputs: 'tokens' }, takesTokens),
  upstream('float-only', { encodings: ['float'] }),
  upstream('base64-only', { encodings: ['base64'] }),
  // Declared as one that can do both: an upstream need not keep to what it was asked for.
  upstream('ignores-encoding'),
  upstream('refuses-float'),
  upstream('refuses-null'),
  upstream('refuses-encoding', { encodings: ['float'] }),
  upstream('refuses-dimensions', { dimensions: 'none' }),
  upstream('ignores-dimensions', { dimensions: 'none' }),
  upstream('refuses-token-arrays', { tokenArrays: false }),
  upstream('refuses-user', { user: false }),
  upstream('strict-fields'),
  upstream('max-inputs-1', { maxInputs: 1 }),
  upstream('max-inputs-10', { maxInputs: 10 }),
  upstream('max-inputs-32', { maxInputs: 32 }),
  upstream('max-inputs-96', { maxInputs: 96 }),
  answers(
    'max-inputs-2048',
    smallModel(openaiPlayed('max-inputs-2048', { maxInputs: 2048, dimensions: { min: 1, max: smallWidth } })),
    'many',
    smallWidth,
  ),
  upstream('max-tokens-3000', { maxTokens: 3000 }),
  upstream('max-bytes-2000000', { maxBytes: 2_000_000 }, 'heavy'),
  upstream('shuffled'),
  upstream('wide-floats', { encodings: ['float'] }),
  upstream('no-usage'),
  upstream('extra-fields'),
  upstream('slow-200'),
  upstream('chunked-1000'),
  failover('failover-500', 'status-500'),
  failover('failover-429', 'status-429'),
  failover('failover-reset', 'reset'),
  failover('failover-wrong-count', 'wrong-count'),
  recovers,
]
