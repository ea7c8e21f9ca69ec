/** What must reach the user of every client as an error of our catalogue: faults of upstreams, and of callers. */
import {
  broken,
  contentRefused,
  failed,
  missing,
  rateLimited,
  refused,
  rejected,
  timedOut,
  unreachable,
} from './expected-errors.ts'
import {
  fails,
  nativeWidth,
  openaiPlayed,
  ownModel,
  smallWidth,
  type Case,
  type ExpectedError,
  type Row,
} from './rows.ts'

function upstream(
  traits: string,
  expected: ExpectedError,
  capabilities?: Readonly<Record<string, unknown>>,
): Row {
  return fails(traits, ownModel(openaiPlayed(traits, capabilities)), expected)
}

export const upstreamFaults: readonly Row[] = [
  upstream('status-400', refused('The scenario answers 400.')),
  upstream('status-401', rejected),
  upstream('status-403', rejected),
  upstream('status-404', missing),
  upstream('status-413', refused('The scenario answers 413.')),
  upstream('status-422', refused('The scenario answers 422.')),
  upstream('status-429', rateLimited('7')),
  upstream('status-500', failed('The scenario answers 500.')),
  upstream('status-503', failed('The scenario answers 503.')),
  upstream('quota', rejected),
  upstream('content-refused', contentRefused),
  upstream('reset', unreachable),
  upstream('serves-then-resets', unreachable),
  upstream('never', timedOut),
  upstream('half-body', broken),
  upstream('half-body-chunked', broken),
  upstream('garbage', broken),
  upstream('html-200', broken),
  upstream('empty-data', broken),
  upstream('wrong-count', broken),
  upstream('duplicate-index', broken),
  upstream('nan', broken),
  upstream('infinite', broken),
  upstream('zero-vector', broken),
  upstream('wrong-width', broken),
  upstream('mixed-width', broken),
  upstream('bad-base64', broken, { encodings: ['base64'] }),
  upstream('status-400+error-detail', refused('The scenario answers 400.')),
  upstream('status-400+error-flat', refused('The scenario answers 400.')),
  upstream('status-400+error-string', refused('The scenario answers 400.')),
  upstream('status-400+error-text', refused('The scenario answers 400.')),
  upstream('status-400+error-html', refused('The scenario answers 400.')),
  upstream('status-400+error-empty', refused('refused the request with 400')),
  upstream('status-500+error-html', failed('The scenario answers 500.')),
  upstream('status-500+error-empty', failed('failed with 500')),
  // It repeats the key it was sent. Whatever an error says, the judge looks for that key in it.
  upstream('leaks-key', refused('Incorrect API key provided')),
]

type Asked = Partial<Omit<Case, 'name' | 'expected'>>

function caller(name: string, faulty: Asked, expected: ExpectedError): Row {
  return {
    name,
    models: {},
    cases: () => [
      { model: 'plain', inputs: 'two', ...faulty, name, expected: { kind: 'error', ...expected } },
    ],
  }
}

export const callerFaults: readonly Row[] = [
  caller(
    'wrong-key',
    { wrongKey: true },
    { status: 401, code: 'invalid_api_key', says: 'No valid key matches' },
  ),
  caller(
    'unknown-model',
    { model: 'plainn' },
    { status: 404, code: 'model_not_found', says: "Did you mean 'plain'?" },
  ),
  {
    ...caller(
      'fixed-width',
      { model: 'fixed-width', dimensions: 256 },
      { status: 400, code: 'unsupported_parameter', says: 'Remove dimensions' },
    ),
    models: {
      'fixed-width': {
        played: [openaiPlayed('plain', { dimensions: 'none' })],
        entry: { kind: 'embedding', embedding: { dimensions: nativeWidth } },
      },
    },
  },
  caller(
    'too-wide',
    { dimensions: nativeWidth + 1 },
    { status: 400, code: 'unsupported_parameter', says: `Send ${nativeWidth} or less` },
  ),
  caller('empty-string', { inputs: 'withEmpty' }, { status: 400, code: 'empty_input', says: 'empty' }),
  {
    name: 'too-many-inputs',
    models: {},
    // Clients that send long lists in several requests never meet this error.
    cases: ({ splits }) => [
      {
        name: 'too-many-inputs',
        model: 'max-inputs-2048',
        inputs: 'tooMany',
        expected: splits
          ? { kind: 'vectors', nativeWidth: smallWidth, width: smallWidth }
          : { kind: 'error', status: 400, code: 'too_many_inputs', says: '2048' },
      },
    ],
  },
]
