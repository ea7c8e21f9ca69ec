/** The clients that make pictures, and what each can ask for. */
import {
  goProgram,
  javaClass,
  javaProgram,
  nodeProgram,
  openaiClass,
  python028Class,
  pythonProgram,
  type Program,
} from './clients.ts'

/** Clients and rows of one speciality are for each other alone: forms written by hand, what apps of the DALL·E years say. */
export type Speciality = 'forms' | 'dall-e'

export interface ImageClient extends Program {
  readonly streams: boolean
  /** Its users can say `response_format`; otherwise it asks for base64 by itself. */
  readonly choosesForm: boolean
  /** It asks for several pictures in as many requests. */
  readonly asksForOne: boolean
  /** What its user catches when a stream ends with an error. */
  readonly streamErrorClass: string
  /** In which forms its users can hand it a file; the first is the usual one. */
  readonly givesAs: readonly string[]
  /** Those in which several files come in the order in which they were read, which is any: a fault of its own. */
  readonly shuffles: readonly string[]
  /** Its own retry sends a form whole. */
  readonly resendsForms: boolean
  /** Its users can send JSON to a path by themselves. */
  readonly posts: boolean
  /** Pictures that it can be given for one edit. */
  readonly maxGiven: number
  /** Its users can say `Idempotency-Key`. */
  readonly sendsHeaders: boolean
  readonly speciality?: Speciality
}

const plain = {
  retries: true,
  errorClass: openaiClass,
  streams: true,
  choosesForm: true,
  asksForOne: false,
  streamErrorClass: 'APIError',
  posts: true,
  maxGiven: Infinity,
  sendsHeaders: true,
  shuffles: [],
  resendsForms: true,
}

/** What openai-node calls uploadable. */
const nodeFiles = ['stream', 'named', 'untyped', 'bytes', 'file', 'response']

function openaiNode(name: string): ImageClient {
  const command = nodeProgram('openai-images.js', name)
  const givesAs = [...nodeFiles, 'lazy-stream']
  return { ...plain, name, toolchain: 'node', command, givesAs }
}

export const imageClients: readonly ImageClient[] = [
  {
    ...openaiNode('openai-4'),
    streams: false,
    // An answer that was made, not fetched, breaks it.
    givesAs: ['named', 'untyped', 'bytes', 'file', 'stream'],
    shuffles: ['stream'],
    resendsForms: false,
  },
  {
    ...openaiNode('openai-5'),
    givesAs: ['named', 'untyped', 'bytes', 'file', 'stream', 'response'],
    shuffles: ['stream', 'response'],
  },
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
    givesAs: ['bytes', 'buffer', 'base64', 'data-url'],
    posts: false,
  },
  {
    ...plain,
    name: 'python',
    toolchain: 'python',
    command: pythonProgram('python', 'openai_images.py'),
    // Its word for a status that has no class of its own.
    errorClass: (status) => openaiClass(status).replace(/^APIError$/, 'APIStatusError'),
    givesAs: ['stream', 'path', 'bytes', 'memory', 'named', 'untyped', 'unnamed'],
  },
  {
    ...plain,
    name: 'go',
    toolchain: 'go',
    command: goProgram('images'),
    errorClass: () => 'openai.Error',
    streamErrorClass: '*ssestream.StreamError',
    givesAs: ['stream', 'bytes', 'named', 'unnamed'],
  },
  {
    ...plain,
    name: 'by-hand',
    toolchain: 'node',
    command: nodeProgram('raw-forms.js'),
    errorClass: () => 'Error',
    streams: false,
    givesAs: ['bytes'],
    posts: false,
    speciality: 'forms',
  },
  {
    ...plain,
    name: 'java',
    toolchain: 'java',
    command: javaProgram('images'),
    errorClass: javaClass,
    streamErrorClass: 'SseException',
    givesAs: ['stream', 'path', 'bytes'],
    posts: false,
  },
  {
    ...plain,
    name: 'python-0.28',
    toolchain: 'python-0.28',
    command: pythonProgram('python-0.28', 'openai_0_28_images.py'),
    retries: false,
    errorClass: python028Class,
    streams: false,
    givesAs: ['stream', 'bytes'],
    posts: false,
    maxGiven: 1,
    sendsHeaders: false,
  },
  {
    ...plain,
    name: 'langchain-js',
    toolchain: 'node',
    command: nodeProgram('langchain-images.js'),
    streams: false,
    asksForOne: true,
    givesAs: [],
    posts: false,
    sendsHeaders: false,
    speciality: 'dall-e',
  },
]

/** What runs after a merge: the newest openai-node, and forms written by hand. Nightly runs have them all. */
export const quickImageClients: readonly string[] = ['openai-7', 'by-hand']
