/** The OpenAI clients of the matrix: how each is started, and what it does differently from the others. */
import { join } from 'node:path'
import { cacheFolder, sourceFolder } from './folders.ts'

export type Toolchain = 'node' | 'python' | 'go'

/** A program under `clients/`. */
export interface Program {
  readonly name: string
  readonly toolchain: Toolchain
  readonly command: readonly [string, ...string[]]
  /** What its user catches when an answer has this status. */
  errorClass(status: number): string
}

export interface Client extends Program {
  /** It sends long lists in several requests of its own, so that no list is too long for its user. */
  readonly splits: boolean
  /** Its users can send token arrays of their own making. */
  readonly takesTokens: boolean
  /** The text it really sends. */
  sent(text: string): string
}

const nodeFolder = join(cacheFolder, 'node')
const python = join(cacheFolder, 'python', 'bin', 'python')
const pythonFolder = join(sourceFolder, 'python')

export function nodeProgram(file: string, ...args: string[]): [string, ...string[]] {
  return [process.execPath, join(nodeFolder, file), ...args]
}

export function pythonProgram(file: string): [string, ...string[]] {
  return [python, join(pythonFolder, file)]
}

export function goProgram(...args: string[]): [string, ...string[]] {
  return [join(cacheFolder, 'go', 'client'), ...args]
}

/** openai-node and openai-python name their classes alike; both LangChains let them through. */
const classByStatus: Readonly<Record<number, string>> = {
  400: 'BadRequestError',
  401: 'AuthenticationError',
  403: 'PermissionDeniedError',
  404: 'NotFoundError',
  422: 'UnprocessableEntityError',
  429: 'RateLimitError',
}

export function openaiClass(status: number): string {
  return status >= 500 ? 'InternalServerError' : (classByStatus[status] ?? 'APIError')
}

const plain = { errorClass: openaiClass, splits: false, takesTokens: true, sent: (text: string) => text }

function openaiNode(name: string): Client {
  return {
    ...plain,
    name,
    toolchain: 'node',
    command: nodeProgram('openai.js', name),
  }
}

export const clients: readonly Client[] = [
  openaiNode('openai-4'),
  openaiNode('openai-5'),
  openaiNode('openai-6'),
  openaiNode('openai-7'),
  {
    ...plain,
    name: 'ai-sdk',
    toolchain: 'node',
    command: nodeProgram('ai-sdk.js'),
    errorClass: () => 'AI_APICallError',
    splits: true,
    takesTokens: false,
  },
  {
    ...plain,
    name: 'langchain-js',
    toolchain: 'node',
    command: nodeProgram('langchain.js'),
    splits: true,
    takesTokens: false,
    // Its default `stripNewLines`, documented as the better form for older models.
    sent: (text) => text.replaceAll('\n', ' '),
  },
  {
    ...plain,
    name: 'python',
    toolchain: 'python',
    command: pythonProgram('openai_client.py'),
  },
  {
    ...plain,
    name: 'langchain-py',
    toolchain: 'python',
    command: pythonProgram('langchain_client.py'),
    splits: true,
    takesTokens: false,
  },
  {
    ...plain,
    name: 'go',
    toolchain: 'go',
    command: goProgram(),
    errorClass: () => 'openai.Error',
  },
]

/** What CI runs: the newest openai-node, and the oldest, which decodes base64 blindly. */
export const quickClients: readonly string[] = ['openai-7', 'openai-4']
