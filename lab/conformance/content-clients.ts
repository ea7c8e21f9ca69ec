/** Who asks for vectors of contents. */
import { nodeProgram, openaiClass, pythonProgram, type Program } from './clients.ts'
import type { ContentCase } from './content-rows.ts'

export interface ContentClient extends Program {
  /** Whether its users can write this. */
  asks(asked: ContentCase): boolean
  /**
   * The base URL of its provider's wire below a scenario, for libraries whose routes Torana does not have. They ask the fake provider
   * itself, and show that it speaks as the provider does.
   */
  readonly direct?: string
}

const everything = (): boolean => true

/** Its own types have no list of texts beside contents. */
function isTypedByOpenrouter({ row, fields }: ContentCase): boolean {
  const { input } = fields
  if (row.shape.name !== 'content' || !Array.isArray(input)) return false
  return new Set(input.map((one) => typeof one)).size === 1
}

/** Vectors of one wire, in the shape of its own requests. */
function isOf(wire: string, shape: string): ContentClient['asks'] {
  return ({ row, refusal }) => row.wire.name === wire && row.shape.name === shape && refusal === undefined
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
  {
    ...others,
    name: 'cohere',
    command: pythonProgram('python-contents', 'cohere_contents.py'),
    asks: isOf('cohere', 'inputs-cohere'),
    direct: 'cohere',
  },
  {
    ...others,
    name: 'voyageai',
    command: pythonProgram('python-contents', 'voyage_contents.py'),
    asks: isOf('voyage', 'inputs-voyage'),
    direct: 'voyage/v1',
  },
]

export const quickContentClients: readonly string[] = ['by-hand', 'openai-7']
