/** The kinds of upstream that pictures come from, as an operator would configure them. */
import type { Kind } from './image-rows.ts'
import type { ModelEntry, Played } from './rows.ts'

/** Any field that an upstream does not know is refused by it, so whatever arrives was meant to be sent. */
const strict = 'strict-fields'

type Capabilities = Readonly<Record<string, unknown>>

/** Everything OpenAI itself can do; kinds take away what their upstream can't. */
const openaiCapabilities = {
  maxImages: 10,
  formats: ['png', 'jpeg', 'webp'],
  compression: true,
  forms: ['b64_json'],
  stream: true,
  maxPartialImages: 3,
  user: true,
}

const openaiKind = {
  size: '320x240',
  formats: ['png', 'jpeg', 'webp'],
  maxImages: 10,
  previews: 3,
  form: 'b64_json',
} as const

export function openaiPlayed(traits: string, capabilities: Capabilities = {}): Played {
  return {
    traits,
    wire: 'v1',
    upstream: { dialect: 'openai' },
    deployment: { model: 'gpt-image', capabilities: { ...openaiCapabilities, ...capabilities } },
  }
}

export function imageModel(...played: Played[]): ModelEntry {
  return { played, entry: { kind: 'image' } }
}

export function openaiModel(traits: string, capabilities?: Capabilities): ModelEntry {
  return imageModel(openaiPlayed(traits, capabilities))
}

export const native: Kind = { ...openaiKind, name: 'native', model: openaiModel(strict) }

/** One picture a call, PNG alone, nothing but links. */
export const urlOnly: Kind = {
  name: 'url-only',
  model: openaiModel(`${strict}+url-only`, {
    maxImages: 1,
    formats: ['png'],
    compression: false,
    forms: ['url'],
    stream: false,
    maxPartialImages: 0,
  }),
  size: '320x240',
  formats: ['png'],
  maxImages: 1,
  previews: 0,
  form: 'b64_json',
}

const bothForms: Kind = {
  ...openaiKind,
  name: 'both-forms',
  model: {
    ...openaiModel(`${strict}+both-forms`, {
      forms: ['url', 'b64_json'],
      stream: false,
      maxPartialImages: 0,
    }),
    entry: { kind: 'image', image: { answersWith: 'url' } },
  },
  previews: 0,
  form: 'url',
}

export function azureModel(traits: string, apiVersion: string, capabilities: Capabilities = {}): ModelEntry {
  return imageModel({
    traits,
    wire: 'azure/openai',
    upstream: { dialect: 'azure', apiVersion },
    deployment: { model: 'gpt-image', capabilities: { ...openaiCapabilities, ...capabilities } },
  })
}

export const openaiKinds: readonly Kind[] = [
  native,
  urlOnly,
  bothForms,
  { ...openaiKind, name: 'azure-v1', model: azureModel(strict, 'v1') },
  { ...openaiKind, name: 'azure-dated', model: azureModel(strict, '2025-04-01-preview') },
]

interface Wire extends Pick<Kind, 'size' | 'formats'> {
  readonly wire: string
  readonly provider: string
  /** The built-in model whose facts count. Undefined: there is none, and `declared` says what it is. */
  readonly facts?: string
  readonly declared?: object
  readonly capabilities?: object
  /** What the upstream calls it, when that is another name. */
  readonly model?: string
  readonly maxImages?: number
  /** Its jobs are asked for until they are done. */
  readonly isPolled?: true
}

/** Amazon has shut it down, so the built-in facts no longer know it. Others speak its wire. */
export const novaCanvas = {
  model: 'amazon.nova-canvas-v1:0',
  declared: { kind: 'image', image: { maxPromptCharacters: 1024 }, price: { usdPerImage: 0.06 } },
  capabilities: {
    maxImages: 5,
    sizes: {
      default: '1024x1024',
      multipleOf: 16,
      minPixels: 409_600,
      maxPixels: 4_194_304,
      maxEdge: 4096,
      maxRatio: 4,
    },
    qualities: ['standard', 'premium'],
  },
} as const

/** Where each wire is below a scenario, and who speaks it. */
export const places = {
  google: { wire: 'google/v1beta', provider: 'google' },
  vertex: { wire: 'vertex/v1/publishers/google', provider: 'google-vertex' },
  bedrock: { wire: 'bedrock', provider: 'amazon-bedrock' },
  together: { wire: 'together/v1', provider: 'togetherai' },
  xai: { wire: 'xai/v1', provider: 'xai' },
  fireworks: { wire: 'fireworks/inference/v1', provider: 'fireworks' },
  fal: { wire: 'fal', provider: 'fal' },
  bfl: { wire: 'bfl/v1', provider: 'black-forest-labs' },
  replicate: { wire: 'replicate/v1', provider: 'replicate' },
  luma: { wire: 'luma', provider: 'luma' },
} as const

const gemini = { facts: 'gemini-2.5-flash-image', size: '1344x768' }
const schnell = 'black-forest-labs/FLUX.1-schnell'
const small = { size: '320x240', formats: ['jpeg', 'png'] } as const

const aiSdkWires = {
  google: { ...places.google, ...gemini, formats: ['png'] },
  vertex: { ...places.vertex, ...gemini, formats: ['png', 'jpeg'] },
  bedrock: { ...places.bedrock, ...novaCanvas, size: '640x640', formats: ['png'], maxImages: 5 },
  together: { ...places.together, ...small, facts: schnell },
  xai: { ...places.xai, facts: 'grok-imagine-image', size: '1024x1024', formats: ['jpeg'], maxImages: 3 },
  // Answers with the bytes of the picture and nothing else.
  fireworks: {
    ...places.fireworks,
    ...small,
    facts: 'accounts/fireworks/models/flux-1-schnell-fp8',
    size: '1024x1024',
  },
  fal: { ...places.fal, ...small, facts: schnell, model: 'fal-ai/flux/schnell' },
  'black-forest-labs': { ...places.bfl, ...small, facts: 'flux-pro-1.1', size: '512x384', isPolled: true },
  replicate: {
    ...places.replicate,
    facts: schnell,
    model: 'black-forest-labs/flux-schnell',
    size: '1024x1024',
    formats: ['webp', 'jpeg', 'png'],
    maxImages: 4,
    isPolled: true,
  },
  // What its ratios are in pixels is known only of the one that comes unasked.
  luma: { ...places.luma, ...small, facts: 'photon-1', size: 'auto', isPolled: true },
} as const satisfies Readonly<Record<string, Wire>>

export type WireName = keyof typeof aiSdkWires

export function aiSdkModel(name: WireName, traits: string): ModelEntry {
  const { wire, provider, facts, model = facts, declared, capabilities, isPolled }: Wire = aiSdkWires[name]
  // Asked once in vain, so that it is seen to ask again.
  const waits = isPolled ? '+polls-1' : ''
  return {
    played: [
      { traits: `${traits}${waits}`, wire, upstream: { provider }, deployment: { model, capabilities } },
    ],
    entry: { ...declared, facts },
  }
}

export const aiSdkKinds: readonly Kind[] = (Object.keys(aiSdkWires) as WireName[]).map((name) => {
  const { size, formats, maxImages = 1 }: Wire = aiSdkWires[name]
  return { name, model: aiSdkModel(name, strict), size, formats, maxImages, previews: 0, form: 'b64_json' }
})
