/** Upstreams that speak another wire than OpenAI's. Their facts are those of the built-in catalogue. */
import { broken, failed, rateLimited, refused, rejected, unreachable } from './expected-errors.ts'
import {
  allCapabilities,
  answers,
  fails,
  ownModel,
  type ExpectedError,
  type ModelEntry,
  type Row,
} from './rows.ts'

export function azureModel(traits: string, apiVersion: string): ModelEntry {
  return ownModel({
    traits,
    wire: 'azure/openai',
    upstream: { dialect: 'azure', apiVersion },
    deployment: { capabilities: allCapabilities },
  })
}

interface Wire {
  readonly wire: string
  readonly provider: string
  /** The built-in model whose facts count. */
  readonly facts: string
  /** What the upstream calls it, when that is another name. */
  readonly model?: string
  readonly width: number
}

const bedrock = { wire: 'bedrock', provider: 'amazon-bedrock' }

const aiSdkWires = {
  cohere: { wire: 'cohere/v2', provider: 'cohere', facts: 'embed-v4.0', width: 1536 },
  google: { wire: 'google/v1beta', provider: 'google', facts: 'gemini-embedding-001', width: 3072 },
  vertex: {
    wire: 'vertex/v1/publishers/google',
    provider: 'google-vertex',
    facts: 'text-embedding-005',
    width: 768,
  },
  'bedrock-titan': { ...bedrock, facts: 'amazon.titan-embed-text-v2:0', width: 1024 },
  'bedrock-nova': { ...bedrock, facts: 'amazon.nova-2-multimodal-embeddings-v1:0', width: 1024 },
  'bedrock-cohere': { ...bedrock, facts: 'embed-v4.0', model: 'cohere.embed-v4:0', width: 1536 },
  voyage: { wire: 'voyage/v1', provider: 'voyage', facts: 'voyage-4', width: 1024 },
  mistral: { wire: 'mistral/v1', provider: 'mistral', facts: 'codestral-embed', width: 1536 },
  alibaba: { wire: 'alibaba/api/v1', provider: 'alibaba', facts: 'text-embedding-v4', width: 1024 },
  fireworks: {
    wire: 'fireworks/inference/v1',
    provider: 'fireworks',
    facts: 'nomic-ai/nomic-embed-text-v1.5',
    width: 768,
  },
} satisfies Record<string, Wire>

type WireName = keyof typeof aiSdkWires

function aiSdkModel(name: WireName, traits: string): ModelEntry {
  const { wire, provider, facts, model = facts, width }: Wire = aiSdkWires[name]
  // The fake provider takes the width from the end of the name.
  const deployment = { model: `${model}-w${width}` }
  return { played: [{ traits, wire, upstream: { provider }, deployment }], entry: { facts } }
}

function aiSdkAnswers(name: WireName, traits?: string): Row {
  const model = aiSdkModel(name, traits ?? 'plain')
  return answers(traits === undefined ? name : `${name}+${traits}`, model, 'mixed', aiSdkWires[name].width)
}

function aiSdkFails(name: WireName, traits: string, expected: ExpectedError): Row {
  return fails(`${name}+${traits}`, aiSdkModel(name, traits), expected)
}

export const wires: readonly Row[] = [
  answers('azure-v1', azureModel('plain', 'v1')),
  answers('azure-dated', azureModel('plain', '2024-10-21')),
  ...(Object.keys(aiSdkWires) as WireName[]).map((name) => aiSdkAnswers(name)),
  // The packages take vectors as they come; the index has to be looked at behind their back.
  aiSdkAnswers('voyage', 'shuffled'),
  aiSdkAnswers('mistral', 'shuffled'),
  aiSdkAnswers('alibaba', 'shuffled'),
  aiSdkAnswers('fireworks', 'shuffled'),
]

/** Each kind of fault once, on one wire or another: their translation is common to all. */
export const wireFaults: readonly Row[] = [
  fails('azure+status-401', azureModel('status-401', 'v1'), rejected),
  fails('azure+leaks-key', azureModel('leaks-key', 'v1'), refused('Incorrect API key provided')),
  aiSdkFails('cohere', 'status-400', refused('The scenario answers 400.')),
  aiSdkFails('cohere', 'status-401', rejected),
  aiSdkFails('cohere', 'nan', broken),
  aiSdkFails('cohere', 'empty-data', broken),
  aiSdkFails('google', 'status-403', rejected),
  aiSdkFails('google', 'status-429', rateLimited('7')),
  aiSdkFails('google', 'garbage', broken),
  aiSdkFails('google', 'leaks-key', refused('Incorrect API key provided')),
  aiSdkFails('vertex', 'status-500', failed('The scenario answers 500.')),
  aiSdkFails('vertex', 'half-body', broken),
  aiSdkFails('bedrock-titan', 'status-503', failed('The scenario answers 503.')),
  aiSdkFails('bedrock-nova', 'wrong-width', broken),
  aiSdkFails('bedrock-cohere', 'wrong-count', broken),
  aiSdkFails('voyage', 'wrong-width', broken),
  aiSdkFails('voyage', 'leaks-key', refused('Incorrect API key provided')),
  aiSdkFails('mistral', 'duplicate-index', broken),
  aiSdkFails('mistral', 'html-200', broken),
  aiSdkFails('alibaba', 'duplicate-index', broken),
  aiSdkFails('alibaba', 'zero-vector', broken),
  aiSdkFails('fireworks', 'reset', unreachable),
  aiSdkFails('fireworks', 'infinite', broken),
]
