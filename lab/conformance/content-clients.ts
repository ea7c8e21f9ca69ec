/** Who asks for vectors of contents. */
import { nodeProgram, openaiClass, pythonProgram, type Program } from './clients.ts'
import type { ContentCase } from './content-rows.ts'

export interface ContentClient extends Program {
  /** Whether its users can write this. */
  asks(asked: ContentCase): boolean
  /** The base URL of its provider's wire below a scenario: it asks the fake provider itself, and shows that it speaks as the provider does. */
  readonly direct?: string
}

const everything = (): boolean => true

/** Its own types have no list of texts beside contents. */
function isTypedByOpenrouter({ row, fields }: ContentCase): boolean {
  const { input } = fields
  if (row.shape.name !== 'content' || !Array.isArray(input)) return false
  return new Set(input.map((one) => typeof one)).size === 1
}

/** Vectors of one wire, in the shape of its own requests, as far as the provider itself makes them: it wants the true format. */
function isOf(wire: string, shape: string): ContentClient['asks'] {
  return ({ name, row, refusal }) =>
    row.name === `${wire}/${shape}` && refusal === undefined && !name.endsWith('/declared-another-format')
}

/**
 * Libraries whose routes Torana does not have: what they send is recorded and posted to `/v1/embeddings`. Beside it, each asks the
 * fake provider.
 */
function recorded(
  name: string,
  file: string,
  direct: Required<Pick<ContentClient, 'direct' | 'asks'>>,
  asks: ContentClient['asks'],
): readonly ContentClient[] {
  return [
    {
      ...others,
      name,
      command: pythonProgram('python-contents', file),
      errorClass: () => 'Refused',
      asks,
    },
    {
      ...others,
      ...direct,
      name: `${name}-direct`,
      command: pythonProgram('python-contents', file, 'direct'),
    },
  ]
}

const openai = { retries: true, errorClass: openaiClass, asks: everything }
const others = { toolchain: 'python-contents', retries: false, errorClass: () => 'Error' } as const

export const contentClients: readonly ContentClient[] = [
  {
    ...openai,
    name: 'by-hand',
    toolchain: 'node',
    command: nodeProgram('raw-contents.js'),
    errorClass: () => 'Error',
  },
  {
    ...openai,
    name: 'openai-7',
    toolchain: 'node',
    command: nodeProgram('openai-contents.js', 'openai-7'),
  },
  {
    ...openai,
    name: 'python',
    toolchain: 'python',
    command: pythonProgram('python', 'openai_contents.py'),
  },
  {
    ...others,
    name: 'openrouter',
    command: pythonProgram('python-contents', 'openrouter_contents.py'),
    // It reads errors whose code is a number, as OpenRouter's are; status, body and code are there all the same.
    errorClass: () => 'ResponseValidationError',
    asks: isTypedByOpenrouter,
  },
  // It always names an input type, which some models refuse.
  ...recorded(
    'cohere',
    'cohere_contents.py',
    { direct: 'cohere', asks: isOf('cohere', 'inputs-cohere') },
    ({ row }) => row.shape.name === 'inputs-cohere' && row.wire.inputType !== undefined,
  ),
  // Its `truncation` goes to OpenAI-compatible upstreams, as all fields do that Torana does not know.
  ...recorded(
    'voyageai',
    'voyage_contents.py',
    { direct: 'voyage/v1', asks: isOf('voyage', 'inputs-voyage') },
    ({ row }) => row.shape.name === 'inputs-voyage' && !('dialect' in row.wire.upstream),
  ),
]

export const quickContentClients: readonly string[] = ['by-hand']
