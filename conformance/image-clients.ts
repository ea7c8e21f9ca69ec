/** The clients that make pictures, and what each can ask for. */
import type { Program } from './clients.ts'
import { goProgram, nodeProgram, openaiClass, pythonProgram } from './clients.ts'

export interface ImageClient extends Program {
  readonly streams: boolean
  /** Its users can say `response_format`; otherwise it asks for base64 by itself. */
  readonly choosesForm: boolean
  /** It asks for several pictures in as many requests. */
  readonly asksForOne: boolean
  /** What its user catches when a stream ends with an error. */
  readonly streamErrorClass: string
}

const plain = {
  errorClass: openaiClass,
  streams: true,
  choosesForm: true,
  asksForOne: false,
  streamErrorClass: 'APIError',
}

function openaiNode(name: string): ImageClient {
  return { ...plain, name, toolchain: 'node', command: nodeProgram('openai-images.js', name) }
}

export const imageClients: readonly ImageClient[] = [
  { ...openaiNode('openai-4'), streams: false },
  openaiNode('openai-5'),
  openaiNode('openai-6'),
  openaiNode('openai-7'),
  {
    ...plain,
    name: 'ai-sdk',
    toolchain: 'node',
    command: nodeProgram('ai-sdk-images.js'),
    errorClass: () => 'AI_APICallError',
    streams: false,
    choosesForm: false,
    asksForOne: true,
  },
  {
    ...plain,
    name: 'python',
    toolchain: 'python',
    command: pythonProgram('openai_images.py'),
    // Its word for a status that has no class of its own.
    errorClass: (status) => openaiClass(status).replace(/^APIError$/, 'APIStatusError'),
  },
  {
    ...plain,
    name: 'go',
    toolchain: 'go',
    command: goProgram('images'),
    errorClass: () => 'openai.Error',
    streamErrorClass: '*ssestream.StreamError',
  },
]
