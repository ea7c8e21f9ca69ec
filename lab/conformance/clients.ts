/** The OpenAI clients of the matrix: how each is started, and what it does differently from the others. */
import { join } from 'node:path'
import { cacheFolder, sourceFolder } from './folders.ts'

export type Toolchain =
  | 'node'
  | 'python'
  | 'python-0.28'
  | 'python-llama-index'
  | 'python-recipes'
  | 'python-contents'
  | 'go'
  | 'java'

/** A program under `clients/`. */
export interface Program {
  readonly name: string
  readonly toolchain: Toolchain
  readonly command: readonly [string, ...string[]]
  /** By default it asks again when a request has failed. */
  readonly retries: boolean
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
const pythonFolder = join(sourceFolder, 'python')

export function nodeProgram(file: string, ...args: string[]): [string, ...string[]] {
  return [process.execPath, join(nodeFolder, file), ...args]
}

/** In the virtual environment of its toolchain. */
export function pythonProgram(
  toolchain: Extract<Toolchain, `python${string}`>,
  file: string,
  ...args: string[]
): [string, ...string[]] {
  return [join(cacheFolder, toolchain, 'bin', 'python'), join(pythonFolder, file), ...args]
}

export function goProgram(...args: string[]): [string, ...string[]] {
  return [join(cacheFolder, 'go', 'client'), ...args]
}

export function javaProgram(...args: string[]): [string, ...string[]] {
  const target = join(cacheFolder, 'java', 'target')
  return ['java', '-cp', `${join(target, 'classes')}:${join(target, 'dependency', '*')}`, 'Main', ...args]
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

const java: Readonly<Record<number, string>> = {
  400: 'BadRequestException',
  401: 'UnauthorizedException',
  403: 'PermissionDeniedException',
  404: 'NotFoundException',
  422: 'UnprocessableEntityException',
  429: 'RateLimitException',
}

export function javaClass(status: number): string {
  return status >= 500 ? 'InternalServerException' : (java[status] ?? 'UnexpectedStatusCodeException')
}

const python028: Readonly<Record<number, string>> = {
  400: 'InvalidRequestError',
  401: 'AuthenticationError',
  403: 'PermissionError',
  404: 'InvalidRequestError',
  429: 'RateLimitError',
  503: 'ServiceUnavailableError',
}

export function python028Class(status: number): string {
  return python028[status] ?? 'APIError'
}

const plain = {
  retries: true,
  errorClass: openaiClass,
  splits: false,
  takesTokens: true,
  sent: (text: string) => text,
}
/** What both LangChain.js and LlamaIndex do by default, as OpenAI advised for its older models. */
const withoutNewlines = (text: string): string => text.replaceAll('\n', ' ')

function llamaIndex(name: string, className: string): Client {
  const toolchain = 'python-llama-index'
  return {
    ...plain,
    name,
    toolchain,
    command: pythonProgram(toolchain, 'llama_index_client.py', className),
    splits: true,
    takesTokens: false,
    sent: withoutNewlines,
  }
}

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
    sent: withoutNewlines,
  },
  {
    ...plain,
    name: 'python',
    toolchain: 'python',
    command: pythonProgram('python', 'openai_client.py'),
  },
  {
    ...plain,
    name: 'langchain-py',
    toolchain: 'python',
    command: pythonProgram('python', 'langchain_client.py'),
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
  {
    ...plain,
    name: 'java',
    toolchain: 'java',
    command: javaProgram(),
    errorClass: javaClass,
  },
  llamaIndex('llama-index', 'OpenAIEmbedding'),
  llamaIndex('llama-index-like', 'OpenAILikeEmbedding'),
  {
    ...plain,
    name: 'python-0.28',
    toolchain: 'python-0.28',
    command: pythonProgram('python-0.28', 'openai_0_28_client.py'),
    retries: false,
    errorClass: python028Class,
  },
]

/** What runs after a merge: the newest openai-node, and the oldest, which decodes base64 blindly. */
export const quickClients: readonly string[] = ['openai-7']
